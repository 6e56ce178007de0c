// SPDX-License-Identifier: Apache-2.0
// page_object.js LABORATORY.JS MODULE: what laboratory.js gives the page, with a script as the page's model has it.
"use strict";
const assert = require("assert");
const fs = require("fs");

const [scriptPath, modulePath] = process.argv.slice(2);
const {weftLaboratory} = require(scriptPath);

const octetsOf = (hex) => Uint8Array.from(Buffer.from(hex.replaceAll(" ", ""), "hex"));
const hexOf = (octets) => Buffer.from(octets).toString("hex");
const REQUEST = octetsOf("4d504120494420526571204672616d65 40010000");
const SCRIPT = {
  role: "responder", revision: 2, crc: true, markers: false, ird: 4, ord: 4, peer_to_peer: false, rtr: "none",
  regions: [{stag: "0x00001100", begin: "0x0000000000005000", octets: 16, rights: ["remote write", "sink of reads"], why: "a test"}],
  receives: [8, 0],
  posts: [{before_row: 3, what: "atomic", source_stag: "0x7", source_to: "0x8", octets: 8,
    atomic: {what: "CmpSwap", data: "0x1", mask: "0x2", compare: "0x3", compare_mask: "0x4", request_id: "0x5"}}],
};

async function main() {
  const lab = await weftLaboratory(fs.readFileSync(modulePath).toString("base64"));
  assert.strictEqual(lab.crc32c(Buffer.from("123456789")), 0xe3069283, "the check value of CRC32C");
  assert.match(lab.scriptText(SCRIPT), /^region 0x00001100 0x0000000000005000 16 w$/m);
  assert.match(lab.scriptText(SCRIPT), /^post 3 cmp_swap 0 0 0x7 0x8 8 0x1 0x2 0x3 0x4$/m);
  assert.match(lab.scriptText(SCRIPT), /^receive 0$/m);
  assert.match(lab.scriptText(SCRIPT), /^first_atomic_id 0x5$/m);

  const run = lab.start(SCRIPT);
  assert.strictEqual(run.first.state, "startup");
  for (const octet of REQUEST.subarray(0, -1)) assert.strictEqual(run.feed(Uint8Array.of(octet), 0).consumed, 0);
  const established = run.feed(REQUEST.subarray(-1), 0);
  assert.strictEqual(established.state, "RDMA mode");
  assert.strictEqual(established.out[0].words, "MPA Reply: revision 1, CRC");
  assert.strictEqual(hexOf(octetsOf(established.out[0].octets).subarray(0, 16)), hexOf(Buffer.from("MPA ID Rep Frame")));

  const write = lab.repaired(octetsOf("0012 c140 00001100 0000000000005004 aabbccdd 00000000"));
  const placed = run.feed(write, 2);
  assert.deepStrictEqual(placed.placed, [{region: 0, offset: 4, octets: 4, hex: "aabbccdd"}]);
  assert.strictEqual(placed.out.length, 0, "the work of row 3 is not due");
  assert.deepStrictEqual(placed.in[0].fields.find((field) => field[3] === "STag").slice(0, 5), [4, 4, "ddp", "STag", "0x00001100"]);

  const edited = Uint8Array.from(write);
  edited[6] ^= 0x10;
  const refused = run.feed(lab.repaired(edited), 4);
  assert.strictEqual(refused.out[0].words.split(":")[0], "Atomic Request");
  assert.match(refused.out[1].words, /^Terminate: layer 1, type 1, code 0x00: the STag is invalid/);
  assert.deepStrictEqual([refused.error.layer, refused.error.type, refused.error.code, refused.error.remote], [1, 1, 0, false]);
  assert.strictEqual(refused.error.clause, "DDP-7.1-12");
  assert.strictEqual(run.end().state, "closed");
  assert.match(run.feed(write).refused, /FIN/);

  assert.throws(() => lab.start({role: "nobody"}), /line 1/);
  assert.throws(() => lab.start({role: "initiator", peer_to_peer: true, rtr: "none"}), /ready-to-receive/);
  assert.throws(() => run.feed(new Uint8Array(17 << 20)), RangeError);
  run.free();
  assert.match(run.feed(write).refused, /no such run/);
  const runs = Array.from({length: 9}, () => lab.start(SCRIPT));
  assert.match(runs[0].wait().refused, /no such run/, "eight are kept");
  assert.strictEqual(runs[8].wait().state, "closed", "the Request did not come in time");
  console.log("laboratory.js does what the page asks of it");
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
