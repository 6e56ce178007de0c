// SPDX-License-Identifier: Apache-2.0
// Makes models as `weft explain --json` writes them, of connections that a test tells row by row.
import {FpduStream, be, hex, startup} from "./frames.mjs";

const kReferences = {
  ULPDU_Length: [["MPA-4.1-02"], "RFC 5044 section 4.1"],
  STag: [["DDP-4.2-01"], "RFC 5041 section 4.2"],
  CRC: [["MPA-4.4-13"], "RFC 5044 section 4.4"],
  Marker: [["MPA-4.3-05"], "RFC 5044 section 4.3"],
  PAD: [["MPA-4.1-03"], "RFC 5044 section 4.1"],
};
const kClauses = {
  "MPA-4.1-02": [5044, "4.1", "ULPDU_Length is a 16-bit unsigned integer in network byte order counting ULPDU octets only."],
  "MPA-4.1-03": [5044, "4.1", "All PAD octets are sent as zero."],
  "MPA-4.4-13": [5044, "4.4", "The CRC field is sent with its least significant octet first."],
  "MPA-4.3-05": [
    5044,
    "4.3",
    "FPDUPTR of a Marker that lies inside an FPDU holds the stream distance from that FPDU's ULPDU_Length field to the Marker.",
  ],
  "DDP-4.2-01": [
    5041,
    "4.2",
    "The STag names the buffer. </script><script>throw new Error('a clause became a script')</script><!--",
  ],
};

class Interned {
  constructor() {
    Object.assign(this, {list: [], index: new Map()});
  }
  of(key, value) {
    if (!this.index.has(key)) this.index.set(key, this.list.push(value) - 1);
    return this.index.get(key);
  }
}

const ipv4_of = (address) => address.split(":")[0].split(".").map(Number);

export class ModelMaker {
  constructor(source) {
    Object.assign(this, {source, names: new Interned(), strings: new Interned(), packets: [], connections: [], time: 0});
  }

  fields(entries) {
    return entries.map(([at, size, layer, name, value, meaning]) => [
      at,
      size,
      this.names.of(`${layer} ${name}`, [layer, name, ...(kReferences[name] ?? [[], ""])]),
      this.strings.of(value, value),
      ...(meaning ? [this.strings.of(meaning, meaning)] : []),
    ]);
  }

  packet(from, to, flags) {
    const octets = Buffer.concat([
      be(0x020000000002n, 6),
      be(0x020000000001n, 6),
      be(0x0800, 2),
      be(0x4500, 2),
      be(60, 2),
      be(0, 2),
      be(0x4000, 2),
      be(0x4006, 2),
      be(0, 2),
      Buffer.from(ipv4_of(from)),
      Buffer.from(ipv4_of(to)),
      be(from.split(":")[1], 2),
      be(to.split(":")[1], 2),
      be(1, 4),
      be(1, 4),
      be(0x5000 | flags, 2),
      be(65535, 2),
      be(0, 2),
      be(0, 2),
    ]);
    const text = (at, size) => `0x${hex(octets.subarray(at, at + size))}`;
    const plan = [
      [
        "ethernet",
        [
          [0, 6, "Destination", "02:00:00:00:00:02"],
          [6, 6, "Source", "02:00:00:00:00:01"],
          [12, 2, "Type", "0x0800", "IPv4"],
        ],
      ],
      [
        "ip",
        [
          [14, 1, "Version and IHL"],
          [15, 1, "DSCP and ECN"],
          [16, 2, "Total Length"],
          [18, 2, "Identification"],
          [20, 2, "Flags and Fragment Offset"],
          [22, 1, "Time to Live"],
          [23, 1, "Protocol", "6", "TCP"],
          [24, 2, "Header Checksum"],
          [26, 4, "Source Address", from.split(":")[0]],
          [30, 4, "Destination Address", to.split(":")[0]],
        ],
      ],
      [
        "tcp",
        [
          [34, 2, "Source Port", from.split(":")[1]],
          [36, 2, "Destination Port", to.split(":")[1]],
          [38, 4, "Sequence Number"],
          [42, 4, "Acknowledgment Number"],
          [46, 2, "Data Offset and Flags"],
          [48, 2, "Window"],
          [50, 2, "Checksum"],
          [52, 2, "Urgent Pointer"],
        ],
      ],
    ];
    const fields = plan.flatMap(([layer, list]) =>
      list.map(([at, size, name, value, meaning]) => [at, size, layer, name, value ?? text(at, size), meaning]),
    );
    return (
      this.packets.push({number: this.packets.length + 1, time: this.time, octets: hex(octets), fields: this.fields(fields)}) - 1
    );
  }

  connection(options) {
    return new ConnectionMaker(this, options);
  }

  model() {
    const clauses = Object.fromEntries(Object.entries(kClauses).map(([id, [rfc, section, text]]) => [id, {rfc, section, text}]));
    return {
      weft: "0.1.0",
      source: this.source,
      notes: [],
      names: this.names.list,
      strings: this.strings.list,
      clauses,
      packets: this.packets,
      connections: this.connections,
    };
  }
}

