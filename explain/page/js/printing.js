// SPDX-License-Identifier: Apache-2.0
// On paper: the ladder as a table, around the chosen row, in front of the view that is on the screen.

const kPrintedRows = 250;

function printed_line(index) {
  const row = rows()[index];
  return el(
    `tr${index === looking.row ? ".chosen" : ""}`,
    {},
    el("td", {}, milliseconds(row.time)),
    el("td", {}, `${row.packet ?? ""}`),
    el("td", {}, row.from === "responder" ? "←" : row.from ? "→" : ""),
    el("td", {}, row.words),
    el(
      "td",
      {},
      findings_of(row)
        .map((finding) => finding.message)
        .join(" "),
    ),
  );
}

function draw_print() {
  if (!row_now()) return;
  const first = clamp(looking.row - kPrintedRows / 2, 0, Math.max(0, rows().length - kPrintedRows));
  const shown = Array.from({length: Math.min(kPrintedRows, rows().length)}, (_, i) => first + i);
  const heads = ["Time", "Packet", "", "Row", "Findings"].map((words) => el("th", {scope: "col"}, words));
  const of = connection();
  by_id("print").replaceChildren(
    el(
      "p",
      {},
      `${model.source ?? ""}: initiator ${of.initiator} (→), responder ${of.responder} (←). ${[...about_lines(), findings_count()].join(", ")}.`,
    ),
    el("table", {}, el("thead", {}, el("tr", {}, heads)), el("tbody", {}, shown.map(printed_line))),
    shown.length < rows().length ? el("p", {}, `${rows().length - shown.length} of ${rows().length} rows left out.`) : "",
  );
  document.querySelectorAll("details").forEach((node) => {
    node.dataset.was = node.open;
    node.open = true;
  });
}

function undraw_print() {
  by_id("print").replaceChildren();
  document.querySelectorAll("details[data-was]").forEach((node) => {
    node.open = node.dataset.was === "true";
    delete node.dataset.was;
  });
}

function start_printing() {
  window.addEventListener("beforeprint", draw_print);
  window.addEventListener("afterprint", undraw_print);
}
