// SPDX-License-Identifier: Apache-2.0
// The model that the page was given, and what the reader looks at. Names and strings are interned in it; here they are put back.

const model = read_model();

// The choices of the reader. Those who draw are told of a change by its name: "connection", "row", "field", "tab".
const looking = {connection: 0, row: 0, field: -1, octet: -1, tab: "story"};
const listeners = [];
const when = (names, listener) => listeners.push([names.split(" "), listener]);
const tell = (name) => listeners.filter(([names]) => names.includes(name)).forEach(([, listener]) => listener());

function read_model() {
  try {
    const text = by_id("model").textContent;
    return {connections: [], notes: [], clauses: {}, names: [], strings: [], packets: [], ...JSON.parse(text)};
  } catch (fault) {
    return {connections: [], notes: [`The page's model cannot be read: ${fault.message}`], clauses: {}};
  }
}

const connection = () => model.connections[looking.connection];
const rows = () => connection()?.rows ?? [];
const row_now = () => rows()[looking.row];
const other_end = (end) => (end === "initiator" ? "responder" : "initiator");

function choose_row(index) {
  if (index < 0 || index >= rows().length) return;
  document.querySelector("dialog[open]")?.close();
  if (looking.tab === "story") choose_tab("octets");
  if (index === looking.row) return;
  Object.assign(looking, {row: index, field: -1, octet: -1});
  tell("row");
}

function choose_field(index, octet) {
  Object.assign(looking, {field: index, octet: octet ?? -1});
  tell("field");
}

function choose_connection(index) {
  Object.assign(looking, {connection: index, row: first_row(model.connections[index]), field: -1, octet: -1});
  tell("connection");
  tell("row");
}

// The reader begins where iWARP does.
function first_row(of) {
  return Math.max(
    0,
    of.rows.findIndex((row) => row.kind === "startup"),
  );
}

function octets_of(hex) {
  const octets = new Uint8Array((hex ?? "").length >> 1);
  for (let i = 0; i < octets.length; ++i) octets[i] = parseInt(hex.substr(2 * i, 2), 16);
  return octets;
}

const hex2 = (octet) => octet.toString(16).padStart(2, "0");
const hex_text = (octets) => Array.from(octets, hex2).join(" ");

// {at, size, layer, name, clauses, reference, sentence, value, meaning, parts}: parts are bits of it.
function fields_of(entries) {
  const fields = [];
  for (const [at, size, name, value, meaning] of entries ?? []) {
    const [layer, words, clauses, reference, sentence] = model.names[name];
    const field = {
      at,
      size,
      layer,
      name: words,
      clauses: clauses ?? [],
      reference: reference ?? "",
      sentence: sentence ?? "",
      parts: [],
      value: model.strings[value] ?? "",
      meaning: meaning === undefined ? "" : model.strings[meaning],
    };
    if (size === 0 && fields.length) fields.at(-1).parts.push(field);
    else fields.push(field);
  }
  return fields;
}

// Markers stand among the fields, but they interrupt them: they are told apart.
const is_marker = (field) => field.layer === "mpa" && field.name === "Marker";

function markers_of(row, fields) {
  const pointers = new Map((row.markers ?? []).map((marker) => [marker.at, marker]));
  return fields.filter(is_marker).map((field) => ({...field, ...pointers.get(field.at)}));
}

// The row as the views draw it: its own octets and fields, and those of the packet that it begins in.
function frame_of(row) {
  const all = fields_of(row.fields);
  const packet = row.lower === undefined ? undefined : model.packets[row.lower];
  return {
    octets: octets_of(row.octets),
    size: row.size ?? 0,
    markers: markers_of(row, all),
    fields: all.filter((field) => !is_marker(field)),
    lower: packet && {number: packet.number, octets: octets_of(packet.octets), fields: fields_of(packet.fields)},
  };
}

const findings_of = (row) => (row.findings ?? []).map((index) => connection().findings[index]).filter(Boolean);
const state_at = (index) => (index === undefined ? undefined : connection().states?.[index]);

function milliseconds(seconds) {
  return `${((seconds ?? 0) * 1000).toLocaleString("en", {minimumFractionDigits: 3, maximumFractionDigits: 3})} ms`;
}