export class ConnectionMaker {
  constructor(maker, {markers = false, crc = true} = {}) {
    const address = {initiator: `10.0.0.1:${40000 + maker.connections.length}`, responder: "10.0.0.2:4420"};
    const memory = {initiator: {regions: [], receives: []}, responder: {regions: [], receives: []}};
    this.of = {
      id: maker.connections.length,
      ...address,
      roles_known: true,
      revision: 2,
      crc,
      markers: {initiator: markers, responder: markers},
      rows: [],
      messages: [],
      states: [],
      memory,
      findings: [],
      lab: {},
    };
    for (const role of ["initiator", "responder"])
      this.of.lab[role] = {
        role,
        crc,
        markers,
        revision: 2,
        enhanced: true,
        ird: 4,
        ord: 4,
        private_data: "",
        peer_to_peer: false,
        rtr: "none",
        regions: memory[role].regions,
        receives: [],
        posts: [],
      };
    const state = () => ({msn: [1, 1, 1, 1], mo: [0, 0, 0, 0], ird: 0, ord: 0, state: "startup"});
    Object.assign(this, {
      maker,
      options: {markers, crc},
      state: {initiator: state(), responder: state()},
      offset: {initiator: 0, responder: 0},
      streams: {initiator: new FpduStream({markers, crc}), responder: new FpduStream({markers, crc})},
    });
    maker.connections.push(this.of);
  }

  keep_state(end) {
    return this.of.states.push(structuredClone(this.state[end])) - 1;
  }

  row(from, kind, words, more, change = () => {}) {
    const to = from === "initiator" ? "responder" : "initiator";
    this.maker.time += 0.000037;
    const lower = this.maker.packet(this.of[from], this.of[to], kind === "tcp" ? 2 : 0x18);
    const before = this.keep_state(to);
    change(this.state[to], this.state[from]);
    this.of.rows.push({
      kind,
      from,
      time: this.maker.time,
      packet: lower + 1,
      words,
      lower,
      ...more,
      before,
      after: this.keep_state(to),
      findings: [],
    });
    return this.of.rows.length - 1;
  }

  tcp(from, words) {
    return this.row(from, "tcp", words, {});
  }

  put(from, kind, words, {octets, fields}, more, change) {
    const offset = this.offset[from];
    this.offset[from] += octets.length;
    return this.row(
      from,
      kind,
      words,
      {size: octets.length, octets: hex(octets), stream_offset: offset, fields: this.maker.fields(fields), ...more},
      change,
    );
  }

  start() {
    this.tcp("initiator", "SYN");
    this.tcp("responder", "SYN, ACK");
    this.put("initiator", "startup", "MPA Request", startup(false, this.options));
    this.put("responder", "startup", "MPA Reply", startup(true, this.options), {}, (receiver, sender) => {
      receiver.state = sender.state = "RDMA mode";
    });
  }

  message(from, what, octets, more = {}) {
    return this.of.messages.push({from, what, octets, rows: [], ...more}) - 1;
  }

  fpdu(from, message, words, [ulpdu, parts], more, change) {
    const {octets, fields, markers, pad, crc} = this.streams[from].fpdu(ulpdu, parts);
    const sum = 2 + ulpdu.length;
    const row = this.put(
      from,
      "fpdu",
      words,
      {octets, fields},
      {
        number: this.of.rows.filter((other) => other.kind === "fpdu" && other.from === from).length + 1,
        message,
        ...(markers.length
          ? {
              markers: markers.map(({at, pointer}) => ({
                at,
                pointer,
                points_at: `the FPDU's ULPDU_Length, ${pointer} octets before`,
              })),
            }
          : {}),
        pad: {
          octets: pad,
          words: `2 + ${ulpdu.length} = ${sum}, ${sum} mod 4 = ${sum % 4}: ${pad ? `${pad} octets of padding` : "no padding"}`,
        },
        crc: {
          field: `0x${crc.toString(16).padStart(8, "0")}`,
          computed: `0x${crc.toString(16).padStart(8, "0")}`,
          verdict: this.options.crc ? "good" : "not in use",
          words: `over the ${octets.length - 4} octets from the beginning to PAD`,
        },
        ...more,
      },
      change,
    );
    this.of.messages[message].rows.push(row);
    return row;
  }

  region(end, stag, begin, octets, rights, why) {
    return (
      this.of.memory[end].regions.push({stag: `0x${hex(be(stag, 4))}`, begin: `0x${hex(be(begin, 8))}`, octets, rights, why}) - 1
    );
  }

  receive(end, octets) {
    const list = this.of.memory[end].receives;
    this.of.lab[end].receives.push(octets);
    return list.push({queue: 0, msn: list.length + 1, octets}) - 1;
  }

  finding(row, finding) {
    this.of.rows[row].findings.push(this.of.findings.push({row, packet: this.of.rows[row].packet, ...finding}) - 1);
  }
}
