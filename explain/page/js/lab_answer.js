// SPDX-License-Identifier: Apache-2.0
// What the engine answers: its state, what it waits for, what it placed, its error with the clause, and what it sends.

const kAnswersShown = 40;

function lab_fields(entries) {
  const fields = [];
  for (const [at, size, layer, name, value, meaning] of entries ?? []) {
    const field = {
      at,
      size,
      layer: layer === "payload" ? "ulp" : layer,
      name,
      value,
      meaning: meaning ?? "",
      parts: [],
      clauses: [],
      reference: "",
    };
    if (size === 0 && fields.length) fields.at(-1).parts.push(field);
    else fields.push(field);
  }
  return fields;
}

function sent_line(field) {
  return el(
    "tr",
    {},
    el("th", {scope: "row"}, field.name),
    el("td", {}, el("code", {}, shortened(field.value ?? ""))),
    el("td", {}, field.meaning),
  );
}

function lab_table(words, fields) {
  return el(
    "div.table-box",
    {tabindex: 0, role: "group", "aria-label": `Fields of ${words}`},
    el("table", {}, el("tbody", {}, fields.map(sent_line))),
  );
}

// A frame that the engine took from the stream, with its fields as they are now, edited or not.
function draw_read({words, octets, accepted, fields}) {
  return el(
    "details.read",
    {},
    el("summary", {}, accepted === false ? "Read and refused: " : "Read: ", el("b", {}, words), ` (${count(octets, "octet")})`),
    lab_table(words, lab_fields(fields)),
  );
}

// A frame that the engine sends: its boxes, and its fields in a table.
function draw_sent({octets, words, fields}, cause_told) {
  const all = lab_fields(fields);
  const frame = {
    octets: octets_of(octets),
    size: octets.length / 2,
    markers: all.filter(is_marker),
    fields: all.filter((field) => !is_marker(field)),
  };
  const root = draw_boxes(frame);
  walk_blocks(root, (part, octet) => mark_part(root, part, octet));
  mark_part(root, "", -1);
  const terminate = words.startsWith("Terminate");
  return el(
    `details.sent${terminate ? ".terminate" : ""}`,
    {open: terminate},
    el("summary", {}, "This end sends: ", el("b", {}, terminate && cause_told ? "Terminate, with this error" : words)),
    root,
    lab_table(words, frame.fields),
  );
}

function draw_error(error) {
  const clause = error.clause && [el("code", {}, error.clause), " ", model.clauses?.[error.clause]?.text ?? ""];
  const numbers = error.layer !== undefined && el("p", {}, `layer ${error.layer}, type ${error.type}, code ${error.code}`);
  return el(
    "div.finding.violation",
    {},
    el("p", {}, el("b", {}, error.remote ? "The peer's error: " : "Error: "), upper_first(error.sentence ?? "")),
    numbers,
    clause && el("p.asked", {}, clause),
  );
}

function draw_lab_placed(script, placed) {
  const region = script.regions?.[placed.region];
  const posted = script.receives?.[placed.receive];
  const receive = posted?.octets ?? posted;
  const head = region ? ["into STag ", el("code", {}, region.stag)] : `into receive ${(placed.receive ?? 0) + 1}`;
  const size = region?.octets ?? receive ?? placed.offset + placed.octets;
  return el(
    "div.region.lit",
    {},
    el("p.region-head", {}, el("b", {}, "Placed ", head)),
    draw_bar({size, before: [], now: placed}),
    el("p.lands", {}, placed_words(placed, "placed")),
    placed.hex && draw_dump(octets_of(placed.hex), region?.begin, placed.offset),
  );
}

// The error of a step is told once, in its box: the event that brought it says the same.
const kErrorEvents = ["protocol error", "Terminate received", "startup failed"];
const events_told = ({events, error}) => (events ?? []).filter(({what}) => !error || !kErrorEvents.includes(what));

function draw_answer(script, {words, step}) {
  return el(
    "article.answer",
    {},
    el("h4", {}, words),
    step.refused && el("p.note", {}, upper_first(step.refused)),
    step.error && draw_error(step.error),
    (step.out ?? []).map((frame) => draw_sent(frame, step.error !== undefined)),
    events_told(step).map((event) => el("p.event", {}, el("b", {}, event.what), event.words && `: ${event.words}`)),
    (step.placed ?? []).map((placed) => draw_lab_placed(script, placed)),
    (step.in ?? []).map(draw_read),
  );
}

function queue_words(queues) {
  if (!queues) return [];
  return [
    queues.msn && `next MSN ${queues.msn.join(", ")}`,
    queues.ird !== undefined && `IRD in use ${queues.ird}`,
    queues.ord !== undefined && `ORD in use ${queues.ord}`,
  ].filter(Boolean);
}

function draw_engine_state(control) {
  const {last} = control;
  const held = last?.held ? [`${count(last.held, "octet")} held until more come`] : [];
  const words = last ? [last.state, ...queue_words(last.queues), ...held] : ["not begun"];
  return el(
    "div.engine-state",
    {},
    el("p.facts", {}, el("b.fact", {}, words[0]), " ", facts(words.slice(1))),
    el(
      "p",
      {},
      last
        ? control.over
          ? "The connection is over: the engine takes no more octets."
          : last.waiting && `It waits for ${last.waiting}.`
        : "Nothing has been fed yet.",
    ),
  );
}

class LabAnswer {
  constructor(control) {
    this.control = control;
    this.node = el("section.lab-answer", {tabindex: 0, "aria-label": "What the engine answers"});
  }

  show() {
    const {answers, script} = this.control;
    const shown = answers.slice(-kAnswersShown).reverse();
    this.node.replaceChildren(
      el("h3", {}, "What the engine answers"),
      draw_engine_state(this.control),
      ...shown.map((answer) => draw_answer(script, answer)),
      ...(answers.length > shown.length
        ? [el("p.why", {}, `${count(answers.length - shown.length, "earlier answer")} left out.`)]
        : []),
    );
  }
}
