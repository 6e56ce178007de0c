// SPDX-License-Identifier: Apache-2.0
// The laboratory: the engine of weft itself, as WebAssembly, plays one end; what the other end sent is fed to it.

const kNoLaboratory = "This page has no laboratory: it was written without one.";
const kExtraReceive = 4096; // octets
const lab = {engine: undefined, end: "responder", experiments: new LabExperiments({run: run_experiment})}; // end: the one that the engine plays

async function load_engine() {
  const octets = by_id("laboratory-octets").textContent.trim();
  if (!octets || typeof weftLaboratory === "undefined") throw new Error(kNoLaboratory);
  if (typeof WebAssembly === "undefined")
    throw new Error("This browser has no WebAssembly, or it is switched off: the laboratory is the engine compiled to it.");
  return weftLaboratory(octets);
}

function lab_words(words, ...more) {
  pane_of("laboratory").replaceChildren(el("header.pane-head", {}, el("h2", {}, "Laboratory"), el("p.lesson", {}, words), more));
}

function end_choice() {
  const choice = (end) =>
    el(
      "label",
      {},
      el("input", {type: "radio", name: "end", value: end, checked: lab.end === end, onchange: () => start_run(end)}),
      ` the ${end}`,
    );
  return el("fieldset.lab-end", {}, el("legend", {}, "The engine plays"), choice("responder"), choice("initiator"));
}

// [words, what to do, whether it makes sense now]
function lab_actions() {
  const {control, list} = lab;
  const open = () => !control.over && !control.at_end;
  return {
    octet: ["One octet", () => control.feed(1), open],
    piece: ["One FPDU", () => control.feed(), open],
    chosen: ["Up to the chosen one", () => control.feed_up_to(list.chosen), () => open() && control.next <= list.chosen],
    all: ["All", () => control.feed_up_to(control.pieces.length), open],
    fin: ["FIN", () => control.end(), () => !control.closed],
    wait: ["Let time pass", () => control.wait(), () => !control.closed],
    receive: ["Post a receive", () => control.post_receive(kExtraReceive), () => !control.over],
    again: ["Begin again", () => control.begin_again(), () => control.last !== undefined],
    restore: ["As captured", () => start_run(lab.end), () => true],
  };
}

function act(name) {
  const [, action, sensible] = (lab.control && lab.actions?.[name]) ?? [];
  if (!action || !sensible()) return;
  action();
  if (name !== "restore")
    show_run(
      ["octet", "piece", "all"].includes(name) ? Math.min(lab.control.next, lab.control.pieces.length - 1) : lab.list.chosen,
    );
  const last = lab.control.last;
  if (last)
    say(last.error ? `Error: ${last.error.sentence}` : `${last.state}. ${last.waiting ? `It waits for ${last.waiting}.` : ""}`);
}

// An engine need not offer these two.
const can_do = (name) => lab.control.run[{wait: "wait", receive: "receive"}[name] ?? "feed"] !== undefined;

function feed_bar() {
  lab.buttons = Object.entries(lab.actions).map(([name, [words]]) =>
    button(name === "piece" ? ".strong" : "", words, () => act(name), {"data-act": name, hidden: !can_do(name)}),
  );
  const {crc, markers} = lab.control;
  const what = [crc && "the CRC", markers && "the Markers"].filter(Boolean).join(" and ");
  const repair = el("input", {
    type: "checkbox",
    id: "repair",
    checked: lab.control.repair,
    disabled: !what,
    onchange: (event) => {
      lab.control.set_repair(event.target.checked);
      show_run(lab.list.chosen);
    },
  });
  return el(
    "div.lab-bar",
    {},
    el("div.lab-buttons", {role: "group", "aria-label": "Feed the engine"}, lab.buttons),
    el(
      "label.repair",
      {},
      repair,
      what ? ` repair ${what} of what I change` : " neither CRCs nor Markers on this connection: nothing to repair",
    ),
  );
}

function show_run(chosen) {
  lab.list.show(chosen);
  lab.editor.show(lab.list.chosen);
  lab.answer.show();
  for (const node of lab.buttons) node.disabled = !lab.actions[node.dataset.act][2]();
}

function make_run(end) {
  const {pieces, cut} = pieces_from(other_end(end));
  const control = new RunControl({
    laboratory: lab.engine,
    script: connection().lab?.[end] ?? {role: end},
    pieces,
    crc: connection().crc,
    markers: connection().markers?.[other_end(end)],
  });
  const changed = (chosen) => show_run(chosen);
  Object.assign(lab, {
    end,
    control,
    cut,
    answer: new LabAnswer(control),
    editor: new LabEditor({control, changed}),
    list: new LabList({
      control,
      changed,
      chosen: (index) => {
        lab.editor.show(index);
        lab.list.show(index);
        update_buttons();
      },
    }),
  });
  lab.actions = lab_actions();
}

function update_buttons() {
  for (const node of lab.buttons) node.disabled = !lab.actions[node.dataset.act][2]();
}

// The reader chooses the other end by the same button again, in whatever the pane shows then.
function start_run(end) {
  const had_focus = document.activeElement?.name === "end";
  lab.end = end;
  try {
    draw_run(end);
  } catch (fault) {
    lab.control = undefined;
    lab_words(fault.message, end_choice());
  }
  if (had_focus) document.querySelector(".lab-end input:checked")?.focus();
}

function draw_run(end) {
  make_run(end);
  const {pieces} = lab.control;
  if (!pieces.length) throw new Error(`The capture has nothing that the ${other_end(end)} sent, so there is nothing to feed.`);
  const note =
    lab.cut !== undefined &&
    el("p.note", {}, `The page leaves out payload of row ${lab.cut + 1}: what the engine can be fed ends before it.`);
  pane_of("laboratory").replaceChildren(
    el(
      "header.pane-head",
      {},
      el("h2", {}, "Laboratory"),
      el(
        "p.lesson",
        {},
        `Here runs the engine of weft itself, compiled to WebAssembly. It plays the ${end}, and what the ${other_end(end)} sent is fed to it. Change an octet, drop, double or move a segment: it answers as a live weft would.`,
      ),
      end_choice(),
      note || "",
    ),
    lab.experiments.node,
    feed_bar(),
    el("div.lab", {}, lab.list.node, lab.answer.node, lab.editor.node),
  );
  lab.experiments.show();
  const here = pieces.findIndex((piece) => piece.row >= looking.row);
  show_run(here < 0 ? 0 : here);
}

async function draw_laboratory() {
  if (looking.tab !== "laboratory" || !row_now()) return;
  if (lab.shown === looking.connection) return;
  lab_words("The engine is being compiled …");
  try {
    lab.engine ??= await load_engine();
    lab.shown = looking.connection;
    lab.experiments.outcome = undefined;
    start_run(row_now().from ? other_end(row_now().from) : "responder");
  } catch (fault) {
    lab_words(fault.message);
  }
}

// The row chosen in the ladder is chosen here, too, if it is one of those that are fed.
function follow_row_in_laboratory() {
  if (looking.tab !== "laboratory" || lab.shown !== looking.connection || !lab.control) return;
  const index = lab.control.pieces.findIndex((piece) => piece.row === looking.row);
  if (index >= 0 && lab.control.pieces[lab.list.chosen]?.row !== looking.row) show_run(index);
}

function start_laboratory() {
  when("tab connection", draw_laboratory);
  when("row", follow_row_in_laboratory);
}
