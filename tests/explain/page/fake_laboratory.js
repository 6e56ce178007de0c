// SPDX-License-Identifier: Apache-2.0
// A laboratory for the page's own tests, where the real one is not built: it reads FPDUs without Markers, checks their CRC and the STag
// of tagged ones, and answers as explain/laboratory/laboratory.js does. A classic script, put into the page in place of that.

async function weftLaboratory() {
  const crc32c = (octets) => {
    let crc = 0xffffffff;
    for (const octet of octets) {
      crc ^= octet;
      for (let bit = 0; bit < 8; ++bit) crc = crc & 1 ? (crc >>> 1) ^ 0x82f63b78 : crc >>> 1;
    }
    return (crc ^ 0xffffffff) >>> 0;
  };
  const hex = (octets) => Array.from(octets, (octet) => octet.toString(16).padStart(2, "0")).join("");
  const word = (octets, at, size) => octets.slice(at, at + size).reduce((sum, octet) => sum * 256 + octet, 0);
  const terminate = (layer, type, code) => ({
    octets: `001641470000000000000002000000010000000${"0"}${layer}${type}0${code}000000000000`,
    words: `Terminate: layer ${layer}, type ${type}, code 0x0${code}`,
    fields: [
      [0, 2, "mpa", "ULPDU_Length", "0x0016", "22 octets"],
      [2, 1, "ddp", "DDP Control", "0x41", "T=0 L=1"],
      [2, 0, "ddp", "T", "0", ""],
      [3, 1, "rdmap", "RDMAP Control", "0x47", "opcode 7: Terminate"],
      [4, 4, "rdmap", "Invalidate STag", "0x00000000", ""],
      [8, 4, "ddp", "QN", "0x00000002", ""],
      [12, 4, "ddp", "MSN", "0x00000001", ""],
      [16, 4, "ddp", "MO", "0x00000000", ""],
      [20, 1, "rdmap", "Layer and EType", `0x${layer}${type}`, `layer ${layer}, type ${type}`],
      [21, 1, "rdmap", "Error Code", `0x0${code}`, ""],
    ],
  });
  const start = (script) => {
    let held = [];
    let state = "startup";
    let sends = 0;
    const step = (more) => ({
      consumed: 0,
      state,
      waiting: state === "startup" ? "the peer's startup frame" : state === "closed" ? "" : "an FPDU",
      queues: {msn: [sends + 1, 1, 1, 1], ird: 0, ord: 0},
      ...more,
    });
    const fail = (layer, type, code, sentence, clause) => {
      state = "closed";
      return step({error: {layer, type, code, sentence, clause, remote: false}, out: [terminate(layer, type, code)]});
    };
    const take_startup = () => {
      held = held.slice(24);
      state = "RDMA mode";
      return step({events: [{what: "startup", words: "both ends are in RDMA mode"}]});
    };
    const take_fpdu = (octets) => {
      const body = octets.slice(0, -4);
      if (script.crc && crc32c(body) !== word([...octets.slice(-4)].reverse(), 0, 4))
        return fail(2, 0, 2, "the CRC of the FPDU is wrong", "MPA-4.4-13");
      const payload = (from) => octets.slice(from, 2 + word(octets, 0, 2));
      if (!(octets[2] & 0x80)) {
        const placed = {receive: sends, offset: 0, octets: payload(20).length, hex: hex(payload(20))};
        sends += 1;
        return step({placed: [placed], events: [{what: "message delivered", words: "to the receive posted first"}]});
      }
      const region = script.regions.findIndex(({stag}) => Number(stag) === word(octets, 4, 4));
      if (region < 0) return fail(1, 1, 0, "the STag is invalid, or allows no placement", "DDP-4.2-01");
      const offset = Number(BigInt(`0x${hex(octets.slice(8, 16))}`) - BigInt(script.regions[region].begin));
      return step({placed: [{region, offset, octets: payload(16).length, hex: hex(payload(16))}]});
    };
    const next = () => {
      if (state === "startup") return held.length >= 24 ? take_startup() : undefined;
      const size = held.length < 2 ? Infinity : Math.ceil((2 + word(held, 0, 2)) / 4) * 4 + 4;
      if (held.length < size) return undefined;
      const octets = held.slice(0, size);
      held = held.slice(size);
      return take_fpdu(octets);
    };
    return {
      feed(octets) {
        if (state === "closed") return step();
        held.push(...octets);
        const all = {consumed: octets.length};
        for (let more = next(); more; more = state === "closed" ? undefined : next()) {
          for (const list of ["events", "placed", "out"]) if (more[list]) (all[list] ??= []).push(...more[list]);
          if (more.error) all.error = more.error;
        }
        return step(all);
      },
      end() {
        state = "closed";
        return step({events: [{what: "closed", words: "the peer has ended its stream"}]});
      },
    };
  };
  return {start, crc32c};
}
