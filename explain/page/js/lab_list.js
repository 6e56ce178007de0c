// SPDX-License-Identifier: Apache-2.0
// The pieces that are fed, in their order; the reader drops, doubles and moves them.

const kPieceHeight = 34;

class LabList {
  constructor({control, changed, chosen}) {
    Object.assign(this, {control, changed});
    this.box = el("div.pieces", {role: "listbox", tabindex: 0, "aria-label": "What is fed to the engine, in order"});
    this.list = new VirtualList(this.box, {
      height: kPieceHeight,
      name: "piece",
      draw: (index) => this.draw(index),
      choose: chosen,
    });
    this.buttons = [
      ["Drop", () => this.drop()],
      ["Duplicate", () => this.duplicate()],
      ["Move up", () => this.move(-1)],
      ["Move down", () => this.move(1)],
    ].map(([words, act]) => button(".small", words, act));
    this.node = el(
      "section.lab-list",
      {"aria-label": "Pieces"},
      el("h3", {}, "What is fed"),
      this.box,
      el("div.lab-buttons", {}, this.buttons),
    );
  }

  get chosen() {
    return this.list.chosen;
  }

  draw(index) {
    const piece = this.control.pieces[index];
    const {next} = this.control;
    const progress = piece.dropped
      ? "dropped"
      : piece.fed === 0
        ? ""
        : piece.fed < piece.total
          ? `${piece.fed} of ${piece.total}`
          : "fed";
    const tags = [piece.copy && "copy", piece.edited && "edited"]
      .filter(Boolean)
      .map((words) => el("span.badge.note", {}, words));
    return el(
      `div.piece${piece.dropped ? ".dropped" : ""}${index === next ? ".next" : ""}`,
      {},
      el("span.piece-words", {}, index === next && el("span.unseen", {}, "next: "), piece.words),
      tags,
      el("small", {}, progress),
    );
  }

  show(chosen = this.chosen) {
    this.list.set(this.control.pieces.length, chosen);
    this.buttons[0].textContent = this.control.pieces[this.chosen]?.dropped ? "Restore" : "Drop";
  }

  drop() {
    this.control.drop(this.chosen);
    this.changed(this.chosen);
  }

  duplicate() {
    this.control.duplicate(this.chosen);
    this.changed(this.chosen + 1);
  }

  move(step) {
    this.changed(this.control.move(this.chosen, step));
  }
}
