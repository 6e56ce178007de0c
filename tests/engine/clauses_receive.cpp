// SPDX-License-Identifier: Apache-2.0
// Receives: the stall and its end, zero length, invalidation at delivery, Immediate Data.
#include <catch2/catch.hpp>

#include "tests/engine/rogue.hpp"

namespace weft::engine::test::receive_clauses {
namespace {

using rdmap::Opcode;
using Want = ReceiveResult::Want;

struct Stream : Rogue {
  explicit Stream(const Config& config = responder()) : Rogue(config) {
    end.memory.add(1, 1000);
    establish();
    heard();
  }
  void more_receives(std::uint64_t cookie, std::size_t capacity) {
    end.memory.post_receive(cookie, capacity);
    offer();
  }
};

TEST_CASE("A Send that finds no receive stops the stream until there is one", "[DDP-7.1-04][DDP-7.1-02]") {
  Stream rogue;
  rogue.untagged(Opcode::kSend, 1, pattern(8));
  CHECK(rogue.end.last.want == Want::kReceive);
  rogue.tagged(Opcode::kWrite, 1, 0, pattern(4));  // waits after it
  CHECK(rogue.end.memory.octets_placed == 0);
  rogue.offer();
  CHECK(rogue.end.last.want == Want::kReceive);
  rogue.more_receives(5, 64);
  CHECK(rogue.end.first<Received>()->cookie == 5);
  CHECK(rogue.end.memory.octets_placed == 12);
  CHECK(rogue.end.last.want == Want::kMore);
  CHECK_FALSE(rogue.end.engine.next_deadline());
}

TEST_CASE("With Markers a stalled Send is the same when it goes on", "[DDP-7.1-04][MPA-4.3-18]") {
  Config config = responder();
  config.mpa.markers = true;
  Pair pair(initiator(), config);
  establish(pair);
  pair.a.memory.add(10, 3000).octets = pattern(3000);
  const rdmap::LocalSegment all{0, 3000, 10};
  require(pair.a.engine.post(send_of(1, all)).has_value(), "post");
  pair.run();
  REQUIRE(pair.b.last.want == Want::kReceive);
  pair.run();
  pair.b.memory.post_receive(1, 3000);
  pair.run();
  CHECK(pair.b.memory.received()[1] == pattern(3000));
}

TEST_CASE("But not for ever", "[DDP-7.1-06][DDP-7.1-03]") {
  Stream rogue;
  rogue.untagged(Opcode::kSend, 1, pattern(8));
  rogue.wait(std::chrono::seconds(31));
  const auto terminate = rogue.terminate();
  REQUIRE(terminate);
  CHECK(terminate->error == rdmap::error_code(ddp::UntaggedError::kNoBuffer));
  CHECK(terminate->segment_length == 26);
}

TEST_CASE("The clock of a stall runs until the stream goes on, whatever others do with receives", "[DDP-7.1-06]") {
  Stream rogue;
  rogue.untagged(Opcode::kSend, 1, pattern(8));
  rogue.wait(std::chrono::seconds(20));
  rogue.offer();  // a receive was posted, and another stream was faster
  CHECK(rogue.end.last.want == Want::kReceive);
  CHECK(rogue.end.engine.next_deadline() == Instant{} + Config{}.no_receive_timeout);
  rogue.wait(std::chrono::seconds(11));
  CHECK(rogue.terminate()->error == rdmap::error_code(ddp::UntaggedError::kNoBuffer));
}

TEST_CASE("Each stall is told when it begins, and has a clock of its own", "[DDP-7.1-04]") {
  Stream rogue;
  rogue.untagged(Opcode::kSend, 1, pattern(8));
  rogue.offer();
  REQUIRE(rogue.end.count<ReceiveStalled>() == 1);
  CHECK(rogue.end.first<ReceiveStalled>()->stream_offset == 20);  // after the Write that established the connection
  rogue.wait(std::chrono::seconds(20));
  rogue.more_receives(5, 64);
  rogue.untagged(Opcode::kSend, 2, pattern(8));
  CHECK(rogue.end.count<ReceiveStalled>() == 2);
  CHECK(rogue.end.engine.next_deadline() == rogue.now + Config{}.no_receive_timeout);
  rogue.wait(std::chrono::seconds(31));
  CHECK(rogue.end.first<ProtocolError>()->report.clause == "DDP-7.1-02");  // and when it ends the stream
}

TEST_CASE("A connection lost while its Send waits for a receive is over at once", "[DDP-6.2.2-01][DDP-6.2.2-05]") {
  Stream rogue;
  require(rogue.end.engine.post({.cookie = 1, .operation = Operation::kRead}).has_value(), "post");
  rogue.flush();
  rogue.untagged(Opcode::kSend, 1, pattern(8));
  rogue.end.engine.connection_lost(rogue.now);
  rogue.end.poll();
  CHECK(rogue.end.first<SendCompleted>()->status == WorkStatus::kFlushed);
  CHECK(rogue.end.count<Closed>() == 1);
  CHECK_FALSE(rogue.end.engine.next_deadline());
}

TEST_CASE("Or not at all, if the user prefers", "[DDP-7.1-06]") {
  Config config = responder();
  config.no_receive = NoReceive::kTerminate;
  Stream rogue(config);
  rogue.untagged(Opcode::kSend, 1, pattern(8));
  CHECK(rogue.terminate()->error == rdmap::error_code(ddp::UntaggedError::kNoBuffer));
}

TEST_CASE("A wild MSN does not wait for a receive", "[DDP-7.1-09][SEC-5.1.1-02]") {
  Stream rogue;
  rogue.untagged(Opcode::kSend, 3, pattern(8));
  CHECK(rogue.terminate()->error == rdmap::error_code(ddp::UntaggedError::kMsnRange));
}

TEST_CASE("A FIN after a stalled Send waits its turn", "[MPA-8-01][DDP-5.4-02]") {
  Stream rogue;
  rogue.untagged(Opcode::kSend, 1, pattern(8));
  rogue.fin();
  CHECK(rogue.end.count<PeerClosed>() == 0);
  rogue.more_receives(5, 64);
  REQUIRE(rogue.end.events.size() >= 2);
  CHECK(rogue.end.count<Received>() == 1);
  CHECK(std::holds_alternative<PeerClosed>(rogue.end.events.back()));
}

TEST_CASE("Sends are delivered in order, whatever their kind",
          "[RDMAP-5.3-05][RDMAP-5.5-10][RDMAPX-6.3-03][RDMAPX-7-05][RDMAP-B-01]") {
  Stream rogue;
  for (std::uint64_t i = 0; i < 3; ++i) rogue.end.memory.post_receive(i, 64);
  rogue.untagged(Opcode::kSend, 1, pattern(8));
  rogue.untagged(Opcode::kImmediate, 2, pattern(8));
  rogue.untagged(Opcode::kSendSolicited, 3, {});
  const auto got = rogue.end.all<Received>();
  REQUIRE(got.size() == 3);
  for (std::uint64_t i = 0; i < 3; ++i) CHECK(got[i].cookie == i);
  CHECK(got[1].immediate);
  CHECK(got[2].solicited);
  CHECK(got[2].length == 0);  // RDMAP-5.3-11: a receive is used all the same
}

// As libibverbs has it: byte_len of a Write with Immediate Data is that of the Write.
TEST_CASE("Immediate Data has the length of the Write in front of it, and of no other", "[RDMAPX-6.1-02]") {
  Stream rogue;
  for (std::uint64_t i = 0; i < 4; ++i) rogue.end.memory.post_receive(i, 64);
  rogue.tagged(Opcode::kWrite, 1, 0, pattern(40));
  rogue.tagged(Opcode::kWrite, 1, 0, pattern(16), false);
  rogue.tagged(Opcode::kWrite, 1, 16, pattern(8));
  rogue.untagged(Opcode::kImmediate, 1, pattern(8));
  rogue.untagged(Opcode::kImmediate, 2, pattern(8));
  rogue.tagged(Opcode::kWrite, 1, 0, pattern(16));
  rogue.untagged(Opcode::kSend, 3, pattern(5));
  rogue.untagged(Opcode::kImmediate, 4, pattern(8));
  std::vector<std::uint64_t> lengths;
  for (const Received& one : rogue.end.all<Received>()) lengths.push_back(one.length);
  CHECK(lengths == std::vector<std::uint64_t>{24, 0, 5, 0});
}

// The octets of the two lie in different places, and a message that is both would be delivered with some missing.
TEST_CASE("A message does not turn from a Send into Immediate Data, or back",
          "[DDP-4.3-06][DDP-5.2-05][RDMAP-7.2-02][RDMAPX-8.2-02]") {
  Stream rogue;
  rogue.end.memory.post_receive(1, 64);
  SECTION("first Immediate Data") {
    rogue.untagged(Opcode::kImmediate, 1, pattern(8), 0, false);
    rogue.untagged(Opcode::kSend, 1, pattern(4), 8);
  }
  SECTION("first a Send") {
    rogue.untagged(Opcode::kSend, 1, pattern(4), 0, false);
    rogue.untagged(Opcode::kImmediate, 1, pattern(4), 4);
  }
  const auto terminate = rogue.terminate();
  REQUIRE(terminate);
  CHECK(terminate->error == rdmap::error_code(rdmap::OperationError::kUnexpectedOpcode));
  rogue.fin();
  REQUIRE(rogue.end.count<Received>() == 1);
  CHECK(rogue.end.first<Received>()->status == WorkStatus::kFlushed);
}

TEST_CASE("A Send whose segments differ in the kind of Send is one Send, of the kind of its last",
          "[DDP-4.3-08][DDP-5.2-05]") {
  Stream rogue;
  rogue.end.memory.post_receive(1, 64);
  rogue.untagged(Opcode::kSend, 1, pattern(4), 0, false);
  rogue.untagged(Opcode::kSendSolicited, 1, pattern(4), 4);
  const auto got = rogue.end.first<Received>();
  REQUIRE(got);
  CHECK(got->length == 8);
  CHECK(got->solicited);
}

TEST_CASE("Invalidation happens at delivery, not before", "[RDMAP-5.3-16][RDMAP-5.3-14][RDMAP-5.3-13][RDMAP-1.2-02]") {
  Stream rogue;
  rogue.end.memory.post_receive(1, 64);
  rogue.untagged(Opcode::kSendInvalidate, 1, pattern(8), 0, false, 1);
  rogue.tagged(Opcode::kWrite, 1, 0, pattern(4));  // between two segments of the Send: still valid
  CHECK(rogue.end.memory.regions()[1].valid);
  rogue.untagged(Opcode::kSendInvalidate, 1, pattern(8), 8, true, 1);
  CHECK_FALSE(rogue.end.memory.regions()[1].valid);
  CHECK(rogue.end.first<Received>()->invalidated == ddp::Stag{1});
  rogue.tagged(Opcode::kWrite, 1, 0, pattern(4));
  CHECK(rogue.terminate()->error == rdmap::error_code(ddp::TaggedError::kInvalidStag));
}

TEST_CASE("An RDMA Write is placed and the user does not hear of it", "[RDMAP-5.1-02][RDMAP-3.2-05][SEC-2.2.6-01]") {
  Stream rogue;
  rogue.tagged(Opcode::kWrite, 1, 10, pattern(8));
  CHECK(rogue.end.count<Received>() == 0);
  CHECK(std::ranges::equal(pattern(8), std::span(rogue.end.memory.regions()[1].octets).subspan(10, 8)));
}

TEST_CASE("A message may end exactly at 2^64", "[DDP-7.1-16][RDMAP-7.2-14]") {
  Stream rogue;
  constexpr std::uint64_t kLast = ~std::uint64_t{0};
  const auto& octets = rogue.end.memory.add(4, 16, kLast - 15).octets;
  rogue.tagged(Opcode::kWrite, 4, kLast - 7, pattern(8));
  CHECK(std::ranges::equal(pattern(8), std::span(octets).last(8)));
  CHECK_FALSE(rogue.terminate());
  rogue.tagged(Opcode::kWrite, 4, kLast - 7, pattern(9));
  CHECK(rogue.terminate()->error == rdmap::error_code(ddp::TaggedError::kOffsetWrap));
}

TEST_CASE("Requests of the peer are no business of our user",
          "[RDMAP-5.2.1-04][RDMAPX-5.2.1-17][RDMAP-5.2.1-03][RDMAPX-5.2.1-16][RDMAP-3.2-08]") {
  Stream rogue;
  const auto before = rogue.end.events.size();
  rogue.read_request(1, {{7}, {0}, 8, {1}, {0}});
  rogue.atomic_request(2, {{}, 1, {1}, {0}});
  CHECK(rogue.heard().size() == 2);
  CHECK(rogue.end.events.size() == before);
}

TEST_CASE("A peer cannot fill the event queue beyond its bound", "[bounds]") {
  Rogue rogue;
  rogue.establish();
  for (std::uint64_t i = 0; i < 200; ++i) rogue.end.memory.post_receive(i, 0);
  for (std::uint32_t msn = 1; msn <= 200; ++msn) {
    const auto fpdu = rogue.fpdu(Rogue::ulpdu(ddp::UntaggedHeader{true, 0x43, 0, 0, {msn}, {0}}, {}));
    rogue.end.unread.insert(rogue.end.unread.end(), fpdu.begin(), fpdu.end());
  }
  std::size_t polls = 0;
  while (!rogue.end.unread.empty()) {
    const auto got = rogue.end.engine.receive(rogue.end.unread, rogue.now);
    rogue.end.unread.erase(rogue.end.unread.begin(),
                           rogue.end.unread.begin() + static_cast<std::ptrdiff_t>(got.consumed));
    if (got.want != Want::kPollEvents) break;
    ++polls;
    rogue.end.poll();
  }
  rogue.end.poll();
  CHECK(polls == 3);
  CHECK(rogue.end.count<Received>() == 200);
}

}  // namespace
}  // namespace weft::engine::test::receive_clauses
