// SPDX-License-Identifier: Apache-2.0
// The octets of the chosen piece, to be changed: by two hex digits, or bit by bit.

class LabEditor {
  constructor({control, changed}) {
    Object.assign(this, {control, changed, index: 0, part: "0", octet: 0, more: {}});
    this.boxes = el("div.editor-boxes");
    this.input = el("input", {
      type: "text",
      id: "octet-value",
      maxlength: 2,
      size: 2,
      inputmode: "text",
      autocomplete: "off",
      spellcheck: "false",
      onfocus: () => this.input.select(),
      oninput: () => this.typed(),
      onkeydown: (event) => this.key(event),
    });
    this.label = el("label", {for: "octet-value"});
    this.bits = Array.from({length: 8}, (_, i) => button(".bit", "0", () => this.flip(7 - i), {}));
    this.was = el("p.why");
    const form = el(
      "div.octet-form",
      {},
      this.label,
      el(
        "div.octet-line",
        {},
        button(".small", "‹", () => this.step(-1), {"aria-label": "Octet before"}),
        this.input,
        button(".small", "›", () => this.step(1), {"aria-label": "Next octet"}),
        el("div.octet-bits", {role: "group", "aria-label": "Bits, most significant first"}, this.bits),
      ),
      this.was,
    );
    this.node = el("section.lab-editor", {"aria-label": "Octets of the piece"}, el("h3", {}, "Its octets"), form, this.boxes);
  }

  get piece() {
    return this.control.pieces[this.index];
  }

  show(index, octet) {
    if (index !== this.index) Object.assign(this, {part: "0", octet: 0, more: {}});
    this.index = index;
    if (!this.piece) return;
    this.frame = {...frame_of(rows()[this.piece.row]), octets: this.control.octets_of_piece(this.piece), lower: undefined};
    this.draw();
    this.choose_octet(octet ?? this.octet);
  }

  changed_octets() {
    const changed = new Set();
    this.frame.octets.forEach((octet, at) => {
      if (octet !== this.piece.original[at]) changed.add(at);
    });
    return changed;
  }

  draw() {
    const root = draw_boxes(this.frame, {changed: this.changed_octets(), more: this.more});
    walk_blocks(root, (part, octet) => this.choose_octet(octet));
    root.addEventListener("click", (event) => {
      const index = event.target.dataset?.more;
      if (index !== undefined) this.more[index] = (this.more[index] ?? 0) + kShownMore;
      if (index !== undefined) this.show(this.index);
      else if (event.detail > 0 && event.target.closest(".field")) this.input.focus();
    });
    root.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || !event.target.closest(".field")) return;
      this.input.focus();
      event.preventDefault();
    });
    this.boxes.replaceChildren(root);
    keep_pointers(root);
  }

  block_of(octet) {
    return [...this.boxes.querySelectorAll(".field")].find(
      ({dataset}) => octet >= Number(dataset.begin) && octet < Number(dataset.end),
    );
  }

  choose_octet(octet) {
    this.octet = clamp(octet, 0, this.piece.octets.length - 1);
    const value = this.frame.octets[this.octet];
    const block = this.block_of(this.octet);
    if (block) mark_part(this.boxes, block.dataset.part, this.octet);
    const field = block && part_of(this.frame, block.dataset.part)?.field;
    this.label.replaceChildren(`Octet ${this.octet}`, field ? ` · ${field.name}` : "");
    this.input.value = hex2(value);
    if (document.activeElement === this.input) this.input.select();
    this.bits.forEach((bit, i) => {
      const set = (value >> (7 - i)) & 1;
      bit.textContent = set;
      bit.setAttribute("aria-pressed", set === 1);
      bit.setAttribute("aria-label", `Bit ${7 - i}: ${set}`);
    });
    const original = this.piece.original[this.octet];
    this.was.textContent = value === original ? "as captured" : `captured as ${hex2(original)}`;
  }

  step(by) {
    this.choose_octet(this.octet + by);
  }

  typed() {
    if (!/^[0-9a-f]{2}$/i.test(this.input.value)) return;
    this.write(parseInt(this.input.value, 16), this.octet + 1);
  }

  flip(bit) {
    this.write(this.frame.octets[this.octet] ^ (1 << bit), this.octet);
  }

  write(value, go_on_at) {
    const at = this.octet;
    this.octet = go_on_at;
    this.control.write(this.index, at, value);
    this.changed(this.index);
    say(`Octet ${at} is ${hex2(value)} now`);
  }

  key(event) {
    const {selectionStart, selectionEnd, value} = this.input;
    const whole = selectionStart === 0 && selectionEnd === value.length;
    const step = {ArrowRight: 1, ArrowLeft: -1, ArrowDown: 16, ArrowUp: -16}[event.key];
    if (!step || !whole) return;
    this.step(step);
    event.preventDefault();
  }
}
