// SPDX-License-Identifier: Apache-2.0
// What one end answers, as far as its peer's octets decide it: of a capture's model, and of the laboratory's steps. Both become
// {startup, requests, responses, terminates}, lists of words to compare. The order between these kinds is a race between the ends'
// programs, and how a Response is cut is the sender's choice, so both are left out.
"use strict";

const kFields = {
  "RDMA Read Request": ["SinkSTag", "SinkTO", "RDMARDSZ", "SrcSTag", "SrcTO"],
  "Atomic Request": [
    "AOpCode", "Request Identifier", "Remote STag", "Remote Tagged Offset", "Add or Swap Data", "Add or Swap Mask", "Compare Data",
    "Compare Mask",
  ],
  "Atomic Response": ["Original Request Identifier", "Original Remote Data Value"],
  Terminate: ["Layer", "EType", "Error Code"],
};

// Consecutive segments of one Response: one entry, with the octets of all.
class Answers {
  constructor() {
    Object.assign(this, {lists: {startup: [], requests: [], responses: [], terminates: []}, open: undefined});
  }

  // `field` gives the value of a field by its name.
  add(words, field) {
    const what = /^(MPA (Request|Reply)|(RDMA Read|Atomic) (Request|Response)|Terminate)\b/.exec(words)?.[1];
    if (what === undefined) return;
    if (what.startsWith("MPA")) this.lists.startup.push(words);
    else if (what === "RDMA Read Response") this.response(field);
    else {
      const values = kFields[what].map((name) => field(name));
      const list = what === "Terminate" ? "terminates" : what.endsWith("Request") ? "requests" : "responses";
      this.lists[list].push(`${what} ${values.join(" ")}`);
    }
  }

  response(field) {
    const octets = Number(field("octets"));
    this.open ??= {stag: field("STag"), to: field("TO"), octets: 0};
    this.open.octets += octets;
    if (field("L") !== "1") return;
    this.lists.responses.push(`RDMA Read Response ${this.open.stag} ${this.open.to} ${this.open.octets}`);
    this.open = undefined;
  }
}

// Length, DDP header, and nothing more: what is left of the ULPDU is payload.
const payload_octets = (ulpdu) => parseInt(ulpdu, 16) - 14;

function answers_captured(model, connection, end) {
  const answers = new Answers();
  for (const row of connection.rows) {
    if (row.from !== end || !row.octets) continue;
    const fields = new Map(row.fields.map(([, , name, value]) => [model.names[name][1], model.strings[value]]));
    answers.add(row.words, (name) => (name === "octets" ? payload_octets(fields.get("ULPDU_Length")) : fields.get(name)));
  }
  return answers.lists;
}

function answers_played(steps) {
  const answers = new Answers();
  for (const frame of steps.flatMap((step) => step.out)) {
    const fields = new Map(frame.fields.map(([, , , name, value]) => [name, value]));
    answers.add(frame.words, (name) => (name === "octets" ? payload_octets(fields.get("ULPDU_Length")) : fields.get(name)));
  }
  return answers.lists;
}

module.exports = {answers_captured, answers_played};
