// SPDX-License-Identifier: Apache-2.0
// Eight experiments for the laboratory. Each looks for something in what one end sent, changes it, and says what the engine's answer
// shows. `find` gives {at, until, change} or undefined: the piece to look at, the last one to feed, and what is done to the pieces.

const begins_with = (begin) => (piece) =>
  piece.kind === "fpdu" && piece.words.startsWith(begin) && rows()[piece.row].refused === undefined;
const is_write = (piece) => begins_with("RDMA Write")(piece) && payload_at(piece).length > 0;
const is_read = (piece) => begins_with("RDMA Read Request")(piece) && rows()[piece.row].touches !== undefined;
const is_send = (piece) => begins_with("Send")(piece) || begins_with("Immediate")(piece);

// The octets of a field, most significant first, as indices into the piece.
function octets_of_field(piece, name) {
  const frame = frame_of(rows()[piece.row]);
  const field = frame.fields.find((one) => one.name === name);
  return field
    ? ranges_of_part(frame, field).flatMap(({begin, end}) => Array.from({length: end - begin}, (_, i) => begin + i))
    : [];
}
const payload_at = (piece) => octets_of_field(piece, "payload");
const value_of = (piece, name) => octets_of_field(piece, name).reduce((sum, at) => sum * 256 + piece.octets[at], 0);

function find_change(pieces, is_right, change) {
  const at = pieces.findIndex(is_right);
  return at < 0 ? undefined : {at, until: at, change: () => change(pieces[at])};
}

function find_dropped_send(pieces) {
  const at = pieces.findIndex((piece) => begins_with("Send")(piece) && rows_of_message(piece).length === 1);
  const until = pieces.findIndex((piece, index) => index > at && is_send(piece));
  return at < 0 || until < 0 ? undefined : {at, until, change: () => Object.assign(pieces[at], {dropped: true})};
}

const rows_of_message = (piece) => connection().messages[rows()[piece.row].message]?.rows ?? [];

// A Write with an STag that a later Send revokes, sent once more after that Send.
function find_revoked_write(pieces) {
  for (const [at, send] of pieces.entries()) {
    if (!begins_with("Send")(send) || rows()[send.row].touches?.how !== "invalidate") continue;
    const stag = value_of(send, "Invalidate STag");
    const write = pieces.slice(0, at).find((piece) => is_write(piece) && value_of(piece, "STag") === stag);
    if (write) return {at: at + 1, until: at + 1, change: () => pieces.splice(at + 1, 0, write.again())};
  }
  return undefined;
}

function find_segments(pieces) {
  const at = pieces.findIndex(
    (piece, index) => is_write(piece) && pieces[index + 1] && rows_of_message(piece)[1] === pieces[index + 1].row,
  );
  return at < 0 ? undefined : {at, until: at + 1, change: () => pieces.splice(at, 2, pieces[at + 1], pieces[at])};
}

// Not one that a finding is about: it may be broken already.
function find_marker(pieces) {
  const inner = (piece) => piece.markers.find((marker) => marker > 0);
  return find_change(
    pieces,
    (piece) => begins_with("")(piece) && inner(piece) && !findings_of(rows()[piece.row]).length,
    (piece) => {
      piece.octets[inner(piece) + 3] ^= 4;
    },
  );
}

const kExperiments = [
  {
    title: "Guess an STag",
    lacks: "an RDMA Write with payload",
    predict: "A Write carries an STag that nobody advertised; everything else in it is right. Will a single octet be placed?",
    shows:
      "No: no memory has this STag, so nothing is placed, and a Terminate ends the stream. An STag is a capability: a peer that guesses a valid one can use its rights, so it must be hard to guess.",
    find: (pieces) =>
      find_change(pieces, is_write, (piece) => {
        piece.octets[octets_of_field(piece, "STag").at(-1)] ^= 0x5a;
      }),
  },
  {
    title: "Drop a Send",
    lacks: "two Sends of one end",
    predict: "One Send never arrives. Will the engine deliver the Send after it?",
    shows:
      "No: the MSN counts the messages of a queue, and one number is missing. TCP loses nothing, so a gap is an error, and the stream ends.",
    find: find_dropped_send,
  },
  {
    title: "Flip a bit and leave the CRC wrong",
    lacks: "an FPDU with payload and a CRC",
    predict: "One bit of the payload changes on the way, and the CRC does not. Which layer notices it?",
    shows: "MPA: the CRC does not fit, so DDP and RDMAP see nothing of the FPDU. The wrong bit might have been in the STag.",
    repair: false,
    needs_crc: true,
    find: (pieces) =>
      find_change(
        pieces,
        (piece) => piece.kind === "fpdu" && payload_at(piece).length > 0,
        (piece) => {
          piece.octets[payload_at(piece)[0]] ^= 1;
        },
      ),
  },
  {
    title: "Lie about a length",
    lacks: "an FPDU with payload and a CRC",
    predict: "ULPDU_Length says four octets less than the FPDU has. What does the engine take for the CRC?",
    shows:
      "Four octets of the payload's end. Only ULPDU_Length tells where an FPDU ends, so the CRC is looked for in the wrong place. Without CRCs, the end of this FPDU would be read as the next one.",
    needs_crc: true,
    find: (pieces) =>
      find_change(
        pieces,
        (piece) => piece.kind === "fpdu" && payload_at(piece).length >= 8,
        (piece) => {
          const [high, low] = octets_of_field(piece, "ULPDU_Length");
          const length = piece.octets[high] * 256 + piece.octets[low] - 4;
          piece.octets[high] = length >> 8;
          piece.octets[low] = length & 0xff;
        },
      ),
  },
  {
    title: "Read past the end",
    lacks: "an RDMA Read Request",
    predict: "A Read Request asks for a gigabyte more than the buffer has. How much comes back?",
    shows: "Nothing: the whole request is checked against the bounds of the buffer before the first octet is sent.",
    find: (pieces) =>
      find_change(pieces, is_read, (piece) => {
        piece.octets[octets_of_field(piece, "RDMARDSZ")[0]] |= 0x40;
      }),
  },
  {
    title: "Write to a revoked STag",
    lacks: "a Write to an STag that a Send revokes later",
    predict: "A Write that was accepted comes once more, after a Send with Invalidate took its STag back. Is it accepted again?",
    shows:
      "No: the receiver forgot the STag when it delivered the Send. A late or a malicious Write cannot change the memory any more.",
    find: find_revoked_write,
  },
  {
    title: "Reorder two segments",
    lacks: "an RDMA Write of several segments",
    predict: "Two segments of one Write change places. Where does the payload land?",
    shows:
      "Where it always does. Each tagged segment says by its STag and TO where it belongs, so DDP places it without the others.",
    find: find_segments,
  },
  {
    title: "Break a Marker",
    lacks: "Markers inside an FPDU",
    predict: "A Marker points four octets beside the beginning of its FPDU, and the CRC is right. Does anybody notice?",
    shows:
      "Yes, MPA: it knows where the FPDU began, and the Marker says otherwise. The two ends disagree about the stream, so it ends.",
    find: find_marker,
  },
];

// The end that the engine has to play for it, the one that it plays now before the other; undefined where the capture has nothing for it.
function end_for(experiment) {
  if (experiment.needs_crc && !connection().crc) return undefined;
  const can = (end) => connection().lab?.[end] && experiment.find(pieces_from(other_end(end)).pieces);
  return [lab.end, other_end(lab.end)].find(can);
}
