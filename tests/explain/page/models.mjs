// SPDX-License-Identifier: Apache-2.0
// The models that the page is tried with: a small one that has something of everything, and one of 10,000 messages.
import {read_request, tagged, terminate, untagged} from "./frames.mjs";
import {ModelMaker} from "./model_maker.mjs";

const octets = (size, first = 0) => Buffer.from(Array.from({length: size}, (_, i) => (first + i) & 255));
const kStag = 0x9b513000;
const kTarget = 0x7f6947a61000n;
const kSinkStag = 0x0102aa00;
const kSink = 0x555ea7b87400n;

function put_write(of, total, cut, region) {
  const message = of.message("initiator", "RDMA Write", total);
  const segments = Math.ceil(total / cut);
  for (let i = 0; i < segments; ++i) {
    const payload = octets(Math.min(cut, total - i * cut), i);
    const words =
      segments === 1 ? "RDMA Write" : `RDMA Write, segment ${i + 1} of ${segments}${i === segments - 1 ? ", last" : ""}`;
    of.fpdu(
      "initiator",
      message,
      words,
      tagged({opcode: 0, name: "RDMA Write", stag: kStag, to: kTarget + BigInt(i * cut), payload, last: +(i === segments - 1)}),
      {placed: {region, offset: i * cut, octets: payload.length}},
    );
  }
}

function put_send(of, from, to, payload, msn, {opcode = 3, name = "Send", stag = 0} = {}) {
  const receive = of.receive(to, 64);
  const message = of.message(from, name, payload.length);
  return of.fpdu(
    from,
    message,
    name,
    untagged({opcode, name, queue: 0, msn, stag, payload}),
    {placed: {receive, offset: 0, octets: payload.length}},
    (state) => {
      state.msn[0] = msn + 1;
    },
  );
}

function put_read(of, msn, region, sink) {
  const asked = of.message("initiator", "RDMA Read Request", 0);
  of.fpdu(
    "initiator",
    asked,
    "RDMA Read Request",
    read_request({sink_stag: kSinkStag, sink_to: kSink, octets: 40, source_stag: kStag, source_to: kTarget + 16n, msn}),
    {touches: {region, offset: 16, octets: 40, how: "read"}},
    (state, sender) => {
      state.msn[1] = msn + 1;
      state.ird += 1;
      sender.ord += 1;
    },
  );
  const answer = of.message("responder", "RDMA Read Response", 40, {answers: asked});
  of.fpdu(
    "responder",
    answer,
    "RDMA Read Response",
    tagged({opcode: 2, name: "RDMA Read Response", stag: kSinkStag, to: kSink, payload: octets(40, 16)}),
    {placed: {region: sink, offset: 0, octets: 40}},
    (state, sender) => {
      state.ord -= 1;
      sender.ird -= 1;
    },
  );
}

// A Write with an STag that was never advertised, and the Terminate that answers it.
function put_refusal(of) {
  const wrong = tagged({opcode: 0, name: "RDMA Write", stag: 0xdeadbeef, to: 0n, payload: octets(8)});
  const write = of.fpdu("initiator", of.message("initiator", "RDMA Write", 8), "RDMA Write", wrong, {});
  const sentence = "the STag is invalid, or allows no placement";
  const answer = of.fpdu(
    "responder",
    of.message("responder", "Terminate", 0),
    "Terminate",
    terminate({layer: 1, type: 1, code: 0, sentence, segment: wrong[0]}),
    {},
    (state) => {
      state.state = "terminated";
    },
  );
  of.of.rows[write].refused = answer;
  of.finding(write, {
    clause: "DDP-4.2-01",
    severity: "violation",
    sentence: "The STag names the buffer.",
    message: "STag 0xdeadbeef was never seen before, and was refused.",
    from: "initiator",
    ...(of.options.markers ? {} : {at: 4, size: 4}),
  });
}

export function put_everything(maker, options) {
  const of = maker.connection(options);
  of.start();
  const region = of.region(
    "responder",
    kStag,
    kTarget,
    4096,
    ["remote write", "remote read"],
    "the target of RDMA Writes, the source of Reads",
  );
  const sink = of.region("initiator", kSinkStag, kSink, 64, ["sink of reads"], "the sink of RDMA Reads");
  put_send(of, "initiator", "responder", Buffer.from("Hello, RDDP! <b>not HTML</b>"), 1);
  put_write(of, 3000, 1386, region);
  put_write(of, 5, 1386, region);
  put_read(of, 1, region, sink);
  put_send(of, "responder", "initiator", octets(3), 1);
  put_send(of, "responder", "initiator", octets(9), 2, {opcode: 4, name: "Send with Invalidate", stag: kSinkStag});
  put_refusal(of);
  of.tcp("responder", "FIN");
  of.tcp("initiator", "FIN");
}

export function small_model() {
  const maker = new ModelMaker("small </script> & <i>capture</i>.pcap");
  put_everything(maker, {markers: true, crc: true});
  put_everything(maker, {markers: false, crc: true});
  return maker.model();
}

export function large_model(messages = 10000) {
  const maker = new ModelMaker("large.pcap");
  const of = maker.connection({markers: true, crc: false});
  of.start();
  const region = of.region("responder", kStag, kTarget, 1 << 20, ["remote write"], "the target of RDMA Writes");
  for (let i = 0; i < messages; ++i) {
    if (i % 4) {
      const payload = octets(64, i);
      of.fpdu(
        "initiator",
        of.message("initiator", "RDMA Write", 64),
        "RDMA Write",
        tagged({opcode: 0, name: "RDMA Write", stag: kStag, to: kTarget + BigInt((i * 100) % 1000000), payload}),
        {placed: {region, offset: (i * 100) % 1000000, octets: 64}},
      );
    } else {
      put_send(of, "initiator", "responder", octets(20, i), i / 4 + 1);
    }
  }
  of.tcp("initiator", "FIN");
  return maker.model();
}
