// SPDX-License-Identifier: Apache-2.0
// with_model.js LABORATORY.JS MODULE WEFT SAMPLES-FOLDER DIFFERENCES.csv: what `weft explain` says of a capture and what the engine does
// with it are the same. Of every capture each end is played against the octets that the other end sent. Compared are, row by row, where
// octets land and which MSN and MO are due next; and of the whole connection, what this end answers: startup frame, requests, Responses
// and Terminate. DIFFERENCES.csv lists the ends that differ, where they do first, and the reason; one that does not differ any more, or
// differs elsewhere, is a failure, too.
"use strict";
const {spawnSync} = require("child_process");
const fs = require("fs");
const path = require("path");
const {answers_captured, answers_played} = require("./answers.js");

const [scriptPath, modulePath, weft, folder, differencesPath] = process.argv.slice(2);
const {weftLaboratory} = require(scriptPath);
const kMostShown = 10;

const text = (value) => JSON.stringify(value);
const place_of = ({region, receive, offset, octets}) => ({...(region === undefined ? {receive} : {region}), offset, octets});

// What the model says of a row's effect, and what the laboratory does.
function effects(row, states, step) {
  const atomic = row.touches?.how === "atomic" ? [place_of(row.touches)] : [];
  const placed = row.placed?.octets > 0 ? [place_of(row.placed)] : atomic;
  const after = states[row.after];
  const {msn, mo, ord} = step.queues;
  const due = [after?.msn, after?.mo, after?.ord];
  return [
    {placed, due},
    {placed: step.placed.filter(({octets}) => octets > 0).map(place_of), due: after && row.kind === "fpdu" ? [msn, mo, ord] : due},
  ];
}

function captures_in(at) {
  return fs.readdirSync(at, {withFileTypes: true}).flatMap((entry) => {
    const full = path.join(at, entry.name);
    return entry.isDirectory() ? captures_in(full) : /\.pcap(ng)?$/.test(entry.name) ? [full] : [];
  });
}

// Exit codes: 2 is a damaged capture, whose beginning is explained; 3 one without iWARP.
function model_of(sample) {
  const {stdout, status} = spawnSync(weft, ["explain", "--json", sample], {maxBuffer: 1 << 28});
  if (![0, 2, 3].includes(status)) throw new Error(`weft explain ${sample}: exit code ${status}`);
  return stdout.length ? JSON.parse(stdout) : {connections: []};
}

const played = {rows: 0, ends: 0};

// The first thing in which an end differs; undefined where there is none. The laboratory's `error` has to be in the capture, too.
function difference(lab, model, connection, end) {
  let run;
  try {
    run = lab.start(connection.lab[end]);
  } catch (fault) {
    return `start: ${fault.message}`;
  }
  const steps = [run.first];
  for (const [index, row] of connection.rows.entries()) {
    if (row.from === end || !row.octets) continue;
    const octets = Buffer.from(row.octets, "hex");
    if (octets.length < row.size) return `row ${index}: not all of it is in the model`;
    const step = run.feed(octets, index);
    steps.push(step);
    if (step.refused) return `row ${index}: ${row.words}: ${step.refused}`;
    if (step.error) break;
    if (row.refused !== undefined) return `row ${index}: ${row.words}: refused in the capture, and not by the engine`;
    if (step.held > 0) return `row ${index}: ${row.words}: the engine waits for ${step.waiting}`;
    ++played.rows;
    const [says, does] = effects(row, connection.states, step).map(text);
    if (says !== does) return `row ${index}: ${row.words}:\n  model  ${says}\n  engine ${does}`;
  }
  if (steps.at(-1).state !== "closed") steps.push(run.end());
  run.free();
  ++played.ends;
  const captured = answers_captured(model, connection, end);
  const answered = answers_played(steps);
  for (const kind of Object.keys(captured)) {
    const at = captured[kind].findIndex((answer, i) => answer !== answered[kind][i]);
    if (at >= 0 || captured[kind].length !== answered[kind].length)
      return `${kind}: captured ${captured[kind].length}, answered ${answered[kind].length}, first difference: ${captured[kind][at]} and ${answered[kind][at < 0 ? captured[kind].length : at]}`;
  }
  return undefined;
}

function listed_differences() {
  const lines = fs.readFileSync(differencesPath, "utf8").trim().split("\n").slice(1);
  return new Map(lines.map((line) => {
    const [, end, what, reason] = /^([^,]*,[^,]*,[^,]*),([^,]*),(.+)$/.exec(line);
    return [end, {what, reason}];
  }));
}

async function main() {
  const lab = await weftLaboratory(fs.readFileSync(modulePath).toString("base64"));
  const listed = listed_differences();
  const faults = [];
  const samples = captures_in(folder);
  for (const sample of samples) {
    const model = model_of(sample);
    for (const connection of model.connections) {
      for (const end of ["initiator", "responder"]) {
        if (!connection.lab?.[end]) continue;
        const name = `${path.relative(folder, sample)},${connection.id},${end}`;
        const found = difference(lab, model, connection, end);
        const expected = listed.get(name)?.what;
        if (found?.split(":")[0] !== expected) faults.push(`${name}: ${found ?? "does not differ"}\n  listed: ${expected ?? "nothing"}`);
        listed.delete(name);
      }
    }
  }
  for (const name of listed.keys()) faults.push(`${name}: is listed, and there is no such end`);
  for (const fault of faults.slice(0, kMostShown)) console.log(fault);
  console.log(`${samples.length} captures, ${played.ends} ends, ${played.rows} rows, ${faults.length} faults`);
  process.exit(faults.length === 0 && samples.length > 300 && played.ends > 300 ? 0 : 1);
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
