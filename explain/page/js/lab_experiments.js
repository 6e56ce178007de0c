// SPDX-License-Identifier: Apache-2.0
// The experiments in the laboratory's pane: choose one, predict, run it, and read what it shows.

// The answer and its clause: the engine's own error, or that it had none.
function outcome_words({error}) {
  if (!error) return "The engine accepted it.";
  const clause = error.clause && [" (", el("code", {}, error.clause), ")"];
  return [`The engine refused it: ${error.sentence}`, clause, "."];
}

class LabExperiments {
  constructor({run}) {
    Object.assign(this, {run, chosen: undefined, outcome: undefined});
    this.node = el("section.lab-experiments", {"aria-label": "Experiments"});
  }

  show() {
    const buttons = kExperiments.map((experiment) =>
      button(`.small${experiment === this.chosen ? ".strong" : ""}`, experiment.title, () => this.choose(experiment), {
        "aria-pressed": `${experiment === this.chosen}`,
      }),
    );
    this.node.replaceChildren(
      el("h3", {}, "Experiments"),
      el("div.lab-buttons", {role: "group", "aria-label": "Experiments"}, buttons),
      ...this.draw_chosen(),
    );
  }

  draw_chosen() {
    const {chosen, outcome} = this;
    if (!chosen) return [];
    if (!end_for(chosen)) return [el("p.note", {}, `This capture has nothing for it: it takes ${chosen.lacks}.`)];
    return [
      el("p.lesson", {}, el("b", {}, "Predict: "), with_terms(chosen.predict)),
      button(".strong.small", "Run it", () => this.start(), {"data-experiment": "run"}),
      outcome &&
        el(
          "p.lesson.outcome",
          {role: "status"},
          el("b", {}, "What it shows: "),
          with_terms(chosen.shows),
          " ",
          outcome_words(outcome),
        ),
    ].filter(Boolean);
  }

  choose(experiment) {
    Object.assign(this, {chosen: experiment, outcome: undefined});
    this.show();
    this.node.querySelector("[aria-pressed=true]").focus();
  }

  start() {
    this.outcome = this.run(this.chosen);
    this.show();
    this.node.querySelector("[data-experiment=run]").focus();
  }
}

// Plays the end that it takes, from the beginning; the engine's last answer, or the first with an error.
function run_experiment(experiment) {
  start_run(end_for(experiment));
  const {control} = lab;
  if (!control) return undefined; // the pane says why
  const found = experiment.find(control.pieces);
  control.repair = experiment.repair ?? true;
  by_id("repair").checked = control.repair;
  found.change();
  control.begin_again();
  control.feed_up_to(found.until);
  show_run(found.at);
  return control.answers.map(({step}) => step).find(({error}) => error) ?? control.last;
}
