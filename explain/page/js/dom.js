// SPDX-License-Identifier: Apache-2.0
// Elements, made in one place: el("button.quiet", {type: "button", onclick: f}, "words", node, [more]). Text is always text: nothing
// that a capture holds is ever read as HTML.

const by_id = (id) => document.getElementById(id);

function put_attribute(node, name, value) {
  if (value === undefined || value === null || value === false) return;
  if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
  else if (name === "style") for (const [property, word] of Object.entries(value)) node.style.setProperty(property, word);
  else node.setAttribute(name, value === true ? "" : value);
}

function el(what, attributes, ...children) {
  const [tag, ...classes] = what.split(".");
  const node = document.createElement(tag || "div");
  if (classes.length) node.className = classes.join(" ");
  for (const [name, value] of Object.entries(attributes ?? {})) put_attribute(node, name, value);
  node.append(...children.flat(3).filter((child) => child !== undefined && child !== null && child !== false && child !== ""));
  return node;
}

function button(what, words, on_click, attributes) {
  return el("button" + what, {type: "button", onclick: on_click, ...attributes}, words);
}

// Fills one of the page's dialogs and opens it at its heading. A row that is chosen in it closes it.
function show_dialog(id, heading, ...children) {
  const node = by_id(id);
  const close = el("form", {method: "dialog"}, el("button.strong", {}, "Close"));
  node.replaceChildren(
    el("h2", {id: `${id}-title`, tabindex: -1, autofocus: true}, heading),
    ...children.flat(3).filter(Boolean),
    close,
  );
  node.showModal();
  node.scrollTop = 0;
}

// What a screen reader says now.
function say(words) {
  by_id("says").textContent = words;
}

function svg(tag, attributes, ...children) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

// Short words about something, apart by dots. The space between them is where a line may break.
const facts = (words) => words.filter(Boolean).flatMap((fact) => [el("span.fact", {}, fact), " "]);

const clamp = (value, least, most) => Math.max(least, Math.min(most, value));
const count = (n, one, more) => `${n.toLocaleString("en")} ${n === 1 ? one : (more ?? one + "s")}`;
const upper_first = (words) => words.charAt(0).toUpperCase() + words.slice(1);
