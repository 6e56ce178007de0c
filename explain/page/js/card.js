// SPDX-License-Identifier: Apache-2.0
// The card of a field: name, what it is for, value, meaning, its bits, where the RFC has it, and the clauses that are about it.

const kLongest = 200;
const shortened = (words) => (words.length > kLongest ? `${words.slice(0, kLongest)} …` : words);

function where_words(field, part) {
  const first = field.at;
  const place = part.lower ? "of the packet" : row_now().kind === "fpdu" ? "of the FPDU" : "of the frame";
  if (field.size === 1) return `octet ${first} ${place}`;
  return `${count(field.size, "octet")}, from octet ${first} ${place} on`;
}

function clause_text(id) {
  const clause = model.clauses?.[id];
  return [
    el("dt", {}, el("code", {}, id), clause && el("small", {}, `RFC ${clause.rfc} section ${clause.section}`)),
    el("dd", {}, clause ? clause.text : "its text is not in this page"),
  ];
}

const draw_clauses = (ids) => (ids.length ? el("dl.clauses", {}, ids.map(clause_text)) : undefined);

function draw_finding(finding) {
  return el(
    `div.finding.${finding.severity}`,
    {},
    el("p", {}, el("b", {}, upper_first(finding.severity)), " ", finding.message),
    el("p.asked", {}, el("code", {}, finding.clause), " asks: ", finding.sentence),
  );
}

function card_octet(part, octet) {
  const value = part.octets?.[octet];
  return value === undefined ? undefined : el("p.card-octet", {}, `Octet ${octet}: `, el("code", {}, octet_words(value)));
}

const is_about = (finding, field) =>
  finding.at !== undefined && finding.at < field.at + Math.max(1, field.size) && field.at < finding.at + (finding.size ?? 1);

// `part` as part_of() gives it.
function draw_card(frame, part, octet, findings) {
  const {field} = part;
  const own = octets_in(part.octets, part.lower ? [{begin: field.at, end: field.at + field.size}] : ranges_of_part(frame, field));
  return [
    el("p.card-layer", {}, el("b", {}, layer_name(field.layer)), " ", kLayers[field.layer]?.words),
    el("h3", {}, field.name),
    field.sentence && el("p.card-about", {}, with_terms(field.sentence)),
    el("p.card-value", {}, el("code", {}, shortened(field.value || hex_text(own)))),
    field.meaning && el("p.card-meaning", {}, upper_first(field.meaning)),
    is_marker(field) && field.points_at && el("p.card-meaning", {}, `It points to ${field.points_at}.`),
    draw_bits(field, own),
    draw_parts(field),
    card_octet(part, octet),
    el("p.card-where", {}, where_words(field, part), field.reference && ` · ${field.reference}`),
    part.lower ? undefined : findings.filter((finding) => is_about(finding, field)).map(draw_finding),
    draw_clauses(field.clauses),
  ];
}
