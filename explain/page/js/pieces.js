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
    });
    this.octets = this.original.slice();
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

// With "repair CRC": the last four octets of a changed FPDU, least significant octet first (MPA-4.4-13). A Marker cannot stand among
// them: FPDUs and the distance of Markers are multiples of four.
function repaired(piece, crc32c) {
  if (piece.kind !== "fpdu" || piece.octets.length < 8 || !piece.edited) return piece.octets;
  const octets = piece.octets.slice();
  const crc = crc32c(octets.subarray(0, octets.length - 4)) >>> 0;
  for (let i = 0; i < 4; ++i) octets[octets.length - 4 + i] = (crc >>> (8 * i)) & 0xff;
  return octets;
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
