// SPDX-License-Identifier: Apache-2.0
// Startup frames and FPDUs as octets, from the RFCs' figures, with their fields as `weft dissect` names them.
import {crc32c} from "./crc32c.mjs";

export const be = (value, size) => {
  const octets = Buffer.alloc(size);
  for (let i = size - 1, left = BigInt(value); i >= 0; --i, left >>= 8n) octets[i] = Number(left & 255n);
  return octets;
};
export const hex = (octets) => Buffer.from(octets).toString("hex");
const number = (octets) => `0x${hex(octets)}`;
const spaced = (octets) => Array.from(octets, (octet) => octet.toString(16).padStart(2, "0")).join(" ");

// RFC 5044 section 7.1.1 with RFC 6581's enhanced data.
export function startup(reply, {markers = false, crc = true, data = Buffer.alloc(0)} = {}) {
  const key = Buffer.from(reply ? "MPA ID Rep Frame" : "MPA ID Req Frame");
  const flags = (markers ? 0x80 : 0) | (crc ? 0x40 : 0) | 0x10;
  const octets = Buffer.concat([key, Buffer.from([flags, 2]), be(4 + data.length, 2), be(4, 2), be(4, 2), data]);
  const fields = [
    [0, 16, "mpa", "Key", `"${key}"`],
    [16, 1, "mpa", "Flags", number([flags]), `M=${+markers} C=${+crc} R=0 S=1 Res=0`],
    ...[
      ["M", +markers],
      ["C", +crc],
      ["R", 0],
      ["S", 1],
      ["Res", 0],
    ].map(([name, value]) => [16, 0, "mpa", name, `${value}`]),
    [17, 1, "mpa", "Rev", "2"],
    [18, 2, "mpa", "PD_Length", `${4 + data.length}`],
    [20, 2, "mpa", "A, B, IRD", "00 04", "A=0 (client-server) B=0 IRD 4"],
    [22, 2, "mpa", "C, D, ORD", "00 04", "C=0 D=0 ORD 4"],
  ];
  if (data.length) fields.push([24, data.length, "mpa", "Private Data", spaced(data), `${data.length} octets`]);
  return {octets, fields};
}

// One direction's FPDUs: position counts octets after the startup frame, for the Markers.
export class FpduStream {
  constructor({markers, crc}) {
    Object.assign(this, {markers, crc, position: 0});
  }

  // `parts`: [size, layer, name, value, meaning] of the ULPDU, in order; size 0 for bits.
  fpdu(ulpdu, parts) {
    const pad = (4 - ((2 + ulpdu.length) % 4)) % 4;
    const content = Buffer.concat([be(ulpdu.length, 2), ulpdu, Buffer.alloc(pad)]);
    const [out, places, markers] = [[], [], []];
    const mark = () => {
      if (!this.markers || (this.position + out.length) % 512 !== 0) return;
      const pointer = places.length ? out.length - places[0] : 0;
      markers.push({at: out.length, pointer});
      out.push(0, 0, pointer >> 8, pointer & 255);
    };
    for (const octet of content) {
      mark();
      places.push(out.length);
      out.push(octet);
    }
    mark();
    const crc = this.crc ? crc32c(out) : 0;
    const crc_octets = be(crc, 4).reverse();
    out.push(...crc_octets);
    this.position += out.length;
    const octets = Buffer.from(out);
    return {octets, markers, pad, crc, fields: this.fields({ulpdu, parts, pad, places, markers, octets, crc_octets})};
  }

  fields({ulpdu, parts, pad, places, markers, octets, crc_octets}) {
    const fields = [[places[0], 2, "mpa", "ULPDU_Length", number(be(ulpdu.length, 2)), `${ulpdu.length} octets`]];
    let at = 2;
    let last = places[0];
    for (const [size, ...rest] of parts) {
      if (size > 0) last = places[at];
      fields.push([last, size, ...rest]);
      at += size;
    }
    if (pad) fields.push([places[at], pad, "mpa", "PAD", spaced(Buffer.alloc(pad))]);
    fields.push([octets.length - 4, 4, "mpa", "CRC", spaced(crc_octets), this.crc ? "right" : "CRCs are not in use"]);
    const own = markers.flatMap(({at: place, pointer}) => [
      [place, 4, "mpa", "Marker", `0000 ${hex(be(pointer, 2))}`, `the FPDU began ${pointer} octets before`],
      [place, 0, "mpa", "RESERVED", "0"],
      [place + 2, 0, "mpa", "FPDUPTR", `${pointer}`],
    ]);
    return [...own, ...fields]
      .map((field, order) => [field, order])
      .sort(([a, i], [b, j]) => a[0] - b[0] || i - j)
      .map(([field]) => field);
  }
}

