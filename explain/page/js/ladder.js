// SPDX-License-Identifier: Apache-2.0
// The ladder: the rows of a connection in the order of the capture, as arrows between the two ends.

const kRowHeight = 54;
const kFindingsShown = 200;
let ladder;
let rows_shown = []; // indices of rows; fewer than all while the reader searches

// tcp, startup, gap; of FPDUs what they carry.
function colour_of(row) {
  if (row.kind !== "fpdu") return row.kind;
  if (row.words.startsWith("Terminate")) return "terminate";
  if (/^(RDMA Read|Atomic)/.test(row.words)) return "pull";
  return row.words.startsWith("RDMA Write") ? "write" : "send";
}

function worst_of(findings) {
  return ["violation", "warning", "note"].find((severity) => findings.some((finding) => finding.severity === severity));
}

function row_badges(row) {
  const findings = findings_of(row);
  const bad = row.crc?.verdict === "bad";
  return el(
    "span.badges",
    {},
    bad && el("span.badge.violation", {title: "the CRC is wrong"}, "CRC"),
    findings.length > 0 &&
      el(
        `span.badge.${worst_of(findings)}`,
        {title: findings.map((finding) => finding.message).join("\n")},
        "! ",
        findings.length,
      ),
  );
}

function row_size(row) {
  if (/\d octets?\b/.test(row.words)) return ""; // they say it
  return row.placed ? count(row.placed.octets, "octet") : "";
}

// What it is, and after that what there is to say of it.
function row_words({words}) {
  const [, head, rest] = /^([^,:]+)[,:] (.*)$/s.exec(words) ?? [];
  return head === undefined || words.startsWith("SYN")
    ? upper_first(words)
    : [upper_first(head), " ", el("small.rest", {}, rest)];
}

function draw_row(position) {
  const index = rows_shown[position];
  const row = rows()[index];
  const kin = row.message !== undefined && row.message === row_now()?.message;
  const classes = `from-${row.from ?? "none"}.${colour_of(row)}${kin ? ".kin" : ""}`;
  return el(
    `div.row.${classes}`,
    {title: row.words},
    el("span.when", {}, milliseconds(row.time), el("small", {}, `packet ${row.packet ?? "–"}`)),
    el(
      "span.lane",
      {},
      el(
        "span.words",
        {},
        el("span.unseen", {}, row.from ? `from the ${row.from}: ` : ""),
        row_words(row),
        el("small", {}, row_size(row)),
      ),
      el("span.arrow", {}),
      row_badges(row),
    ),
  );
}

function show_rows(indices) {
  rows_shown = indices;
  ladder.set(indices.length, Math.max(0, indices.indexOf(looking.row)));
}

function follow_row() {
  const position = rows_shown.indexOf(looking.row);
  if (position >= 0) ladder.set(rows_shown.length, position);
  else ladder.show(true);
}

function about_lines() {
  const of = connection();
  const markers = ["initiator", "responder"].filter((end) => of.markers?.[end]);
  return [
    of.revision ? `MPA revision ${of.revision}` : "MPA revision unknown",
    of.crc ? "CRCs in use" : "no CRCs",
    markers.length ? `Markers in what the ${markers.join(" and the ")} sends` : "no Markers",
    count(of.messages?.length ?? 0, "message"),
  ];
}

const findings_count = () => count(connection().findings?.length ?? 0, "finding");

// It leads to the rows; a finding may be about none.
function findings_fact() {
  return connection().findings?.length ? button(".link", findings_count(), show_findings) : findings_count();
}

function show_findings() {
  const line = (finding) => [
    draw_finding(finding),
    finding.row !== undefined && el("p", {}, row_link(finding.row, `Row ${finding.row + 1}: ${rows()[finding.row].words}`)),
  ];
  show_dialog("findings", findings_count(), connection().findings.slice(0, kFindingsShown).map(line));
}

function draw_about() {
  const of = connection();
  const notes = [
    ...(model.notes ?? []),
    ...(of.roles_known === false ? ["No startup frame told which end is the initiator: that is a guess."] : []),
  ];
  by_id("about").replaceChildren(
    el(
      "p.why",
      {},
      button(".link", "What happens here", () => choose_tab("story")),
      " tells it in short. Choose a row, and every octet of it is explained. ",
      button(".link", "How to read this page", show_help),
    ),
    el("p.facts", {}, facts([...about_lines(), findings_fact()])),
    ...notes.map((note) => el("p.note", {}, note)),
  );
  for (const end of ["initiator", "responder"]) {
    by_id(end).replaceChildren(el("b", {}, upper_first(end)), el("code", {}, of[end] ?? "unknown address"));
  }
}

function start_ladder() {
  ladder = new VirtualList(by_id("ladder"), {
    height: kRowHeight,
    name: "row",
    draw: draw_row,
    choose: (position) => choose_row(rows_shown[position]),
    open: (position, by_pointer) => {
      if (narrow.matches) choose_tab("octets");
      if (!by_pointer) pane_of(looking.tab).focus();
    },
  });
  when("connection", () => {
    draw_about();
    show_rows(rows().map((_, index) => index));
  });
  when("row", follow_row);
}
