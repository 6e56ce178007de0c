// SPDX-License-Identifier: Apache-2.0
// The keys, and the help that lists them. They work wherever no text is typed.

function step_row(step) {
  const at = rows_shown.indexOf(looking.row);
  const next = rows_shown[at < 0 ? 0 : clamp(at + step, 0, rows_shown.length - 1)];
  if (next !== undefined) choose_row(next);
}

function step_segment(step) {
  const own = connection().messages?.[row_now().message]?.rows ?? [];
  const next = own[own.indexOf(looking.row) + step];
  if (next !== undefined) choose_row(next);
}

function next_finding() {
  const all = rows();
  for (let i = 1; i <= all.length; ++i) {
    const index = (looking.row + i) % all.length;
    if (all[index].findings?.length) return choose_row(index);
  }
}

const kHowToRead =
  "The ladder shows a connection from SYN to FIN, in the order of the capture. Choose a row: its octets are explained field by field, coloured by layer. Memory shows where they land. The Laboratory lets the engine of weft read them again, changed as you like.";

function show_help() {
  const lines = [...kKeys, ...kOtherKeys].map(([key, words]) =>
    el("tr", {}, el("th", {scope: "row"}, el("kbd", {}, key)), el("td", {}, words)),
  );
  show_dialog("help", "How to read this page", [
    el("p", {}, kHowToRead),
    draw_layers_help(),
    el("h3", {}, "Keys"),
    el("table.keys", {}, el("tbody", {}, lines)),
  ]);
}

const kKeys = [
  ["j", "next row", () => step_row(1)],
  ["k", "row before", () => step_row(-1)],
  ["l", "next segment of this message", () => step_segment(1)],
  ["h", "segment before", () => step_segment(-1)],
  ["f", "next row with a finding", next_finding],
  ["0", "story", () => choose_tab("story")],
  ["1", "octets", () => choose_tab("octets")],
  ["2", "memory", () => choose_tab("memory")],
  ["3", "laboratory", () => choose_tab("laboratory")],
  [
    "/",
    "find",
    () => {
      choose_tab("ladder");
      by_id("find").focus();
    },
  ],
  ["g", "glossary", () => show_glossary()],
  ["c", "copy the link to this row and view", copy_link],
  ["t", "light, dark, or as the system", next_theme],
  ["o", "laboratory: feed one octet", () => lab_key("octet")],
  ["p", "laboratory: feed one FPDU", () => lab_key("piece")],
  ["a", "laboratory: feed all", () => lab_key("all")],
  ["b", "laboratory: begin again", () => lab_key("again")],
  ["?", "this help", () => show_help()],
];
const kOtherKeys = [
  ["↑ ↓ Page Home End", "in the ladder: choose a row; Enter goes on to its octets"],
  ["← →", "in the octets: from field to field; in the laboratory's octet: to the next one"],
  ["Esc", "close this help; in the search: all rows again"],
  ["Alt ← →", "back to the row and view before, and forward again"],
];

function lab_key(name) {
  if (looking.tab === "laboratory") act(name);
}

const is_typing = (node) => node.matches?.("textarea, select, input:not([type=checkbox]):not([type=radio])");

function on_key(event) {
  if (
    event.ctrlKey ||
    event.altKey ||
    event.metaKey ||
    is_typing(event.target) ||
    document.querySelector("dialog[open]") ||
    !row_now()
  )
    return;
  const [, , action] = kKeys.find(([key]) => key === event.key) ?? [];
  if (!action) return;
  event.preventDefault();
  action();
}

function draw_layers_help() {
  const shown = Object.entries(kLayers).map(([layer, {name, words}]) =>
    el("li", {}, el(`span.chip.layer-${layer}`, {}, name), ` ${words}`),
  );
  return el(
    "ul.layers",
    {},
    shown,
    el(
      "li",
      {},
      el("span.chip.layer-marker", {}, "Marker"),
      " interrupts whatever stands there, every 512 octets of the stream, and points back to where its FPDU began",
    ),
  );
}

function start_keys() {
  by_id("show-help").addEventListener("click", show_help);
  document.addEventListener("keydown", on_key);
}
