// SPDX-License-Identifier: Apache-2.0
// Where the octets of a field lie. A Marker may stand among them: then the field goes on after it, and its size does not count the
// Marker.

const kMarkerSize = 4;

// [{begin, end}], as many as the Markers make of it. `marker_ats` is sorted.
function ranges_of(field, marker_ats) {
  const ranges = [];
  let begin = field.at;
  let left = field.size;
  for (const at of marker_ats) {
    if (at + kMarkerSize <= begin || left === 0) continue;
    if (at <= begin) {
      begin = at + kMarkerSize;
      continue;
    }
    const here = Math.min(left, at - begin);
    if (here < left) {
      ranges.push({begin, end: begin + here});
      left -= here;
      begin = at + kMarkerSize;
    }
  }
  if (left > 0) ranges.push({begin, end: begin + left});
  return ranges;
}

function octets_in(octets, ranges) {
  const parts = ranges.map(({begin, end}) => octets.subarray(begin, end));
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

// Of a long range the beginning and the end are drawn: [{begin, end}] to draw, with what lies between left out.
const kShownHead = 64;
const kShownTail = 16;
const kShownMore = 1024;
const kShownWhole = 160;

function shown_of({begin, end}, more) {
  const head = kShownHead + more;
  if (end - begin <= Math.max(kShownWhole, head + 2 * kShownTail)) return [{begin, end}];
  return [
    {begin, end: begin + head},
    {begin: end - kShownTail, end},
  ];
}
