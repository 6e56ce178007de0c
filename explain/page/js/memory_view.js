// SPDX-License-Identifier: Apache-2.0
// The memory of both ends when the chosen row has arrived: regions, receives and the state of the queues before and after.

const kReceivesAround = 3;
const kQueueNames = ["Sends", "requests", "Terminate", "Atomic Responses"];

// What earlier rows did at this end: of each region and each receive a list of the spans that they placed, and the receives that
// Immediate Data took.
function placed_before(end, row_index) {
  const regions = new Map();
  const receives = new Map();
  const taken = new Set();
  for (const {from, placed, takes} of rows().slice(0, row_index)) {
    if (from === end) continue;
    if (takes !== undefined) taken.add(takes);
    if (!placed) continue;
    const spans = placed.region !== undefined ? regions : receives;
    const key = placed.region ?? placed.receive;
    if (!spans.has(key)) spans.set(key, []);
    spans.get(key).push(placed);
  }
  return {regions, receives, taken};
}

// By region of this end: the row whose message made its STag invalid. What the peer used after that was registered again.
function revoked_at(end, row_index) {
  const revoked = new Map();
  for (const [index, {from, placed, touches}] of rows()
    .slice(0, row_index + 1)
    .entries()) {
    if (from === end) continue;
    if (touches?.how === "invalidate") revoked.set(touches.region, index);
    else for (const region of [placed?.region, touches?.region]) revoked.delete(region);
  }
  return revoked;
}

function payload_of(row) {
  const frame = frame_of(row);
  const field = frame.fields.find(({name}) => name === "payload" || name === "Immediate Data");
  return field ? octets_in(frame.octets, ranges_of_part(frame, field)) : new Uint8Array();
}

// The region or receive that the row is about, and the octets that land.
function draw_landing(row, memory, spans) {
  const {placed, touches} = row;
  const region = memory.regions?.[placed?.region ?? touches?.region];
  const receive = memory.receives?.[placed?.receive ?? row.takes];
  if (!region && !receive) return undefined;
  const octets = placed ? payload_of(row) : [];
  const into_region = placed?.region !== undefined;
  return [
    el("h4", {}, placed ? "Where it lands" : "What it is about"),
    receive && [
      draw_receive(receive, {before: spans.receives.get(placed?.receive) ?? [], now: placed, taken: row.takes !== undefined}),
      octets.length > 0 && draw_dump(octets, undefined, placed.offset),
    ],
    region &&
      draw_region(region, {
        before: spans.regions.get(placed?.region ?? touches.region) ?? [],
        now: into_region ? placed : undefined,
        asked: touches,
        revoked: spans.revoked.get(placed?.region ?? touches.region),
      }),
    into_region && octets.length > 0 && draw_dump(octets, region.begin, placed.offset),
  ];
}

const state_names = [
  ["state", "State", (state) => state.state],
  ...[0, 1, 2, 3].map((queue) => [
    `msn${queue}`,
    `Next MSN, queue ${queue} (${kQueueNames[queue]})`,
    (state) => state.msn?.[queue],
  ]),
  ...[0, 1, 2, 3].map((queue) => [`mo${queue}`, `Next MO, queue ${queue}`, (state) => state.mo?.[queue]]),
  ["ird", "Peer's open requests (IRD)", (state) => state.ird],
  ["ord", "Own open requests (ORD)", (state) => state.ord],
];

// Lines that are the same and zero say nothing: MO of a queue whose messages have one segment each.
function state_lines(before, after) {
  return state_names
    .map(([key, words, get]) => [key, words, get(before), get(after)])
    .filter(([key, , was, is]) => is !== undefined && (was !== is || !key.startsWith("mo") || is !== 0))
    .map(([, words, was, is]) =>
      el(
        `tr${was !== is ? ".changed" : ""}`,
        {},
        el("th", {scope: "row"}, words),
        el("td", {}, `${was}`),
        el("td", {}, was === is ? "" : "→"),
        el("td", {}, `${is}`),
      ),
    );
}

function draw_state(row) {
  const [before, after] = [state_at(row.before), state_at(row.after)];
  if (!before || !after) return undefined;
  const heads = ["", "before", "", "after"].map((words) => (words ? el("th", {scope: "col"}, words) : el("td")));
  return [
    el("h4", {}, "Queues, before and after this row"),
    el("table.state", {}, el("thead", {}, el("tr", {}, heads)), el("tbody", {}, state_lines(before, after))),
  ];
}

