// SPDX-License-Identifier: Apache-2.0
// What a row is for, in a few sentences. Chosen by how its words begin; the longer beginnings stand first.

const kLessons = [
  [
    "SYN, ACK",
    "The responder accepts the TCP connection. Nothing of iWARP has been said yet: iWARP runs over an ordinary TCP connection.",
  ],
  ["SYN", "A TCP connection is opened. The end that sends the MPA Request over it will be called the initiator."],
  [
    "FIN",
    "This end sends nothing more. If all requests have been answered, this is how a connection ends; RDMAP sends no message for it.",
  ],
  ["RST", "This end aborts the TCP connection. Everything that was in transit is lost."],
  [
    "MPA Request",
    "The initiator asks to leave the stream of octets and to go over to FPDUs. The Flags say whether it wants Markers in what it receives, and CRCs. The Private Data belong to the application: iWARP only carries them.",
  ],
  [
    "MPA Reply",
    "The responder agrees, or refuses with the R flag. CRCs are used if either end wants them. An end sends Markers if the other end requests them. From here on, the stream is FPDUs only.",
  ],
  [
    "RDMA Write",
    "The Data Source writes into memory that its peer has advertised. The STag names the buffer, and the Tagged Offset the place in it. Each segment says for itself where it belongs, so it can be placed as soon as it is there. The application at the Data Sink is not told: a Write is placed, but it completes nothing there.",
  ],
  [
    "RDMA Read Request",
    "The Data Sink asks for octets of its peer's memory. The request names both ends of the copy: where the octets come from (SrcSTag, SrcTO) and where they shall go (SinkSTag, SinkTO). The peer's RNIC answers it; the peer's application does nothing.",
  ],
  [
    "RDMA Read Response",
    "The answer to a Read Request: a tagged message into the buffer that the request named as its sink. Nothing in it says which request it answers: responses come in the order of the requests.",
  ],
  [
    "Send with Solicited Event and Invalidate",
    "A Send that also takes an STag back: after it has been delivered, the STag in its header is no longer valid at the receiver. The solicited event wakes a receiver that sleeps until one comes.",
  ],
  [
    "Send with Invalidate",
    "A Send that also takes an STag back: after it has been delivered, the STag in its header is no longer valid at the receiver. An application sends it to say: I am done with your buffer.",
  ],
  [
    "Send with Solicited Event",
    "A Send that wakes a receiver which sleeps until a solicited event comes. On the wire only the opcode differs from that of a Send.",
  ],
  [
    "Send",
    "The octets go into the receive that the peer posted first. The sender does not know where that is: MSN counts the messages of the queue, and MO says where in the message this segment begins. When the last segment is there, the message is delivered and the receive completes.",
  ],
  [
    "Immediate Data",
    "Eight octets that are delivered to the peer like a Send. Often they follow an RDMA Write, to tell the application that it is there (RFC 7306).",
  ],
  [
    "Atomic Request",
    "Asks the peer's RNIC to change 64 bits of its memory in one step (RFC 7306). FetchAdd adds to them; CmpSwap exchanges them if they are as expected. The answer brings what they were before.",
  ],
  [
    "Atomic Response",
    "What the 64 bits were before the atomic operation changed them. The Request Identifier says which request this answers.",
  ],
  [
    "Terminate",
    "Something was wrong, and this end says what. It names the layer, the type and the code of the error, and quotes the header of the segment that caused it. It is the last message of its sender; the connection ends after it.",
  ],
];

const kFinAfterTerminate =
  "This end sends nothing more, because a Terminate ended the stream: this is no orderly close. Requests that have no answer yet never get one.";
const kWrongCrc =
  "The CRC does not fit the octets, so nothing above MPA may look at this FPDU. The wrong bit may be anywhere, in the STag as well as in the payload. A receiver places nothing of it, and ends the connection with a Terminate.";
const kNoHeader =
  "MPA delivers these octets, and DDP cannot read a header in them. A receiver places nothing, and ends the connection with a Terminate.";
const kNoOpcode = "No operation has this opcode. A receiver ends the connection with a Terminate.";
const kAgain = "From here on FPDUs were found again: their lengths lead from one to the next, and their CRCs or headers fit.";
const kGap =
  "Here the capture does not show all octets, or they could not be read as FPDUs. What follows is shown as far as FPDUs were found again; nothing is made up.";
const kMore = {
  first: "The message is longer than one segment can be, so DDP cuts it. The Last flag is not set yet.",
  middle: "One of several segments of its message. DDP needs nothing from the others to place it.",
  last: "The Last flag is set: with this segment the message is complete.",
};

const terminated_before = (index) =>
  rows()
    .slice(0, index)
    .some((row) => row.words.startsWith("Terminate"));

function lesson_of(row) {
  if (row.kind === "gap") return row.words.startsWith("FPDUs again") ? kAgain : kGap;
  if (row.crc?.verdict === "bad") return kWrongCrc;
  if (row.words.startsWith("FPDU ")) return kNoHeader;
  if (row.words.startsWith("opcode ")) return kNoOpcode;
  if (row.words.startsWith("FIN") && terminated_before(looking.row)) return kFinAfterTerminate;
  return kLessons.find(([begin]) => row.words.startsWith(begin))?.[1] ?? "";
}

// Where the row stands in its message, when that has several segments.
function segment_lesson(row) {
  const message = connection().messages?.[row.message];
  if (!message || message.rows.length < 2) return "";
  const at = message.rows.indexOf(looking.row);
  return at === message.rows.length - 1 ? kMore.last : at === 0 ? kMore.first : kMore.middle;
}
