// SPDX-License-Identifier: Apache-2.0
// The pointer of each Marker, drawn in the left margin: from the Marker to the ULPDU_Length of its FPDU.

const kLane = 7;
const kLanes = 3;

function pointer_path(from, to, lane) {
  const x = 4 + (lane % kLanes) * kLane;
  return `M${from.x} ${from.y} H${x + 4} Q${x} ${from.y} ${x} ${from.y - Math.sign(from.y - to.y) * 4} V${to.y + Math.sign(from.y - to.y) * 4} Q${x} ${to.y} ${x + 4} ${to.y} H${to.x}`;
}

function left_middle(node, box) {
  const {left, top, height} = node.getBoundingClientRect();
  return {x: left - box.left - 2, y: top + height / 2 - box.top};
}

// `root` is what MPA's box holds.
function draw_pointers(root) {
  root.querySelector(".pointers")?.remove();
  const markers = [...root.querySelectorAll(".marker .field")];
  const target = [...root.querySelectorAll(".field.layer-mpa")].find((block) => block.textContent.startsWith("ULPDU_Length"));
  if (!markers.length || !target) return;
  const box = root.getBoundingClientRect();
  const to = left_middle(target, box);
  const head = svg("path", {d: `M${to.x - 5} ${to.y - 4} L${to.x + 1} ${to.y} L${to.x - 5} ${to.y + 4}`, class: "pointer-head"});
  const paths = markers.map((marker, lane) => svg("path", {d: pointer_path(left_middle(marker, box), to, lane)}));
  root.append(svg("svg", {class: "pointers", "aria-hidden": "true", width: box.width, height: box.height}, ...paths, head));
}

// Anew whenever the boxes take another size.
function keep_pointers(boxes) {
  const root = boxes.querySelector(".box.layer-mpa > .box-body");
  if (!root?.querySelector(".marker")) return;
  root.classList.add("has-pointers");
  new ResizeObserver(() => draw_pointers(root)).observe(root);
}
