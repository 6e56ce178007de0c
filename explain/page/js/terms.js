// SPDX-License-Identifier: Apache-2.0
// The words that a newcomer cannot know: hovering one tells what it is, choosing it opens the glossary there.

// term: [what it is, how it stands in sentences, if in other forms than the term]
const kTerms = {
  STag: [
    "Steering Tag: a 32-bit key that names registered memory. Its owner gives it to the peer, and may invalidate it.",
    "STags?",
  ],
  TO: ["Tagged Offset: the position of an octet in the memory that an STag names.", "Tagged Offset|TO"],
  MSN: ["Message Sequence Number: counts the messages of a queue, so that each finds the buffer that was posted for it."],
  MO: ["Message Offset: the place of a segment's payload in its message, in octets."],
  ULPDU: ["Upper Layer Protocol Data Unit: what MPA carries for DDP in one FPDU, that is, a DDP segment.", "ULPDUs?"],
  FPDU: ["Framed Protocol Data Unit: what MPA puts into TCP's stream: a length, a ULPDU, padding and a CRC.", "FPDUs?"],
  EMSS: ["Effective Maximum Segment Size: how many octets TCP sends in one packet of this connection."],
  MULPDU: ["Maximum ULPDU: the largest ULPDU whose FPDU still fits into one TCP packet. DDP cuts messages at it."],
  Marker: ["Four octets at every 512th octet of the stream, which point back to the beginning of the FPDU that contains them.", "Markers?"],
  "Private Data": ["Octets that the two programs exchange while they connect, inside the MPA Request and Reply."],
  "Data Source": ["The end that has the octets of a transfer."],
  "Data Sink": ["The end whose memory takes the octets of a transfer."],
  RNIC: ["RDMA Network Interface Controller: the device, or the software in its place, that runs RDMAP, DDP and MPA."],
  IRD: ["Inbound RDMA Read Queue Depth: how many Read and Atomic Requests of the peer this end serves at a time."],
  ORD: ["Outbound RDMA Read Queue Depth: how many Read and Atomic Requests of its own this end keeps open at a time."],
  place: ["To put octets into the memory where they belong. The program is not told yet.", "placed|places"],
  deliver: [
    "To tell the program that a message is there. All of it and of the messages before it was placed first.",
    "delivered|delivers",
  ],
  advertise: ["To tell the peer the STag, address and length of memory that it may use.", "advertised|advertises"],
  Terminate: ["The message that says what was wrong. It ends the stream."],
};

const kTermPattern = new RegExp(
  `\\b(?:${Object.entries(kTerms)
    .map(([term, [, forms]]) => `(${forms ?? term})`)
    .join("|")})\\b`,
  "g",
);

function term_button(term, words) {
  return button(".term", words, () => show_glossary(term), {title: kTerms[term][0], "aria-haspopup": "dialog"});
}

// The sentence with its terms as buttons, each where it stands first.
function with_terms(sentence) {
  const names = Object.keys(kTerms);
  const seen = new Set();
  const out = [];
  let done = 0;
  for (const match of sentence.matchAll(kTermPattern)) {
    const term = names[match.slice(1).findIndex((group) => group !== undefined)];
    if (seen.has(term)) continue;
    seen.add(term);
    out.push(sentence.slice(done, match.index), term_button(term, match[0]));
    done = match.index + match[0].length;
  }
  return [...out, sentence.slice(done)];
}

function show_glossary(chosen) {
  const lines = Object.entries(kTerms).map(([term, [words]]) => [
    el(`dt${term === chosen ? ".chosen" : ""}`, {}, term),
    el(`dd${term === chosen ? ".chosen" : ""}`, {}, words),
  ]);
  show_dialog("glossary", "Glossary", el("dl.glossary", {}, lines));
  by_id("glossary").querySelector("dt.chosen")?.scrollIntoView({block: "center"});
}
