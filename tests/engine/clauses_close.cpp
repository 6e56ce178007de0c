// SPDX-License-Identifier: Apache-2.0
// The end without an error: half-close, draining, FIN and FIN; and the loss of the connection.
#include <catch2/catch.hpp>

#include "tests/engine/rogue.hpp"

namespace weft::engine::test::close_clauses {
namespace {

using rdmap::Opcode;

struct Stream : Rogue {
  Stream() {
    end.memory.add(1, 1000);
    establish();
    heard();
  }
  void post(WorkRequest request) { require(end.engine.post(request).has_value(), "post"); }
};

constexpr rdmap::LocalSegment kAll{0, 1000, 1};

TEST_CASE("What was posted goes out before our FIN, and nothing can be posted after it",
          "[DDP-6.2.1-02][DDP-6.2.1-03][RDMAP-6.2-02]") {
  Stream rogue;
  rogue.post(write_of(1, kAll, 9, 0));
  rogue.post(read_of(2, kAll, 9, 0));
  rogue.end.engine.close(rogue.now);
  CHECK(rogue.end.engine.post(write_of(3, kAll, 9, 0)).error() == PostError::kNotConnected);
  CHECK(rogue.heard().size() == 2);
  CHECK(rogue.end.engine.disposition() == Disposition::kOpen);  // the Read is not answered
  rogue.tagged(Opcode::kReadResponse, 1, 0, pattern(1000));
  CHECK(rogue.end.count<SendCompleted>() == 2);
  CHECK(rogue.end.engine.disposition() == Disposition::kShutdownWrite);
  CHECK(rogue.heard().empty());  // no Terminate
  rogue.fin();
  CHECK(rogue.end.first<Closed>()->graceful);
  CHECK(rogue.end.engine.disposition() == Disposition::kClose);
}

TEST_CASE("After our FIN the other direction is still received", "[DDP-6.2.1-08][MPA-7.2-01]") {
  Stream rogue;
  rogue.end.memory.post_receive(1, 64);
  rogue.end.engine.close(rogue.now);
  REQUIRE(rogue.end.engine.disposition() == Disposition::kShutdownWrite);
  rogue.untagged(Opcode::kSend, 1, pattern(8));
  CHECK(rogue.end.count<Received>() == 1);
}

TEST_CASE("The peer's FIN is told, and we may go on sending",
          "[DDP-6.2.1-05][DDP-6.2.1-06][MPA-7.2-02][DDP-3-11][DDP-3-12][MPA-3-13]") {
  Stream rogue;
  rogue.fin();
  CHECK(rogue.end.count<PeerClosed>() == 1);
  CHECK(rogue.end.count<Closed>() == 0);
  rogue.post(write_of(1, kAll, 9, 0));
  CHECK(rogue.heard().size() == 1);
  CHECK(rogue.end.first<SendCompleted>()->status == WorkStatus::kSuccess);
  rogue.end.engine.close(rogue.now);  // DDP-6.2.1-07
  rogue.end.poll();
  CHECK(rogue.end.first<Closed>()->graceful);
}

TEST_CASE("Our FIN is due when the user asks, after the peer's", "[DDP-6.2.1-07][DDP-3-13]") {
  Stream rogue;
  rogue.fin();
  CHECK(rogue.end.engine.disposition() == Disposition::kOpen);
  rogue.end.engine.close(rogue.now);
  CHECK(rogue.end.engine.disposition() == Disposition::kClose);
}

TEST_CASE("Who leaves has sent all that was complete, and takes nothing more", "[RDMAP-6.2-02][DDP-6.2.1-02]") {
  Stream rogue;
  rogue.end.memory.post_receive(9, 64);
  rogue.post(write_of(1, kAll, 9, 0));
  CHECK(rogue.heard().size() == 1);
  rogue.end.engine.leave(rogue.now);
  CHECK(rogue.heard().empty());  // no Terminate
  CHECK(rogue.end.engine.disposition() == Disposition::kShutdownWrite);
  rogue.untagged(Opcode::kSend, 1, pattern(8));
  rogue.tagged(Opcode::kWrite, 1, 0, pattern(8));
  CHECK(rogue.end.count<Received>() == 0);
  CHECK(rogue.end.memory.octets_placed == 0);
  SECTION("until the peer closes, too") { rogue.fin(); }
  SECTION("or is not waited for any longer") { rogue.wait(Config{}.close_timeout); }
  CHECK(rogue.end.count<Closed>() == 1);
  CHECK(rogue.end.engine.disposition() == Disposition::kClose);
}

TEST_CASE("Who leaves owes no response any more, and says so", "[RDMAP-6.2.1-01][RDMAP-5.4-10]") {
  Stream rogue;
  rogue.read_request(1, {{7}, {0}, 1000, {1}, {0}});
  rogue.end.engine.leave(rogue.now);
  const auto terminate = rogue.terminate();  // and no response
  REQUIRE(terminate);
  CHECK(terminate->error == rdmap::ErrorCode{rdmap::Layer::kRdmap, 0, 0});
  CHECK(rogue.end.count<ProtocolError>() == 0);
  CHECK(rogue.end.engine.disposition() == Disposition::kShutdownWrite);
  rogue.wait(Config{}.close_timeout);
  CHECK(rogue.end.engine.disposition() == Disposition::kReset);  // the kernel keeps nothing that the peer has not read
}

TEST_CASE("A FIN inside a message is no graceful close", "[DDP-5.2-04][DDP-6.2.1-02][DDP-6.2.2-05][MPA-8-01]") {
  Stream rogue;
  rogue.end.memory.post_receive(9, 64);
  rogue.post(read_of(1, kAll, 9, 0));
  rogue.heard();
  const auto begin = GENERATE(Opcode::kSend, Opcode::kWrite, Opcode::kReadResponse);
  if (begin == Opcode::kSend) {
    rogue.untagged(begin, 1, pattern(8), 0, false);
  } else {
    rogue.tagged(begin, 1, 0, pattern(8), false);
  }
  rogue.fin();
  CHECK(rogue.end.count<PeerClosed>() == 0);
  REQUIRE(rogue.end.count<ProtocolError>() == 1);
  CHECK(rogue.end.first<ProtocolError>()->report.clause == "DDP-5.2-04");
  const auto terminate = rogue.terminate();  // our direction works still
  REQUIRE(terminate);
  CHECK(terminate->error == rdmap::ErrorCode{rdmap::Layer::kLlp, 0, 1});
  CHECK(rogue.end.first<SendCompleted>()->status == WorkStatus::kFlushed);
  if (begin == Opcode::kSend) CHECK(rogue.end.first<Received>()->status == WorkStatus::kFlushed);
  REQUIRE(rogue.end.count<Closed>() == 1);
  CHECK_FALSE(rogue.end.first<Closed>()->graceful);
}

TEST_CASE("A FIN after the last segment of every message is a graceful one", "[DDP-5.2-04][MPA-7.2-02]") {
  Stream rogue;
  rogue.end.memory.post_receive(9, 64);
  rogue.untagged(Opcode::kSend, 1, pattern(8), 0, false);
  rogue.tagged(Opcode::kWrite, 1, 0, pattern(8), false);  // not siw's way, and allowed: it ends first
  rogue.tagged(Opcode::kWrite, 1, 8, pattern(8));
  rogue.untagged(Opcode::kSend, 1, pattern(8), 8);
  rogue.fin();
  CHECK(rogue.end.count<PeerClosed>() == 1);
  CHECK(rogue.end.count<ProtocolError>() == 0);
}

TEST_CASE("Octets after the peer's FIN are an error", "[DDP-6.2.1-04]") {
  Stream rogue;
  rogue.fin();
  rogue.tagged(Opcode::kWrite, 1, 0, pattern(8));
  CHECK(rogue.end.first<ProtocolError>()->report.clause == "DDP-6.2.1-04");
  CHECK(rogue.end.memory.octets_placed == 0);
}

TEST_CASE("A peer that never sends its FIN is not waited for", "[DDP-3-13]") {
  Stream rogue;
  rogue.end.engine.close(rogue.now);
  CHECK(rogue.end.engine.next_deadline() == rogue.now + Config{}.close_timeout);
  rogue.wait(std::chrono::seconds(6));
  REQUIRE(rogue.end.count<Closed>() == 1);
  CHECK_FALSE(rogue.end.first<Closed>()->graceful);
}

TEST_CASE("A Read that the peer's FIN left unanswered ends the stream", "[DDP-3-03][RDMAP-6.2-01]") {
  Stream rogue;
  rogue.post(read_of(1, kAll, 9, 0));
  rogue.post(write_of(2, kAll, 9, 0));
  rogue.flush();
  rogue.fin();
  rogue.flush();
  const auto done = rogue.end.all<SendCompleted>();
  REQUIRE(done.size() == 2);
  CHECK(done[0].status == WorkStatus::kFlushed);
  CHECK(rogue.end.count<Closed>() == 1);
  CHECK_FALSE(rogue.end.first<Closed>()->graceful);
}

TEST_CASE("A lost connection flushes all and says so last",
          "[DDP-6.2.2-01][DDP-6.2.2-05][MPA-8-01][RDMAP-6.2-03][DDP-3-03][DDP-7-01]") {
  Stream rogue;
  rogue.end.memory.post_receive(9, 64);
  rogue.untagged(Opcode::kSend, 1, pattern(8), 0, false);  // begun and never finished
  rogue.post(write_of(1, kAll, 9, 0));
  rogue.post(read_of(2, kAll, 9, 0));
  rogue.end.engine.connection_lost(rogue.now);
  rogue.end.poll();
  const auto done = rogue.end.all<SendCompleted>();
  REQUIRE(done.size() == 2);
  CHECK(done[0].status == WorkStatus::kFlushed);
  CHECK(done[1].status == WorkStatus::kFlushed);
  CHECK(rogue.end.first<Received>()->status == WorkStatus::kFlushed);
  CHECK(std::holds_alternative<Closed>(rogue.end.events.back()));
  CHECK_FALSE(rogue.end.first<Closed>()->graceful);
  rogue.flush();
  CHECK(rogue.heard_octets() == 0);
}

TEST_CASE("Abort is a reset", "[RDMAP-6.2-03]") {
  Stream rogue;
  rogue.post(write_of(1, kAll, 9, 0));
  rogue.end.engine.abort(rogue.now);
  rogue.end.poll();
  CHECK(rogue.end.engine.disposition() == Disposition::kReset);
  CHECK(rogue.end.first<SendCompleted>()->status == WorkStatus::kFlushed);
  CHECK(rogue.end.count<Closed>() == 1);
  rogue.end.engine.abort(rogue.now);
  rogue.end.engine.close(rogue.now);
  rogue.end.engine.connection_lost(rogue.now);
  rogue.fin();
  CHECK(rogue.end.count<Closed>() == 1);  // once, whatever follows
}

}  // namespace
}  // namespace weft::engine::test::close_clauses
