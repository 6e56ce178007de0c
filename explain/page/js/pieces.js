// SPDX-License-Identifier: Apache-2.0
// What is fed to the engine: the startup frame and FPDUs that one end sent, as captured or as the reader has changed them.

class Piece {
  constructor(row_index) {
    const row = rows()[row_index];
    Object.assign(this, {
      row: row_index,
      words: row.words,
      kind: row.kind,
      original: octets_of(row.octets),
      dropped: false,
      copy: false,
      fed: 0,
      markers: (row.markers ?? []).map((marker) => marker.at),
      place: row.stream_offset ?? 0, // of its first octet, in the captured stream
    });
    this.octets = this.original.slice();
    this.total = this.octets.length; // octets to feed: its Markers may be others than were captured
  }

  // The same piece once more, as it is now.
  again() {
    return Object.assign(new Piece(this.row), {octets: this.octets.slice(), copy: true});
  }

  // Octets that are not as captured.
  changed() {
    const changed = new Set();
    this.octets.forEach((octet, at) => {
      if (octet !== this.original[at]) changed.add(at);
    });
    return changed;
  }

  get edited() {
    return this.octets.some((octet, at) => octet !== this.original[at]);
  }
}

const kCrcSize = 4;
const kMarkerDistance = 512;

// With the right CRC: the last four octets of an FPDU, least significant octet first (MPA-4.4-13). A Marker cannot stand among them:
// FPDUs and the distance of Markers are multiples of four.
function with_crc(octets, crc32c) {
  const whole = Uint8Array.from(octets);
  const covered = whole.length - kCrcSize;
  const crc = crc32c(whole.subarray(0, covered)) >>> 0;
  for (let i = 0; i < kCrcSize; ++i) whole[covered + i] = (crc >>> (8 * i)) & 0xff;
  return whole;
}

// With "repair", a changed FPDU has the right CRC.
function repaired(piece, crc32c) {
  if (piece.kind !== "fpdu" || piece.octets.length < 8 || !piece.edited) return piece.octets;
  return with_crc(piece.octets, crc32c);
}

// The FPDU with its Markers where they belong when it begins at `place` of the stream, counted from the first FPDU on (MPA-4.3-05): they
// are taken out from where they were captured. The CRC is as before.
function with_markers(octets, marker_ats, place) {
  const is_marked = (at) => marker_ats.some((marker) => at >= marker && at < marker + kMarkerSize);
  const bare = octets.filter((_, at) => !is_marked(at));
  const out = [];
  let begin; // of ULPDU_Length
  const mark = () => {
    if ((place + out.length) % kMarkerDistance !== 0) return;
    const pointer = begin === undefined ? 0 : out.length - begin;
    out.push(0, 0, pointer >> 8, pointer & 0xff);
  };
  for (const octet of bare.subarray(0, bare.length - kCrcSize)) {
    mark();
    begin ??= out.length;
    out.push(octet);
  }
  mark();
  return Uint8Array.from([...out, ...bare.subarray(bare.length - kCrcSize)]);
}

// Rows whose octets are not all in the page end the list: the engine could not go on after them.
function pieces_from(end) {
  const pieces = [];
  for (const [index, row] of rows().entries()) {
    if (row.from !== end || (row.kind !== "startup" && row.kind !== "fpdu")) continue;
    if ((row.octets ?? "").length < 2 * (row.size ?? 0)) return {pieces, cut: index};
    pieces.push(new Piece(index));
  }
  return {pieces};
}
