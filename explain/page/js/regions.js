// SPDX-License-Identifier: Apache-2.0
// Registered regions and posted receives as bars: what has been placed so far, and where octets land now.

const kMostSpans = 300;

// Spans that touch become one; beyond kMostSpans, those closest together do, since no eye could part them.
function merged(spans) {
  const sorted = spans.filter(({octets}) => octets > 0).sort((a, b) => a.offset - b.offset);
  const out = [];
  for (const {offset, octets} of sorted) {
    const last = out.at(-1);
    if (last && offset <= last.offset + last.octets) last.octets = Math.max(last.octets, offset + octets - last.offset);
    else out.push({offset, octets});
  }
  return out.length > kMostSpans ? [{offset: out[0].offset, octets: out.at(-1).offset + out.at(-1).octets - out[0].offset}] : out;
}

function draw_span(kind, {offset, octets}, size) {
  const part = (n) => `${(100 * n) / Math.max(1, size)}%`;
  return el(`span.span.${kind}`, {style: {"inset-inline-start": part(offset), "inline-size": part(octets)}});
}

// `now` is what lands at this moment, `asked` what a request reads or changes.
function draw_bar({size, before, now, asked}) {
  return el(
    "div.bar",
    {"aria-hidden": "true"},
    merged(before).map((span) => draw_span("placed", span, size)),
    asked && draw_span("asked", asked, size),
    now && draw_span("now", now, size),
  );
}

function address(begin, offset) {
  return "0x" + (BigInt(begin ?? 0) + BigInt(offset)).toString(16);
}

const rights_chips = (rights) => (rights ?? []).map((right) => el("span.chip.right", {}, right));

function placed_words({offset, octets}, verb) {
  if (octets === 0) return `Nothing ${verb} here: the segment has no payload, but its place was checked.`;
  return `${count(octets, "octet")} ${verb} at offset ${offset.toLocaleString("en")}, up to ${(offset + octets - 1).toLocaleString("en")}.`;
}

const kHow = {
  read: "read from here by this request",
  atomic: "changed here by this request",
  invalidate: "closed: the STag is no longer valid",
};

function touch_words(asked) {
  if (asked.how === "invalidate") return "This message makes the STag invalid.";
  return `${count(asked.octets, "octet")} at offset ${asked.offset.toLocaleString("en")}: ${kHow[asked.how] ?? asked.how}.`;
}

function revoked_words(row_index) {
  return el(
    "p.lands",
    {},
    row_link(row_index, `Row ${row_index + 1}`),
    " has revoked this STag: every access with it is refused.",
  );
}

function draw_region(region, {before, now, asked, revoked}) {
  const gone = revoked !== undefined;
  return el(
    `div.region${now ? ".lit" : ""}${asked ? ".asked" : ""}${gone ? ".revoked" : ""}`,
    {},
    el(
      "p.region-head",
      {},
      el("b", {}, "STag ", el("code", {}, region.stag)),
      gone ? el("span.chip.right", {}, "revoked") : rights_chips(region.rights),
      el("span.size", {}, count(region.octets, "octet")),
    ),
    draw_bar({size: region.octets, before, now, asked: asked?.how === "invalidate" ? undefined : asked}),
    el(
      "p.bounds",
      {},
      el("code", {}, address(region.begin, 0)),
      el("code", {}, address(region.begin, Math.max(0, region.octets - 1))),
    ),
    now && el("p.lands", {}, placed_words(now, "placed")),
    asked && el("p.lands", {}, touch_words(asked)),
    gone && asked?.how !== "invalidate" && revoked_words(revoked),
    region.why && el("p.why", {}, upper_first(region.why), "."),
  );
}

function draw_receive(receive, {before, now, taken}) {
  const filled = merged(before).reduce((sum, span) => sum + span.octets, 0) + (now?.octets ?? 0);
  return el(
    `div.receive${now ? ".lit" : ""}`,
    {},
    el(
      "p.region-head",
      {},
      el("b", {}, `Queue ${receive.queue}, MSN ${receive.msn}`),
      el("span.size", {}, taken ? "taken" : `${filled.toLocaleString("en")} of ${count(receive.octets, "octet")}`),
    ),
    draw_bar({size: receive.octets, before, now}),
    now && el("p.lands", {}, placed_words(now, "placed")),
    taken && el("p.why", {}, "Immediate Data took it: the completion has its octets, and this buffer is as it was."),
  );
}

// The octets that land, eight a line, each line with its address.
const kDumpLines = 8;
const kDumpOctets = 8; // of a line
function draw_dump(octets, begin, offset) {
  const lines = [];
  for (let at = 0; at < octets.length && lines.length < kDumpLines; at += kDumpOctets) {
    const line = octets.subarray(at, at + kDumpOctets);
    const text = as_ascii(line);
    lines.push(
      `${begin === undefined ? String(offset + at).padStart(8) : address(begin, offset + at)}  ${hex_text(line).padEnd(3 * kDumpOctets - 1)}  ${text}`,
    );
  }
  const left = octets.length - kDumpLines * kDumpOctets;
  return el(
    "div.dump",
    {tabindex: 0, role: "group", "aria-label": "The octets that land"},
    el("pre", {}, lines.join("\n")),
    left > 0 && el("p.why", {}, `and ${count(left, "more octet")}`),
  );
}
