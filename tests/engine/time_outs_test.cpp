// SPDX-License-Identifier: Apache-2.0
// Peers that keep an established stream waiting: in the middle of an FPDU, with a closed window, or by silence
// (SEC-6.4.2-01). The clock is the test's.
#include <gtest/gtest.h>

#include <chrono>

#include "tests/engine/rogue.hpp"

namespace weft::engine::test {
namespace {

using namespace std::chrono_literals;
using What = TimedOut::What;

struct Peer : Rogue {
  explicit Peer(Config config) : Rogue(config) {
    end.memory.add(1, 4096);
    establish();
    heard();
  }
  [[nodiscard]] Octets write() { return fpdu(ulpdu(ddp::TaggedHeader{true, control(), {1}, {0}}, pattern(100))); }
  [[nodiscard]] bool deadline_is_set() const { return end.engine.next_deadline().has_value(); }
  [[nodiscard]] std::optional<What> timed_out() const {
    const auto event = end.first<TimedOut>();
    return event ? std::optional(event->what) : std::nullopt;
  }
  void post_write() { require(end.engine.post(write_of(1, {0, 4096, 1}, 9, 0)).has_value(), "post"); }
  static std::uint8_t control() { return rdmap::control_octet(rdmap::Opcode::kWrite); }
};

Config with(Config config, Duration Config::* timeout, Duration time) {
  config.*timeout = time;
  return config;
}

Octets part(const Octets& octets, std::size_t from, std::size_t to) {
  return {octets.begin() + static_cast<std::ptrdiff_t>(from), octets.begin() + static_cast<std::ptrdiff_t>(to)};
}

// --- In the middle of an FPDU

TEST(FpduTimeOut, EndsAStreamWhoseFpduIsNotComplete) {
  Peer peer(with(responder(), &Config::fpdu_timeout, 60s));
  const auto octets = peer.write();
  peer.send(part(octets, 0, 1));
  EXPECT_EQ(peer.end.engine.next_deadline(), peer.now + 60s);
  for (std::size_t i = 1; i < 60; ++i) {  // an octet a second sets nothing back
    peer.wait(1s);
    peer.send(part(octets, i, i + 1));
  }
  peer.wait(999ms);
  EXPECT_TRUE(peer.heard().empty());
  peer.wait(1ms);
  ASSERT_EQ(peer.end.count<ProtocolError>(), 1U);
  const ErrorReport report = peer.end.first<ProtocolError>()->report;
  EXPECT_EQ(report.sentence, "the peer did not send the rest of an FPDU in time");
  EXPECT_EQ(report.mpa_fault, mpa::Fault::kConnectionLost);
  EXPECT_EQ(report.stream_offset, 20U) << "where the FPDU begins: after an empty Write";
  EXPECT_EQ(peer.terminate()->error, (rdmap::ErrorCode{rdmap::Layer::kLlp, 0, 1}));
}

TEST(FpduTimeOut, EachFpduHasItsOwn) {
  Peer peer(with(responder(), &Config::fpdu_timeout, 60s));
  const auto first = peer.write(), second = peer.write();
  peer.send(part(first, 0, 10));
  peer.wait(59s);
  auto rest = part(first, 10, first.size());
  rest.insert(rest.end(), second.begin(), second.begin() + 10);
  peer.send(rest);
  EXPECT_EQ(peer.end.engine.next_deadline(), peer.now + 60s);
  peer.wait(59s);
  peer.send(part(second, 10, second.size()));
  EXPECT_FALSE(peer.deadline_is_set());
  EXPECT_EQ(peer.end.count<ProtocolError>(), 0U);
}

// A part of a TLS record, which the driver cannot present.
TEST(FpduTimeOut, RunsForAPartOfARecord) {
  Peer peer(with(responder(), &Config::fpdu_timeout, 60s));
  const auto holds_part = [&](bool on) { peer.end.engine.holds_part(on, peer.now); };
  holds_part(true);
  EXPECT_EQ(peer.end.engine.next_deadline(), peer.now + 60s);
  peer.wait(59s);
  holds_part(true);  // more octets of it set nothing back
  EXPECT_EQ(peer.end.engine.next_deadline(), peer.now + 1s);
  holds_part(false);  // it had no octets of an FPDU
  EXPECT_FALSE(peer.deadline_is_set());
  holds_part(true);
  peer.send(part(peer.write(), 0, 1));  // the octets of the first record
  holds_part(true);
  peer.wait(30s);
  holds_part(false);
  EXPECT_EQ(peer.end.engine.next_deadline(), peer.now + 30s) << "the FPDU is not complete";
  peer.wait(30s);
  EXPECT_EQ(peer.end.first<ProtocolError>()->report.sentence, "the peer did not send the rest of an FPDU in time");
  holds_part(true);
  EXPECT_EQ(peer.end.engine.next_deadline(), peer.now + Config{}.close_timeout) << "nothing of it will be read";
}

TEST(FpduTimeOut, OfZeroIsNone) {
  Peer peer(responder());
  peer.send(part(peer.write(), 0, 10));
  EXPECT_FALSE(peer.deadline_is_set());
}

// The user's turn, and no_receive_timeout's.
TEST(FpduTimeOut, DoesNotRunForASendThatWaitsForAReceive) {
  auto config = with(responder(), &Config::fpdu_timeout, 1s);
  config.no_receive_timeout = 30s;
  Peer peer(config);
  peer.untagged(rdmap::Opcode::kSend, 1, pattern(8));
  peer.send(part(peer.write(), 0, 10));
  EXPECT_EQ(peer.end.engine.next_deadline(), peer.now + 30s);
}

// --- Silence

TEST(IdleTimeOut, ClosesInOrder) {
  Peer peer(with(responder(), &Config::idle_timeout, 10s));
  peer.wait(9999ms);
  EXPECT_FALSE(peer.timed_out());
  peer.wait(1ms);
  EXPECT_EQ(peer.timed_out(), What::kIdle);
  EXPECT_EQ(peer.end.engine.disposition(), Disposition::kShutdownWrite);
  EXPECT_TRUE(peer.heard().empty()) << "no Terminate";
  peer.fin();
  EXPECT_TRUE(peer.end.first<Closed>()->graceful);
}

TEST(IdleTimeOut, RunsFromTheLastOctetOfEitherEnd) {
  Peer peer(with(responder(), &Config::idle_timeout, 10s));
  peer.wait(9s);
  peer.send(part(peer.write(), 0, 1));
  peer.wait(9s);
  EXPECT_FALSE(peer.timed_out());
  peer.post_write();
  peer.flush();
  peer.wait(9999ms);
  EXPECT_FALSE(peer.timed_out());
  peer.wait(1ms);
  EXPECT_EQ(peer.timed_out(), What::kIdle);
}

// A responder's peer that says nothing after the startup.
TEST(IdleTimeOut, BeginsWithTheReply) {
  Rogue peer(with(responder(), &Config::idle_timeout, 10s));
  peer.send_frame({.kind = mpa::FrameKind::kRequest, .crc = true, .revision = 1});
  EXPECT_TRUE(peer.end.engine.accept({}, {}));
  peer.flush();
  EXPECT_EQ(peer.end.engine.next_deadline(), peer.now + 10s);
  peer.wait(10s);
  EXPECT_EQ(peer.end.first<TimedOut>()->what, What::kIdle);
}

TEST(IdleTimeOut, LeavesAStreamAloneThatWaitsForItsUser) {
  auto config = with(responder(), &Config::idle_timeout, 10s);
  config.no_receive_timeout = 60s;
  Peer peer(config);
  peer.untagged(rdmap::Opcode::kSend, 1, pattern(8));
  peer.wait(59s);
  EXPECT_FALSE(peer.timed_out());
  peer.end.memory.post_receive(1, 64);
  peer.offer();
  EXPECT_EQ(peer.end.count<Received>(), 1U);
  peer.wait(10s);
  EXPECT_EQ(peer.timed_out(), What::kIdle);
}

TEST(IdleTimeOut, IsOverWithTheEnd) {
  auto config = with(responder(), &Config::idle_timeout, 10s);
  config.close_timeout = 60s;
  Peer peer(config);
  peer.end.engine.close(peer.now);
  peer.send(peer.write());
  peer.wait(59s);
  EXPECT_FALSE(peer.timed_out());
}

// --- A closed window

struct Shut : Peer {
  Shut() : Peer(with(responder(), &Config::window_timeout, 10s)) {
    post_write();
    end.engine.fill(end.batch, now);
  }
  void take(std::size_t octets) {
    end.batch.consume(octets);
    end.engine.written(octets, now);
    end.poll();
  }
};

TEST(WindowTimeOut, ResetsAPeerThatTakesNothing) {
  Shut peer;
  peer.wait(9999ms);
  EXPECT_FALSE(peer.timed_out());
  peer.wait(1ms);
  EXPECT_EQ(peer.timed_out(), What::kWindow);
  EXPECT_EQ(peer.end.engine.disposition(), Disposition::kReset);
  EXPECT_EQ(peer.end.first<SendCompleted>()->status, WorkStatus::kFlushed);
  EXPECT_EQ(peer.end.count<Closed>(), 1U);
}

TEST(WindowTimeOut, RunsFromTheLastOctetThatWasTaken) {
  Shut peer;
  peer.wait(9s);
  peer.take(1);
  EXPECT_EQ(peer.end.engine.next_deadline(), peer.now + 10s);
  peer.wait(9s);
  peer.take(peer.end.batch.size());
  EXPECT_FALSE(peer.deadline_is_set());
  EXPECT_EQ(peer.end.first<SendCompleted>()->status, WorkStatus::kSuccess);
}

TEST(WindowTimeOut, IsNotPutOffByAWriteThatTakesNothing) {
  Shut peer;
  peer.wait(9s);
  peer.take(0);
  peer.wait(1s);
  EXPECT_EQ(peer.timed_out(), What::kWindow);
}

// A driver whose socket is full by then does not come again before it has room.
TEST(WindowTimeOut, RunsForWhatIsNotCutYet) {
  Peer peer(with(responder(), &Config::window_timeout, 10s));
  peer.post_write();
  TransmitBatch small(1500);
  EXPECT_TRUE(peer.end.engine.fill(small, peer.now));
  peer.end.engine.written(small.size(), peer.now);
  peer.wait(9999ms);
  EXPECT_FALSE(peer.timed_out());
  peer.wait(1ms);
  EXPECT_EQ(peer.timed_out(), What::kWindow);
}

TEST(WindowTimeOut, OfZeroIsNone) {
  Peer peer(responder());
  peer.post_write();
  peer.end.engine.fill(peer.end.batch, peer.now);
  EXPECT_FALSE(peer.deadline_is_set());
}

}  // namespace
}  // namespace weft::engine::test
