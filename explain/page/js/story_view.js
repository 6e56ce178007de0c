// SPDX-License-Identifier: Apache-2.0
// The story of a connection, for a reader who knows nothing of RDMA: what it is, who takes part, and chapters that lead to the rows.

const kRowsNamed = 8;

// A row belongs to the first chapter that takes it. `verb` is for the sentence that lists them.
const kChapters = [
  {
    name: "refuse",
    verb: "refuse what is not allowed",
    title: "Refuse",
    words:
      "The receiver checks every access. It places nothing of what is not allowed, and says why in a Terminate, which ends the stream.",
    takes: (row) => row.refused !== undefined || row.words.startsWith("Terminate"),
  },
  {
    name: "missing",
    verb: "send what could not be read",
    title: "Not read",
    words: "Some octets were not captured, or could not be read as FPDUs. Nothing is made up in their place.",
    takes: (row) => row.kind === "gap" || row.crc?.verdict === "bad",
  },
  {
    name: "connect",
    verb: "connect",
    title: "Connect",
    words:
      "TCP opens the connection. Then an MPA Request and an MPA Reply agree on CRCs, Markers, and how many Reads may be outstanding.",
    takes: (row) => row.kind === "startup" || row.words.startsWith("SYN"),
  },
  {
    name: "write",
    verb: "write",
    title: "Write",
    words:
      "An RDMA Write puts octets straight into the peer's memory. Its STag names the memory, and its TO the place in it. The peer's program is not told.",
    takes: (row) => row.words.startsWith("RDMA Write"),
  },
  {
    name: "revoke",
    verb: "revoke an STag",
    title: "Revoke",
    words: "A Send with Invalidate takes an STag back. After it, the receiver refuses every access with that STag.",
    takes: (row) => row.touches?.how === "invalidate" || /^Send .*Invalidate/.test(row.words),
  },
  {
    name: "send",
    verb: "send",
    title: "Send",
    words:
      "A Send goes into the oldest receive that the peer has posted. It is delivered: the peer's program learns that it is there. Immediate Data are eight octets that travel like a Send.",
    takes: (row) => /^(Send|Immediate)/.test(row.words),
  },
  {
    name: "read",
    verb: "read",
    title: "Read",
    words:
      "An RDMA Read Request asks for octets of the peer's memory, and an RDMA Read Response brings them. The peer's program takes no part.",
    takes: (row) => row.words.startsWith("RDMA Read"),
  },
  {
    name: "atomics",
    verb: "use atomic operations",
    title: "Atomic operations",
    words:
      "An Atomic Request changes eight octets of the peer's memory in one step: FetchAdd adds to them, CmpSwap exchanges them. The Atomic Response brings what they were before.",
    takes: (row) => row.words.startsWith("Atomic"),
  },
  {
    name: "close",
    verb: "close",
    title: "Close",
    words: "Each end closes its direction of the TCP connection with a FIN. A RST gives up both directions at once.",
    takes: (row) => row.kind === "tcp",
  },
];
const kOrder = ["connect", "write", "send", "read", "atomics", "revoke", "missing", "refuse", "close"];
const kRdma =
  "With RDMA, a program writes to the memory of a program on another host, or reads from it. The program there takes no part. An RDMA adapter also moves the octets without the processor; software cannot.";

// Of a row without a message, so that rows of one kind stand in one line: "FPDU with a wrong CRC".
const kind_of = (row) =>
  row.words
    .replace(/[:,] .*$/s, "")
    .replace(/\b\d+ ?/g, "")
    .trim();

// By name of the chapter: what its rows are, each with the numbers of the rows where it begins.
function chapters_now() {
  const chapters = new Map(kOrder.map((name) => [name, new Map()]));
  for (const [index, row] of rows().entries()) {
    const chapter = kChapters.find(({takes}) => takes(row));
    if (!chapter || (row.message !== undefined && connection().messages[row.message].rows[0] !== index)) continue;
    const what = connection().messages[row.message]?.what ?? kind_of(row);
    const named = chapters.get(chapter.name);
    if (!named.has(what)) named.set(what, []);
    named.get(what).push(index);
  }
  return kOrder
    .filter((name) => chapters.get(name).size)
    .map((name) => [kChapters.find((one) => one.name === name), chapters.get(name)]);
}

function row_numbers([what, indices]) {
  const shown = indices.slice(0, kRowsNamed).map((index) => [" ", row_link(index, `${index + 1}`)]);
  const more = indices.length - shown.length;
  return el(
    "li",
    {},
    `${upper_first(what)}: ${indices.length === 1 ? "row" : "rows"}`,
    shown,
    more > 0 && ` and ${more.toLocaleString("en")} more`,
  );
}

function draw_chapter([{title, words}, named]) {
  return el(
    "section.chapter",
    {},
    el("h3", {}, title),
    el("p.lesson", {}, with_terms(words)),
    el("ul.chapter-rows", {}, [...named].map(row_numbers)),
  );
}

const listed = (words) => (words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`);

function draw_way() {
  const layers = Object.values(kLayers)
    .reverse()
    .map(({name, words}) => el("li", {}, el("b", {}, name), ` ${words}.`));
  return [
    el("h3", {}, "The path of a message"),
    el(
      "p.lesson",
      {},
      "At the sender a message goes down through these layers, and at the receiver up again. Each puts its header in front:",
    ),
    el("ul.way", {}, layers),
  ];
}

function draw_story() {
  if (looking.tab !== "story" || !row_now()) return;
  const of = connection();
  const chapters = chapters_now();
  const does = listed(chapters.map(([{verb}]) => verb));
  const ends = `The initiator, ${of.initiator}, has opened this connection to the responder, ${of.responder}.`;
  pane_of("story").replaceChildren(
    el(
      "header.pane-head",
      {},
      el("h2", {}, "What happens here"),
      el("p.lesson", {}, kRdma),
      el("p.lesson", {}, ends),
      el("p.lesson", {}, `In ${count(rows().length, "row")} the two ends ${does}. Each number below leads to a row.`),
    ),
    ...chapters.map(draw_chapter),
    ...draw_way(),
    el(
      "p.why",
      {},
      button(".link", "Glossary", () => show_glossary()),
    ),
  );
}

function start_story() {
  when("tab connection", draw_story);
}
