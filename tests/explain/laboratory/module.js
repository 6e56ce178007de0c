// SPDX-License-Identifier: Apache-2.0
// module.js MODULE: what the module asks of its surroundings, which is nothing: the core does no I/O, reads no clock and draws no
// random number. And its size.
"use strict";
const fs = require("fs");

// What the C++ library may import. Whatever is added here, a page has to provide.
const ALLOWED = [];
const MOST_OCTETS = 400 * 1024;

const octets = fs.readFileSync(process.argv[2]);
const module_ = new WebAssembly.Module(octets);
const imports = WebAssembly.Module.imports(module_).map(({module, name}) => module + "." + name);
const exports_ = WebAssembly.Module.exports(module_).map(({name}) => name);
const faults = imports.filter((name) => !ALLOWED.includes(name)).map((name) => "it imports " + name);
if (octets.length > MOST_OCTETS) faults.push(`it has ${octets.length} octets, more than ${MOST_OCTETS}`);
for (const name of ["memory", "_initialize", "weft_laboratory_start", "weft_laboratory_feed"]) {
  if (!exports_.includes(name)) faults.push("it does not export " + name);
}
console.log(faults.join("\n") || `the module imports nothing; it has ${octets.length} octets and exports ${exports_.length} names`);
process.exit(faults.length === 0 ? 0 : 1);
