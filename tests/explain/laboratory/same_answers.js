// SPDX-License-Identifier: Apache-2.0
// same_answers.js MODULE TABLE: the WebAssembly module answers each edit of the table, character by character, as the native
// laboratory did. It calls the module's own functions, so that no answer goes through a parser.
"use strict";
const fs = require("fs");

const [modulePath, tablePath] = process.argv.slice(2);
const core = new WebAssembly.Instance(new WebAssembly.Module(fs.readFileSync(modulePath)), {}).exports;
core._initialize();

const put = (octets) => {
  const at = core.weft_laboratory_room(octets.length);
  if (at === 0) throw new Error("no room");
  new Uint8Array(core.memory.buffer).set(octets, at);
};
const answer = () =>
  Buffer.from(core.memory.buffer, core.weft_laboratory_answer(), core.weft_laboratory_answer_size()).toString("latin1");

let answers = 0, wrong = 0;
const expect = (name, is, should) => {
  ++answers;
  if (is === should) return;
  if (++wrong <= 3) console.log(`${name}:\n  native ${should}\n  module ${is}`);
};

const edits = fs.readFileSync(tablePath, "utf8").trim().split("\n").map((line) => JSON.parse(line));
for (const edit of edits) {
  put(Buffer.from(edit.script));
  const run = core.weft_laboratory_start();
  expect(edit.name, answer(), edit.first);
  for (const act of edit.acts) {
    const octets = Buffer.from(act.octets, "hex");
    if (octets.length > 0) {
      put(octets);
      core.weft_laboratory_feed(run, act.row);
    } else {
      core.weft_laboratory_end(run);
    }
    expect(edit.name, answer(), act.answer);
  }
  core.weft_laboratory_stop(run);
}
console.log(`${edits.length} edits, ${answers} answers, ${wrong} differ`);
process.exit(edits.length >= 200 && wrong === 0 ? 0 : 1);