const control = (tagged, last, opcode, name) => [
  [1, "ddp", "DDP Control", number([(tagged << 7) | (last << 6) | 1]), `T=${tagged} L=${last} Rsvd=0 DV=1`],
  ...[
    ["T", tagged],
    ["L", last],
    ["Rsvd", 0],
    ["DV", 1],
  ].map(([part, value]) => [0, "ddp", part, `${value}`]),
  [1, "rdmap", "RDMAP Control", number([0x40 | opcode]), `RV=1 Rsv=0 opcode ${opcode}: ${name}`],
  ...[
    ["RV", 1],
    ["Rsv", 0],
    ["Opcode", opcode],
  ].map(([part, value]) => [0, "rdmap", part, `${value}`]),
];
const payload_part = (payload) => (payload.length ? [[payload.length, "ulp", "payload", spaced(payload.subarray(0, 16))]] : []);
const wide = (size, layer, name, value, meaning) => [size, layer, name, number(be(value, size)), ...(meaning ? [meaning] : [])];

export function tagged({opcode, name, stag, to, payload, last = 1}) {
  const ulpdu = Buffer.concat([Buffer.from([(1 << 7) | (last << 6) | 1, 0x40 | opcode]), be(stag, 4), be(to, 8), payload]);
  return [
    ulpdu,
    [...control(1, last, opcode, name), wide(4, "ddp", "STag", stag), wide(8, "ddp", "TO", to), ...payload_part(payload)],
  ];
}

// `header` are the parts of an RDMAP header that stands where other messages have payload.
export function untagged({opcode, name, queue, msn, mo = 0, stag = 0, payload, last = 1, header}) {
  const ulpdu = Buffer.concat([
    Buffer.from([(last << 6) | 1, 0x40 | opcode]),
    be(stag, 4),
    be(queue, 4),
    be(msn, 4),
    be(mo, 4),
    payload,
  ]);
  return [
    ulpdu,
    [
      ...control(0, last, opcode, name),
      wide(4, "rdmap", "Invalidate STag", stag, stag ? "" : "not used by this message"),
      wide(4, "ddp", "QN", queue),
      wide(4, "ddp", "MSN", msn),
      wide(4, "ddp", "MO", mo),
      ...(header ?? payload_part(payload)),
    ],
  ];
}

export function read_request({sink_stag, sink_to, octets, source_stag, source_to, msn}) {
  const values = [
    [4, "SinkSTag", sink_stag],
    [8, "SinkTO", sink_to],
    [4, "RDMARDSZ", octets],
    [4, "SrcSTag", source_stag],
    [8, "SrcTO", source_to],
  ];
  const header = values.map(([size, name, value]) =>
    wide(size, "rdmap", name, value, name === "RDMARDSZ" ? `${octets} octets to read` : ""),
  );
  return untagged({
    opcode: 1,
    name: "RDMA Read Request",
    queue: 1,
    msn,
    payload: Buffer.concat(values.map(([size, , value]) => be(value, size))),
    header,
  });
}

// Layer 1, type 1, code 0 with the header of the segment that was refused: RFC 5040 section 4.8.
export function terminate({layer, type, code, sentence, segment}) {
  const quoted = segment.subarray(0, 14);
  const payload = Buffer.concat([Buffer.from([(layer << 4) | type, code, 0xc0, 0]), be(segment.length, 2), quoted]);
  const header = [
    [
      1,
      "rdmap",
      "Layer and EType",
      number([(layer << 4) | type]),
      `layer ${layer}, type ${type}, code ${number([code])}: ${sentence}`,
    ],
    [0, "rdmap", "Layer", `${layer}`],
    [0, "rdmap", "EType", `${type}`],
    [1, "rdmap", "Error Code", number([code])],
    [2, "rdmap", "HdrCt and Reserved", "0xc000", "M=1 D=1 R=0"],
    ...[
      ["M", 1],
      ["D", 1],
      ["R", 0],
      ["Reserved", 0],
    ].map(([name, value]) => [0, "rdmap", name, `${value}`]),
    [2, "rdmap", "DDP Segment Length", number(be(segment.length, 2))],
    [14, "rdmap", "Terminated DDP Header", spaced(quoted)],
  ];
  return untagged({opcode: 7, name: "Terminate", queue: 2, msn: 1, payload, header});
}
