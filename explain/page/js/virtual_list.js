// SPDX-License-Identifier: Apache-2.0
// A list of which only the visible lines are in the page's tree. Lines are of one height; the list is a listbox with one chosen line.
//
//   const list = new VirtualList(box, {height: 52, draw: (index) => element, choose: (index) => ...});
//   list.set(length, chosen);

const kOverscan = 6;

class VirtualList {
  constructor(box, {height, draw, choose, open, name}) {
    Object.assign(this, {box, height, draw, on_choose: choose, on_open: open, name, length: 0, chosen: 0, first: 0, last: -1});
    this.space = el("div.list-space", {role: "presentation"});
    box.replaceChildren(this.space);
    box.addEventListener("scroll", () => this.show(), {passive: true});
    box.addEventListener("keydown", (event) => this.key(event));
    box.addEventListener("click", (event) => this.click(event));
    new ResizeObserver(() => this.resized()).observe(box);
  }

  // A box that was hidden has forgotten where it stood.
  resized() {
    if (this.seen_height === 0) this.reveal();
    this.seen_height = this.box.clientHeight;
    this.show(true);
  }

  set(length, chosen) {
    this.length = length;
    this.chosen = clamp(chosen, 0, Math.max(0, length - 1));
    this.space.style.blockSize = `${length * this.height}px`;
    this.reveal();
    this.show(true);
  }

  choose(index) {
    const next = clamp(index, 0, this.length - 1);
    if (this.length === 0) return;
    this.chosen = next;
    this.reveal();
    this.show(true);
    this.on_choose(next);
  }

  // Scrolls no more than it must.
  reveal() {
    const top = this.chosen * this.height;
    const {scrollTop, clientHeight} = this.box;
    if (top < scrollTop) this.box.scrollTop = Math.max(0, top - this.height);
    else if (top + this.height > scrollTop + clientHeight) this.box.scrollTop = top + 2 * this.height - clientHeight;
  }

  show(anew = false) {
    const first = Math.max(0, Math.floor(this.box.scrollTop / this.height) - kOverscan);
    const seen = Math.ceil(this.box.clientHeight / this.height) + 2 * kOverscan;
    const last = Math.min(this.length, first + seen) - 1;
    if (!anew && first === this.first && last === this.last) return;
    Object.assign(this, {first, last});
    this.space.replaceChildren(...Array.from({length: Math.max(0, last - first + 1)}, (_, i) => this.line(first + i)));
    this.mark_active();
  }

  line(index) {
    const line = this.draw(index);
    line.id = `${this.name}-${index}`;
    line.dataset.index = index;
    line.style.transform = `translateY(${index * this.height}px)`;
    line.style.blockSize = `${this.height}px`;
    for (const [name, value] of [
      ["role", "option"],
      ["aria-posinset", index + 1],
      ["aria-setsize", this.length],
      ["aria-selected", index === this.chosen],
    ])
      line.setAttribute(name, value);
    return line;
  }

  mark_active() {
    const there = this.chosen >= this.first && this.chosen <= this.last;
    if (there) this.box.setAttribute("aria-activedescendant", `${this.name}-${this.chosen}`);
    else this.box.removeAttribute("aria-activedescendant");
  }

  key(event) {
    if (event.ctrlKey || event.altKey || event.metaKey || event.target !== this.box) return;
    const page = Math.max(1, Math.floor(this.box.clientHeight / this.height) - 1);
    const steps = {ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -this.length, End: this.length};
    if (event.key in steps) this.choose(this.chosen + steps[event.key]);
    else if (event.key === "Enter" && this.on_open) this.on_open(this.chosen);
    else return;
    event.preventDefault();
  }

  click(event) {
    const line = event.target.closest("[data-index]");
    if (!line) return;
    this.choose(Number(line.dataset.index));
    this.on_open?.(this.chosen, true);
  }
}
