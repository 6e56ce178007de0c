// SPDX-License-Identifier: Apache-2.0
// All fields of a row as a table, and below it the clauses that they name: for reading, for print, and without colours.

function table_line(field) {
  return el(
    `tr.layer-${field.layer}`,
    {},
    el("td", {}, el("span.chip", {}, layer_name(field.layer))),
    el("td", {}, `+${field.at}`),
    el("th", {scope: "row"}, field.name),
    el("td", {}, el("code", {}, shortened(field.value))),
    el("td", {}, field.meaning),
    el(
      "td",
      {},
      field.reference,
      field.clauses.map((id) => [" ", el("code", {}, id)]),
    ),
  );
}

function draw_field_table(frame) {
  const fields = [...frame.fields, ...frame.markers].sort((a, b) => a.at - b.at);
  const all = [...(frame.lower?.fields ?? []), ...fields];
  const ids = [...new Set(all.flatMap((field) => field.clauses))];
  if (!all.length) return undefined;
  const heads = ["Layer", "Octet", "Field", "Value", "Meaning", "Reference"].map((words) => el("th", {scope: "col"}, words));
  return el(
    "details.all-fields",
    {},
    el("summary", {}, `All ${count(all.length, "field")} as a table`),
    el(
      "div.table-box",
      {tabindex: 0, role: "group", "aria-label": "Table of fields"},
      el("table", {}, el("thead", {}, el("tr", {}, heads)), el("tbody", {}, all.map(table_line))),
    ),
    draw_clauses(ids),
  );
}
