// SPDX-License-Identifier: Apache-2.0
// Loads the laboratory: the protocol core of weft as WebAssembly. Plain JavaScript for a page or for node.
//
//   const lab = await weftLaboratory(base64);   // or the module's octets as a Uint8Array
//   const run = lab.start(script);              // SCRIPT of the model; throws an Error in words when it cannot be played
//   run.first                                   // STEP: the MPA Request of an initiator is in its `out`
//   run.feed(octets, row) -> STEP               // a Uint8Array, in whole or a single octet at a time. `row` is its row of
//                                               // the ladder: local work of rows up to it is posted first. Without a row
//                                               // all is
//   run.end() -> STEP                           // the peer's FIN
//   run.receive(size) -> STEP                   // post one more receive of so many octets
//   run.wait() -> STEP                          // let time pass up to the next time-out
//   run.free()                                  // not needed any more; of more than eight runs the oldest go by themselves
//   lab.crc32c(octets) -> number
//   lab.repaired(fpdu) -> a copy whose last four octets are the right CRC
//   lab.scriptText(script) -> the lines that explain/laboratory/script.hpp describes
//
// A STEP is what explain/laboratory/step.hpp has. `refused` in it says why the laboratory itself did not do something.
"use strict";

async function weftLaboratory(source) {
  const octets = typeof source === "string" ? Uint8Array.from(atob(source), (c) => c.charCodeAt(0)) : source;
  const core = (await WebAssembly.instantiate(octets, {})).instance.exports;
  core._initialize();
  const memory = () => new Uint8Array(core.memory.buffer); // it moves when it grows

  // A trap is a check of the core that failed, or no memory left: nothing in the module can be relied on then.
  let broken = null;
  const guarded = (call) => {
    if (broken) throw broken;
    try {
      return call();
    } catch (error) {
      if (error instanceof RangeError) throw error;
      broken = new Error("The laboratory has stopped (" + error.message + "). Load the page again.");
      throw broken;
    }
  };

  const put = (octets) => {
    const at = core.weft_laboratory_room(octets.length);
    if (at === 0) throw new RangeError("more than the laboratory takes at a time");
    memory().set(octets, at);
  };
  const answer = () => {
    const at = core.weft_laboratory_answer();
    return JSON.parse(new TextDecoder().decode(memory().subarray(at, at + core.weft_laboratory_answer_size())));
  };
  const step = (call) => guarded(() => (call(), answer()));

  const rightsOf = (words) => ["read", "write", "atomic"].filter((right) => words.includes("remote " + right)).map((right) => right[0]);
  const operandsOf = ({data, mask, compare, compare_mask}) => [data ?? 0, mask ?? 0, compare ?? 0, compare_mask ?? 0];
  const workOf = (post) => {
    const kinds = {FetchAdd: "fetch_add", CmpSwap: "cmp_swap"};
    return post.what === "atomic" ? kinds[post.atomic?.what] ?? "fetch_add" : post.what;
  };
  const scriptText = (script) => {
    const lines = [];
    const line = (...words) => lines.push(words.filter((word) => word !== undefined && word !== "").join(" "));
    for (const key of ["role", "revision", "ird", "ord", "no_receive", "emss"]) {
      if (script[key] !== undefined) line(key, script[key]);
    }
    for (const key of ["crc", "markers", "enhanced", "peer_to_peer", "reject"]) {
      if (script[key] !== undefined) line(key, script[key] ? 1 : 0);
    }
    const atomic = (script.posts ?? []).find((post) => post.atomic?.request_id !== undefined);
    if (atomic) line("first_atomic_id", atomic.atomic.request_id);
    if (script.rtr !== undefined) line("rtr", ...[script.rtr].flat());
    if (script.private_data) line("private_data", script.private_data);
    for (const region of script.regions ?? []) {
      line("region", region.stag, region.begin, region.octets, rightsOf(region.rights ?? []).join("") || "-", region.content);
    }
    for (const receive of script.receives ?? []) line("receive", receive.octets ?? receive);
    for (const post of [...(script.posts ?? [])].sort((a, b) => (a.before_row ?? 0) - (b.before_row ?? 0))) {
      line("post", post.before_row ?? 0, workOf(post), post.sink_stag ?? 0, post.sink_to ?? 0, post.source_stag ?? 0,
        post.source_to ?? 0, post.octets ?? 0, ...(post.atomic ? operandsOf(post.atomic) : []));
    }
    return lines.join("\n") + "\n";
  };

  const start = (script) => {
    let number = 0;
    const text = typeof script === "string" ? script : scriptText(script);
    const first = step(() => {
      put(new TextEncoder().encode(text));
      number = core.weft_laboratory_start();
    });
    if (number === 0) throw new Error(first.refused);
    return {
      first,
      feed: (octets, row = 0xffffffff) => step(() => (put(octets), core.weft_laboratory_feed(number, row))),
      end: () => step(() => core.weft_laboratory_end(number)),
      receive: (size) => step(() => core.weft_laboratory_receive(number, size)),
      wait: () => step(() => core.weft_laboratory_wait(number)),
      free: () => guarded(() => core.weft_laboratory_stop(number)),
    };
  };
  const crc32c = (octets) => guarded(() => (put(octets), core.weft_laboratory_crc32c() >>> 0));
  const repaired = (fpdu) => {
    const copy = Uint8Array.from(fpdu);
    const covered = copy.length - 4;
    new DataView(copy.buffer).setUint32(covered, crc32c(copy.subarray(0, covered)), true);
    return copy;
  };
  return {start, crc32c, repaired, scriptText};
}

if (typeof module !== "undefined") module.exports = {weftLaboratory};
