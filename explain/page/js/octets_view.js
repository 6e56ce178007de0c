// SPDX-License-Identifier: Apache-2.0
// The octets of the chosen row, and the card of the chosen field.

const kFieldHint = "Choose a field, or an octet of it: its card says what it is for.";
let frame_now;
let more_octets = {};
let lower_open = false;

function ends_words(row) {
  if (!row.from) return "";
  return `${upper_first(row.from)} → ${other_end(row.from)}`;
}

function row_facts(row) {
  return [
    ends_words(row),
    row.packet !== undefined && `packet ${row.packet}, ${milliseconds(row.time)}`,
    row.number && `FPDU ${row.number} of its direction`,
    row.size && count(row.size, "octet"),
    row.stream_offset !== undefined && `from octet ${row.stream_offset} of the stream on`,
  ].filter(Boolean);
}

const row_link = (index, words) => button(".link", words, () => choose_row(index));

// To the rows that belong with this one.
function row_links(row) {
  const {messages} = connection();
  const own = messages?.[row.message];
  const links = [];
  const at = own?.rows.indexOf(looking.row) ?? -1;
  if (at > 0) links.push(row_link(own.rows[at - 1], "← segment before"));
  if (own && at < own.rows.length - 1) links.push(row_link(own.rows[at + 1], "next segment →"));
  if (own?.answers !== undefined)
    links.push(row_link(messages[own.answers].rows[0], `answers the ${messages[own.answers].what}`));
  const answer = own && messages.findIndex((message) => message.answers === row.message);
  if (answer >= 0) links.push(row_link(messages[answer].rows[0], `answered by the ${messages[answer].what}`));
  if (row.refused !== undefined) links.push(row_link(row.refused, "refused by this Terminate"));
  return links.length ? el("p.links", {}, links) : undefined;
}

function draw_head(row) {
  return el(
    "header.pane-head",
    {},
    el("h2", {}, row_words(row)),
    el("p.facts", {}, facts(row_facts(row))),
    row_links(row),
    el("p.lesson", {}, with_terms(`${lesson_of(row)} ${segment_lesson(row)}`)),
    findings_of(row).map(draw_finding),
  );
}

function fold_button() {
  return button(
    ".quiet.fold",
    lower_open ? "Fold Ethernet, IP and TCP" : "Unfold Ethernet, IP and TCP",
    () => {
      lower_open = !lower_open;
      draw_octets();
      document.querySelector("#octets-pane .fold")?.focus();
    },
    {"aria-expanded": lower_open},
  );
}

function wrong_octets(row) {
  const places = findings_of(row).filter((finding) => finding.at !== undefined);
  return (begin, end) => places.some(({at, size}) => at < end && begin < at + (size ?? 1));
}

// The field that a finding is about, or the first that is iWARP's own, so that there is something to read.
function first_part(frame, findings) {
  const wrong = frame.fields.findIndex((field) => findings.some((finding) => is_about(finding, field)));
  if (wrong >= 0) return String(wrong);
  return frame.fields.length ? "0" : frame.lower?.fields.length ? "lower-0" : "";
}

function draw_frame_boxes(row) {
  const folded = !lower_open && frame_now.fields.length > 0;
  const root = draw_boxes(frame_now, {folded, more: more_octets, wrong: wrong_octets(row)});
  walk_blocks(root, choose_field);
  preview_fields(root);
  root.addEventListener("click", (event) => {
    const index = event.target.dataset?.more;
    if (index === undefined) return;
    more_octets[index] = (more_octets[index] ?? 0) + kShownMore;
    draw_octets();
    document.querySelector(`#octets-pane [data-part="${index}"]`)?.focus();
  });
  keep_pointers(root);
  return root;
}

function draw_octets() {
  const row = row_now();
  if (!row || looking.tab !== "octets") return;
  frame_now = frame_of(row);
  const parts = [draw_head(row)];
  if (frame_now.fields.length || frame_now.lower) {
    parts.push(
      el(
        "div.octets-and-card",
        {},
        el(
          "div",
          {},
          el(
            "div.boxes-head",
            {},
            el("h3", {}, "Octets"),
            el("p.why.hint", {}, kFieldHint),
            frame_now.fields.length > 0 && frame_now.lower && fold_button(),
          ),
          draw_frame_boxes(row),
        ),
        el("section.card", {id: "card", tabindex: 0, "aria-label": "The chosen field"}),
      ),
      draw_arithmetic(row),
      draw_field_table(frame_now),
    );
  }
  pane_of("octets").replaceChildren(...parts.filter(Boolean));
  pane_of("octets").dataset.row = looking.row;
  show_field();
}

const chosen_part = () => (looking.field === -1 ? first_part(frame_now, findings_of(row_now())) : looking.field);

// `what` is also a class: the chosen field's card, or a preview of the one under the mouse.
function fill_card(card, name, octet, what) {
  const part = part_of(frame_now, name);
  if (!part?.field) return false;
  card.className = `card ${what} layer-${is_marker(part.field) ? "marker" : part.field.layer}`;
  card.replaceChildren(
    button(".quiet.small.card-close", "Close", () => choose_field(-1)),
    ...draw_card(frame_now, part, octet, findings_of(row_now())).flat().filter(Boolean),
  );
  return true;
}

function show_field() {
  const card = by_id("card");
  if (!card || looking.tab !== "octets" || !fill_card(card, chosen_part(), looking.octet, "of-chosen")) return;
  mark_part(pane_of("octets"), chosen_part(), looking.octet);
  card.hidden = card_over_octets.matches && looking.field === -1;
  if (card_over_octets.matches && !card.hidden)
    pane_of("octets").querySelector(".field.chosen")?.scrollIntoView({block: "nearest"});
}

// Where the card stands beside the octets, it shows the field under the mouse, and then the chosen one again.
function preview_fields(root) {
  root.addEventListener("pointerover", (event) => {
    const block = event.target.closest(".field");
    if (!block || event.pointerType !== "mouse" || card_over_octets.matches) return;
    fill_card(by_id("card"), block.dataset.part, Number(event.target.closest(".octet")?.dataset.at ?? -1), "preview");
  });
  root.addEventListener("pointerleave", () => {
    if (by_id("card")?.classList.contains("preview")) show_field();
  });
}

function start_octets() {
  when("row", () => {
    more_octets = {};
    draw_octets();
    pane_of("octets").parentElement.scrollTop = 0;
  });
  when("tab", draw_octets);
  when("field", show_field);
}
