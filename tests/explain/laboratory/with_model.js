// SPDX-License-Identifier: Apache-2.0
// with_model.js LABORATORY.JS MODULE WEFT SAMPLES...: what `weft explain` says of a capture and what the engine does with it are the same.
// Each end is played against the octets that the other end sent: where they land, which MSN and MO are due next, how many requests of
// its own are not answered. A capture with an error is compared up to there.
"use strict";
const {execFileSync} = require("child_process");
const fs = require("fs");

const [scriptPath, modulePath, weft, ...samples] = process.argv.slice(2);
const {weftLaboratory} = require(scriptPath);

const placeOf = ({region, receive, offset, octets}) => ({...(region === undefined ? {receive} : {region}), offset, octets});
const text = (value) => JSON.stringify(value);

// What the model says of a row's effect, and what the laboratory does.
function effects(row, states, step) {
  const atomic = row.touches?.how === "atomic" ? [placeOf(row.touches)] : [];
  const placed = row.placed?.octets > 0 ? [placeOf(row.placed)] : atomic;
  const after = states[row.after];
  const {msn, mo, ord} = step.queues;
  return [
    {placed, due: [after?.msn, after?.mo, after?.ord]},
    {placed: step.placed.filter(({octets}) => octets > 0).map(placeOf), due: after && row.kind === "fpdu" ? [msn, mo, ord] : [after?.msn, after?.mo, after?.ord]},
  ];
}

async function main() {
  const lab = await weftLaboratory(fs.readFileSync(modulePath).toString("base64"));
  let rows = 0, wrong = 0;
  const play = (sample, connection, end) => {
    if (!connection.lab?.[end]) return;
    const run = lab.start(connection.lab[end]);
    for (const [index, row] of connection.rows.entries()) {
      if (row.from === end || !row.octets) continue;
      const octets = Buffer.from(row.octets, "hex");
      if (octets.length < row.size || row.refused !== undefined) break;
      const step = run.feed(octets, index);
      if (step.error || step.refused || step.held > 0) break;
      ++rows;
      const [model, engine] = effects(row, connection.states, step);
      if (text(model) === text(engine)) continue;
      if (++wrong <= 5) console.log(`${sample}, connection ${connection.id}, at the ${end}, row ${index}, ${row.words}:\n  model  ${text(model)}\n  engine ${text(engine)}`);
    }
    run.free();
  };
  for (const sample of samples) {
    const model = JSON.parse(execFileSync(weft, ["explain", "--json", sample], {maxBuffer: 1 << 28}));
    for (const connection of model.connections) {
      for (const end of ["initiator", "responder"]) play(sample, connection, end);
    }
  }
  console.log(`${rows} rows, ${wrong} differ`);
  process.exit(wrong === 0 && rows >= 20 * samples.length ? 0 : 1);
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
