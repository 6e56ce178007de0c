// SPDX-License-Identifier: Apache-2.0
// Octets that hold several values, bit by bit. The widths are those of the RFCs' figures, most significant bit first.

const kWidths = {
  "DDP Control": [1, 1, 4, 2],
  "RDMAP Control": [2, 2, 4],
  Flags: [1, 1, 1, 1, 4],
  "A, B, IRD": [1, 1, 14],
  "C, D, ORD": [1, 1, 14],
  "Layer and EType": [4, 4],
  "HdrCt and Reserved": [1, 1, 1, 13],
};

const bits_of = (octets) => Array.from(octets, (octet) => octet.toString(2).padStart(8, "0")).join("");

// A row of cells, one a value, each as wide as it has bits; undefined where the widths do not fit.
function draw_bits(field, octets) {
  const widths = kWidths[field.name];
  const bits = bits_of(octets);
  if (!widths || widths.length !== field.parts.length || widths.reduce((a, b) => a + b) !== bits.length) return undefined;
  let at = 0;
  const cells = field.parts.map((part, i) => {
    const own = bits.slice(at, (at += widths[i]));
    return el("span.bits-cell", {style: {"--bits": widths[i]}}, el("span.bits-name", {}, part.name), el("code", {}, own));
  });
  return el("div.bits", {style: {"--all-bits": bits.length}}, cells);
}

function draw_parts(field) {
  if (!field.parts.length) return undefined;
  const lines = field.parts.map((part) => [
    el("dt", {}, part.name),
    el("dd", {}, part.value, part.meaning && ` (${part.meaning})`, part.sentence && `: ${part.sentence}`),
  ]);
  return el("dl.parts", {}, lines);
}

// One octet in every spelling that a reader may want.
function octet_words(octet) {
  const sign = octet > 0x20 && octet < 0x7f ? `, '${String.fromCharCode(octet)}' in ASCII` : "";
  const bits = bits_of([octet]);
  return `0x${hex2(octet)} = ${octet} = ${bits.slice(0, 4)} ${bits.slice(4)} in binary${sign}`;
}
