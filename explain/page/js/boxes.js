// SPDX-License-Identifier: Apache-2.0
// Octets as nested boxes, a box for each layer, in them the fields as blocks of octets. Markers interrupt whatever they stand in.
//
// A frame goes in (frame_of(); `lower` may be missing), an element comes out. `options`:
//   folded      lower layers show one line each
//   more        {field: octets} more to show of long fields
//   changed     a set of octets that the reader has changed
//   wrong       (begin, end) => whether a finding is about these octets

const kLineOctets = 8;
const as_ascii = (octets) =>
  Array.from(octets, (octet) => (octet >= 0x20 && octet < 0x7f ? String.fromCharCode(octet) : "·")).join("");

// What programs wrote is often text: it has the characters beside the octets.
const has_text = (field) => field.layer === "ulp" || field.name === "Private Data" || field.name === "Immediate Data";

function draw_lines(cells, octets) {
  const lines = [];
  for (let at = 0; at < octets.length; at += kLineOctets) {
    const text = as_ascii(octets.subarray(at, at + kLineOctets));
    lines.push(
      el("span.octet-line-of-text", {}, cells.slice(at, at + kLineOctets), el("span.ascii", {"aria-hidden": "true"}, text)),
    );
  }
  return lines;
}

// A block of octets that lie together. `data` say which field and octets it stands for.
function draw_block(field, part, {begin, end}, octets, options) {
  const there = octets.subarray(begin, end);
  let cells = Array.from(there, (octet, i) => [
    el(`span.octet${options.changed?.has(begin + i) ? ".changed" : ""}`, {"data-at": begin + i}, hex2(octet)),
    " ",
  ]);
  if (has_text(field)) cells = draw_lines(cells, there);
  const missing = end - begin - there.length;
  if (missing > 0) cells.push(el("span.missing", {}, `${count(missing, "octet")} not in this page`));
  const wrong = options.wrong?.(begin, end) ? ".wrong" : "";
  return el(
    `button.field.layer-${field.layer}${wrong}`,
    {type: "button", tabindex: -1, "data-part": part, "data-begin": begin, "data-end": end},
    el("span.field-name", {}, field.name),
    el("span.field-octets", {}, cells),
  );
}

function draw_marker(marker, index, octets, options) {
  const block = draw_block(
    {layer: "marker", name: "Marker"},
    `marker-${index}`,
    {begin: marker.at, end: marker.at + kMarkerSize},
    octets,
    options,
  );
  const words = marker.points_at ?? marker.meaning;
  return el("div.marker", {"data-marker": index}, block, el("span.marker-words", {}, words && `points to ${words}`));
}

class BoxDrawer {
  constructor(frame, options) {
    Object.assign(this, {frame, options, marker: 0});
    this.root = el("div.boxes");
    this.stack = [{depth: -1, node: this.root}];
  }

  get top() {
    return this.stack.at(-1).node;
  }

  // Opens and closes boxes until the topmost is the layer's.
  enter(layer, words) {
    const {depth} = kLayers[layer] ?? kLayers.ulp;
    while (this.stack.at(-1).depth > depth) this.stack.pop();
    if (this.stack.at(-1).depth === depth) return;
    const body = el("div.box-body");
    this.top.append(
      el(`div.box.layer-${layer}`, {}, el("span.box-name", {}, layer_name(layer), words && el("small", {}, words)), body),
    );
    this.stack.push({depth, node: body});
  }

  // Markers that stand in front of this octet.
  markers_before(at) {
    const {markers, octets} = this.frame;
    for (; this.marker < markers.length && markers[this.marker].at < at; ++this.marker) {
      this.top.append(draw_marker(markers[this.marker], this.marker, octets, this.options));
    }
  }

  range(field, index, range) {
    this.markers_before(range.begin);
    const shown = shown_of(range, this.options.more?.[index] ?? 0);
    shown.forEach((part, i) => {
      if (i > 0) this.top.append(this.more_button(index, part.begin - shown[0].end));
      this.top.append(draw_block(field, index, part, this.frame.octets, this.options));
    });
  }

  more_button(index, hidden) {
    return el("button.more", {type: "button", "data-more": index}, `… ${count(hidden, "more octet")} …`);
  }

  upper() {
    const ats = this.frame.markers.map((marker) => marker.at);
    this.frame.fields.forEach((field, index) => {
      this.enter(field.layer);
      for (const range of ranges_of(field, ats)) this.range(field, index, range);
    });
    this.markers_before(Infinity);
  }

  lower() {
    const {fields, octets} = this.frame.lower;
    fields.forEach((field, index) => {
      this.enter(field.layer, this.options.folded && lower_words(fields, field.layer));
      if (!this.options.folded)
        this.top.append(draw_block(field, `lower-${index}`, {begin: field.at, end: field.at + field.size}, octets, {}));
    });
  }
}

function draw_boxes(frame, options = {}) {
  const drawer = new BoxDrawer(frame, options);
  if (frame.lower) drawer.lower();
  drawer.upper();
  return drawer.root;
}

// The field that a block stands for, and which octets those are.
function part_of(frame, part) {
  const [, kind, index] = /^(lower-|marker-)?(\d+)$/.exec(part) ?? [];
  if (index === undefined) return undefined;
  if (kind === "lower-") return {field: frame.lower?.fields[index], octets: frame.lower?.octets, lower: true};
  return {field: kind ? frame.markers[index] : frame.fields[index], octets: frame.octets};
}

function ranges_of_part(frame, field) {
  return is_marker(field)
    ? [{begin: field.at, end: field.at + field.size}]
    : ranges_of(
        field,
        frame.markers.map((marker) => marker.at),
      );
}

// Arrow keys go from block to block; one of them is in the tab order.
function walk_blocks(root, choose) {
  const blocks = () => [...root.querySelectorAll(".field")];
  root.addEventListener("keydown", (event) => {
    const step = {ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1}[event.key];
    const all = blocks();
    const at = all.indexOf(document.activeElement);
    if (!step || at < 0 || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    const next = all[clamp(at + step, 0, all.length - 1)];
    next.focus();
    choose(next.dataset.part, Number(next.dataset.begin));
  });
  root.addEventListener("click", (event) => {
    const block = event.target.closest(".field");
    if (block) choose(block.dataset.part, Number(event.target.closest(".octet")?.dataset.at ?? block.dataset.begin));
  });
}

// Marks the blocks of a part, and the octet in it.
function mark_part(root, part, octet) {
  const all = [...root.querySelectorAll(".field")];
  const chosen = all.filter((block) => block.dataset.part === String(part));
  for (const block of all) {
    const own = chosen.includes(block);
    block.classList.toggle("chosen", own);
    block.setAttribute("aria-pressed", own);
    block.tabIndex = -1;
    for (const cell of block.querySelectorAll(".octet.here")) cell.classList.remove("here");
    if (own) block.querySelector(`[data-at="${octet}"]`)?.classList.add("here");
  }
  const first = chosen[0] ?? all[0];
  if (first) first.tabIndex = 0;
}
