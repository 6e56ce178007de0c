// SPDX-License-Identifier: Apache-2.0
// Order: of messages on the wire, of completions, of responses; credits and fences (RFC 5040 section 5.5, RFC 7306
// section 7).
#include <catch2/catch.hpp>

#include <cstring>

#include "tests/engine/rogue.hpp"

namespace weft::engine::test::order_clauses {
namespace {

using rdmap::Opcode;

struct Established2 : Rogue {
  explicit Established2(Config config = responder()) : Rogue(config) {
    end.memory.add(1, 64);
    establish();
    heard();
  }
  void post(WorkRequest request) { require(end.engine.post(request).has_value(), "post"); }
  std::vector<Opcode> opcodes() {
    std::vector<Opcode> all;
    for (const Heard& one : heard()) all.push_back(one.opcode);
    return all;
  }
  void read_response(const rdmap::ReadRequest& asked, const Octets& payload) {
    tagged(Opcode::kReadResponse, asked.sink_stag.value, asked.sink_offset.value, payload);
  }
};

constexpr rdmap::LocalSegment kWord{0, 8, 1};

TEST_CASE("Messages leave in the order of posting",
          "[RDMAP-5.5-17][DDP-5.3-01][RDMAP-5.1-07][RDMAP-5.3-09][RDMAP-5.2.1-07][RDMAP-1.1-02]") {
  Established2 rogue;
  rogue.post(write_of(1, kWord, 9, 0));
  rogue.post(read_of(2, kWord, 9, 0));
  rogue.post(send_of(3, kWord));
  rogue.post({.cookie = 4, .operation = Operation::kFetchAdd, .local = rdmap::LocalSegments(&kWord, 1)});
  rogue.post({.cookie = 5, .operation = Operation::kImmediate});
  CHECK(rogue.opcodes() ==
        std::vector{Opcode::kWrite, Opcode::kReadRequest, Opcode::kSend, Opcode::kAtomicRequest, Opcode::kImmediate});
}

TEST_CASE("Completions keep the order of posting across types", "[RDMAP-5.5-19][RDMAP-5.5-23]") {
  Established2 rogue;
  rogue.post(read_of(1, kWord, 9, 0));
  rogue.post(write_of(2, kWord, 9, 0));
  rogue.flush();
  CHECK(rogue.end.count<SendCompleted>() == 0);  // the Write is done and waits for the Read
  rogue.read_response({{1}, {0}, 8, {}, {}}, pattern(8));
  const auto done = rogue.end.all<SendCompleted>();
  REQUIRE(done.size() == 2);
  CHECK(done[0].cookie == 1);
  CHECK(done[1].cookie == 2);
}

TEST_CASE("A Send or Write is not complete before the transport took its last octet",
          "[RDMAP-5.5-18][DDP-5.4-01][RDMAP-5.5-09]") {
  Established2 rogue;
  rogue.post(send_of(1, kWord));
  rogue.end.engine.fill(rogue.end.batch, rogue.now);
  const std::size_t size = rogue.end.batch.size();
  rogue.end.engine.written(size - 1, rogue.now);
  rogue.end.poll();
  CHECK(rogue.end.count<SendCompleted>() == 0);
  rogue.end.engine.written(1, rogue.now);
  rogue.end.poll();
  CHECK(rogue.end.count<SendCompleted>() == 1);
}

TEST_CASE("No more Reads and atomics are outstanding than ORD, and what waits for credit holds up what follows",
          "[RDMAP-6.1-08][RDMAP-5.5-17][RDMAPX-5.2-03][SEC-6.4.3.3-04]") {
  Config config = responder();
  config.mpa.ord = 2;
  Established2 rogue(config);
  rogue.post(read_of(1, kWord, 9, 0));
  rogue.post({.cookie = 2, .operation = Operation::kFetchAdd, .local = rdmap::LocalSegments(&kWord, 1)});
  rogue.post(read_of(3, kWord, 9, 0));
  rogue.post(send_of(4, kWord));
  CHECK(rogue.opcodes() == std::vector{Opcode::kReadRequest, Opcode::kAtomicRequest});
  rogue.read_response({{1}, {0}, 8, {}, {}}, pattern(8));
  CHECK(rogue.opcodes() == std::vector{Opcode::kReadRequest, Opcode::kSend});
}

TEST_CASE("A fence waits for all earlier Reads and atomics", "[RDMAP-5.5-16]") {
  Established2 rogue;
  rogue.post(read_of(1, kWord, 9, 0));
  WorkRequest fenced = send_of(2, kWord);
  fenced.fence = true;
  rogue.post(fenced);
  rogue.post(write_of(3, kWord, 9, 0));
  CHECK(rogue.opcodes() == std::vector{Opcode::kReadRequest});
  rogue.read_response({{1}, {0}, 8, {}, {}}, pattern(8));
  CHECK(rogue.opcodes() == std::vector{Opcode::kSend, Opcode::kWrite});
}

TEST_CASE("A fence holds for a local operation, too", "[RDMAP-5.5-16]") {
  Established2 rogue;
  rogue.post(read_of(1, kWord, 9, 0));
  rogue.post({.cookie = 2, .operation = Operation::kLocal, .fence = true});
  rogue.flush();
  CHECK(rogue.end.memory.performed.empty());
  rogue.read_response({{1}, {0}, 8, {}, {}}, pattern(8));
  rogue.flush();
  CHECK(rogue.end.memory.performed == std::vector<std::uint64_t>{2});
}

TEST_CASE("Responses follow the order of the requests, Reads and atomics alike",
          "[RDMAP-5.2.2-07][RDMAP-5.5-24][RDMAPX-5.2.2-11][RDMAPX-5.4-10][RDMAPX-7-11][RDMAPX-7-15]") {
  Established2 rogue;
  rogue.read_request(1, {{7}, {0}, 8, {1}, {0}});
  rogue.atomic_request(2, {{.add_or_swap = 1}, 5, {1}, {0}});
  rogue.read_request(3, {{8}, {0}, 8, {1}, {0}});
  CHECK(rogue.opcodes() == std::vector{Opcode::kReadResponse, Opcode::kAtomicResponse, Opcode::kReadResponse});
}

TEST_CASE("Atomics are executed once each, in the order of delivery",
          "[RDMAPX-5.4-09][RDMAPX-7-12][RDMAPX-5.2.1-21][RDMAPX-5.2.2-03][RDMAPX-5.2.2-02][RDMAPX-5.2.1-22]") {
  Established2 rogue;
  for (std::uint32_t i = 1; i <= 3; ++i) rogue.atomic_request(i, {{.add_or_swap = i}, i, {1}, {0}});
  std::vector<std::uint64_t> originals;
  std::vector<std::uint32_t> identifiers;
  for (const Heard& one : rogue.heard()) {
    const auto response = rdmap::parse_atomic_response(one.payload);
    REQUIRE(response);
    originals.push_back(response->original);
    identifiers.push_back(response->request_id);
  }
  CHECK(originals == std::vector<std::uint64_t>{0, 1, 3});
  CHECK(identifiers == std::vector<std::uint32_t>{1, 2, 3});
  CHECK(rogue.heard().empty());
}

TEST_CASE("A Read is answered from what earlier Writes left", "[RDMAP-5.5-14][RDMAP-5.5-21][RDMAP-5.2.1-11]") {
  Established2 rogue;
  rogue.tagged(Opcode::kWrite, 1, 0, pattern(8, 5));
  rogue.read_request(1, {{7}, {0x70}, 8, {1}, {0}});
  const auto all = rogue.heard();
  REQUIRE(all.size() == 1);
  CHECK(all[0].payload == pattern(8, 5));
  const auto& header = std::get<ddp::TaggedHeader>(all[0].header);  // RDMAP-4.4-03, RDMAP-4.4-04
  CHECK(header.stag == ddp::Stag{7});
  CHECK(header.offset == ddp::TaggedOffset{0x70});
}

TEST_CASE("A Read Request in two segments is not started before the second",
          "[RDMAP-5.5-13][RDMAPX-5.4-04][DDP-5.4-03]") {
  Established2 rogue;
  Octets payload(28);
  rdmap::serialize(rdmap::ReadRequest{{7}, {0}, 8, {1}, {0}}, payload);
  rogue.untagged(Opcode::kReadRequest, 1, {payload.begin(), payload.begin() + 10}, 0, false);
  CHECK(rogue.heard().empty());
  rogue.untagged(Opcode::kReadRequest, 1, {payload.begin() + 10, payload.end()}, 10);
  CHECK(rogue.opcodes() == std::vector{Opcode::kReadResponse});
}

TEST_CASE("Each segment of a Read Response is placed where its offset says", "[DDP-5.2-05][RDMAP-5.5-26]") {
  Established2 rogue;
  const rdmap::LocalSegment half{16, 16, 1};
  rogue.post(read_of(1, half, 9, 0));
  rogue.flush();
  const Octets data = pattern(16, 7);
  rogue.tagged(Opcode::kReadResponse, 1, 16, {data.begin(), data.begin() + 8}, false);
  CHECK(rogue.end.count<SendCompleted>() == 0);
  rogue.tagged(Opcode::kReadResponse, 1, 24, {data.begin() + 8, data.end()});
  REQUIRE(rogue.end.count<SendCompleted>() == 1);
  CHECK(rogue.end.first<SendCompleted>()->status == WorkStatus::kSuccess);
  CHECK(std::ranges::equal(data, std::span(rogue.end.memory.regions()[1].octets).subspan(16, 16)));
}

TEST_CASE("A Read of nothing validates nothing and is answered with nothing", "[RDMAP-5.2.1-14][RDMAP-5.2.1-15]") {
  Established2 rogue;
  rogue.read_request(1, {{7}, {0}, 0, {0xdead}, {~0ULL}});
  const auto all = rogue.heard();
  REQUIRE(all.size() == 1);
  CHECK(all[0].opcode == Opcode::kReadResponse);
  CHECK(all[0].payload.empty());
  CHECK(std::get<ddp::TaggedHeader>(all[0].header).last);
}

TEST_CASE("Receiving does not wait for sending: Sends complete while Reads are unanswered",
          "[RDMAP-5.5-22][RDMAPX-5.4-07]") {
  Established2 rogue;
  rogue.end.memory.post_receive(3, 64);
  rogue.read_request(1, {{7}, {0}, 8, {1}, {0}});
  rogue.untagged(Opcode::kSend, 1, pattern(8));  // and nothing has been written meanwhile
  CHECK(rogue.end.count<Received>() == 1);
}

TEST_CASE("Requests and responses share the wire message by message", "[DDP-5.2-06][RDMAP-5.5-02]") {
  Config config = responder();
  config.emss = 200;
  Established2 rogue(config);
  rogue.end.memory.add(2, 1000);
  const rdmap::LocalSegment big{0, 1000, 2};
  for (std::uint64_t i = 0; i < 3; ++i) rogue.post(write_of(i, big, 9, 0));
  for (std::uint32_t i = 1; i <= 3; ++i) rogue.read_request(i, {{7}, {0}, 1000, {2}, {0}});
  std::vector<Opcode> messages;
  for (const Heard& one : rogue.heard()) {
    const auto& header = std::get<ddp::TaggedHeader>(one.header);
    if (messages.empty() || header.offset.value == 0) messages.push_back(one.opcode);
    CHECK(messages.back() == one.opcode);  // never a segment of another message in between
  }
  using enum Opcode;
  CHECK(std::ranges::count(messages, kReadResponse) == 3);
  // Taking turns: neither kind has to wait for all of the other.
  CHECK(messages != std::vector{kWrite, kWrite, kWrite, kReadResponse, kReadResponse, kReadResponse});
  CHECK(messages[0] != messages[1]);
  CHECK(messages[1] != messages[2]);
}

TEST_CASE("A responder holds IRD requests and no more",
          "[RDMAP-6.1-05][RDMAP-6.1-09][RDMAP-5.2.2-03][RDMAPX-5.2.2-07]"
          "[MPA2-3-01][SEC-2.2.8-01][SEC-6.4.3.3-02][SEC-6.4.3.3-03]") {
  Config config = responder();
  config.mpa.ird = 2;
  Established2 rogue(config);
  for (std::uint32_t i = 1; i <= 2; ++i) rogue.read_request(i, {{7}, {0}, 8, {1}, {0}});
  CHECK(rogue.end.count<ProtocolError>() == 0);
  CHECK(rogue.opcodes().size() == 2);
  for (std::uint32_t i = 3; i <= 4; ++i) rogue.atomic_request(i, {{}, 1, {1}, {0}});  // the answered ones count no more
  CHECK(rogue.end.count<ProtocolError>() == 0);
  rogue.atomic_request(5, {{}, 1, {1}, {0}});
  CHECK(rogue.end.count<ProtocolError>() == 1);
  bool refused = false;  // by queue 1 itself, which got one buffer back for each answer
  for (const Heard& one : rogue.heard()) {
    if (one.opcode != Opcode::kTerminate) continue;
    const auto report = rdmap::parse_terminate(one.payload);
    refused = report && report->as_rfc.error == rdmap::error_code(ddp::UntaggedError::kNoBuffer);
  }
  CHECK(refused);
}

TEST_CASE("A drained queue starts nothing and says when nothing is under way", "[RDMAP-5.5-19]") {
  Established2 rogue;
  rogue.post(read_of(1, kWord, 9, 0));
  rogue.flush();
  rogue.end.engine.drain(true);
  rogue.post(send_of(2, kWord));
  rogue.end.poll();
  CHECK(rogue.end.count<SendQueueDrained>() == 0);
  CHECK(rogue.opcodes() == std::vector{Opcode::kReadRequest});
  rogue.read_response({{1}, {0}, 8, {}, {}}, pattern(8));
  CHECK(rogue.end.count<SendQueueDrained>() == 1);
  CHECK(rogue.opcodes().empty());
  rogue.end.engine.drain(false);
  CHECK(rogue.opcodes() == std::vector{Opcode::kSend});
}

TEST_CASE("FPDUs follow the EMSS of the moment", "[DDP-3-01][DDP-3-02][DDP-5.2-02][MPA-3-03][MPA-4.5-04][MPA-4.5-06]") {
  Established2 rogue;
  rogue.end.memory.add(2, 4000);
  const rdmap::LocalSegment big{0, 4000, 2};
  rogue.post(write_of(1, big, 9, 0));
  TransmitBatch small(1500);
  rogue.end.engine.fill(small, rogue.now);
  CHECK(small.size() == 1460);
  rogue.end.sent.insert(rogue.end.sent.end(), small.pieces()[0].begin(), small.pieces()[0].end());
  rogue.end.engine.written(small.size(), rogue.now);
  rogue.end.engine.set_emss(536);
  const auto all = rogue.heard();
  REQUIRE(all.size() > 2);
  CHECK(all[0].payload.size() == 1460 - 6 - 14);
  CHECK(all[1].payload.size() == 536 - 6 - 14);
}

}  // namespace
}  // namespace weft::engine::test::order_clauses