// The regions to draw: all, or those around what happens, where there are very many.
function around(list, chosen, most) {
  if (list.length <= most) return list.map((item, index) => [item, index]);
  const first = clamp((chosen ?? 0) - kReceivesAround, 0, list.length - most);
  return list.slice(first, first + most).map((item, i) => [item, first + i]);
}

const left_out = (all, shown, words) =>
  all > shown ? el("p.why", {}, `${count(all - shown, words)} left out here.`) : undefined;

function draw_regions(memory, row, spans) {
  const list = memory.regions ?? [];
  if (!list.length)
    return [el("h4", {}, "Registered regions"), el("p.why", {}, "None of this end takes part in what the capture shows.")];
  const landing = row?.placed?.region ?? row?.touches?.region;
  const revoked = (index) => spans.revoked.get(index);
  const shown = around(list, landing, 12);
  const others = shown.filter(([, index]) => index !== landing);
  if (!others.length) return undefined;
  return [
    el("h4", {}, others.length < shown.length ? "Other registered regions" : "Registered regions"),
    others.map(([region, index]) => draw_region(region, {before: spans.regions.get(index) ?? [], revoked: revoked(index)})),
    left_out(list.length, shown.length, "region"),
  ];
}

function draw_receives(memory, row, spans) {
  const list = memory.receives ?? [];
  if (!list.length) return undefined;
  const own = row?.placed?.receive ?? row?.takes;
  const next = own ?? Math.max(-1, ...spans.receives.keys(), ...spans.taken) + 1;
  const shown = around(list, next, 2 * kReceivesAround + 1);
  const others = shown.filter(([, index]) => index !== own);
  if (!others.length) return undefined;
  return [
    el("h4", {}, `${others.length < shown.length ? "Other posted" : "Posted"} receives`),
    others.map(([receive, index]) =>
      draw_receive(receive, {before: spans.receives.get(index) ?? [], taken: spans.taken.has(index)}),
    ),
    left_out(list.length, shown.length, "receive"),
  ];
}

function draw_end(end, row) {
  const arrives = row.from && other_end(row.from) === end;
  const memory = connection().memory?.[end] ?? {};
  const spans = {...placed_before(end, looking.row), revoked: revoked_at(end, looking.row)};
  const own = arrives ? row : undefined;
  return el(
    `section.end${arrives ? ".arrives" : ""}`,
    {},
    el("h3", {}, upper_first(end), el("small", {}, arrives ? "receives this row" : row.from ? "sent this row" : "")),
    arrives && draw_landing(row, memory, spans),
    arrives && draw_state(row),
    draw_regions(memory, own, spans),
    draw_receives(memory, own, spans),
  );
}

function memory_words(row) {
  if (row.placed?.region !== undefined) return "A tagged segment: its STag names the region, its Tagged Offset the place in it.";
  if (row.placed) return "An untagged segment: its queue and MSN choose the receive, its MO the place in it.";
  if (row.takes !== undefined) return "Immediate Data: it takes a receive, and the completion has the data. No buffer changes.";
  if (row.touches?.how === "invalidate")
    return "A message that takes an STag back: from now on the peer's accesses with it are refused.";
  if (row.touches) return "A request: the peer's RNIC reads or changes this memory, and its application takes no part.";
  if (row.refused !== undefined) return "Refused: not one octet of it was placed. The Terminate says why.";
  return "This row places nothing.";
}

function draw_memory() {
  const row = row_now();
  if (!row || looking.tab !== "memory") return;
  const ends = row.from ? [other_end(row.from), row.from] : ["responder", "initiator"];
  pane_of("memory").replaceChildren(
    el(
      "header.pane-head",
      {},
      el("h2", {}, "Memory"),
      el("p.facts", {}, facts([row.words, ...row_facts(row).slice(0, 2)])),
      el("p.lesson", {}, with_terms(memory_words(row))),
    ),
    el(
      "div.memory-ends",
      {},
      ends.map((end) => draw_end(end, row)),
    ),
    el(
      "p.why",
      {},
      "A capture does not show memory. Regions and receives are inferred from what uses them: from STags, offsets and lengths on the wire.",
    ),
  );
}

function start_memory() {
  when("row tab", draw_memory);
}
