// SPDX-License-Identifier: Apache-2.0
// Things that happen at the worst moment: between two messages of one work request, while a segment waits for a
// receive, after our own FIN, before what was asked has even left.
#include <gtest/gtest.h>

#include <chrono>

#include "engine/ending.hpp"
#include "tests/engine/rogue.hpp"

namespace weft::engine::test {
namespace {

using rdmap::Opcode;

struct Stream : Rogue {
  explicit Stream(Config config = responder(), mpa::Framing framing = {}) : Rogue(config, framing) {
    end.memory.add(1, 8192);
    establish({.crc = framing.crc, .revision = 1});
    heard();
  }
  void post(const WorkRequest& request) { require(end.engine.post(request).has_value(), "post"); }
  // One fill into a batch of `arena` octets, which the socket takes at once.
  std::size_t fill_once(std::size_t arena) {
    TransmitBatch batch(arena);
    end.engine.fill(batch, now);
    for (const Bytes piece : batch.pieces()) end.sent.insert(end.sent.end(), piece.begin(), piece.end());
    end.engine.written(batch.size(), now);
    end.poll();
    return batch.size();
  }
};

Config small_segments() {
  Config config = responder();
  config.emss = 200;
  return config;
}

constexpr rdmap::LocalSegment kThousand{0, 1000, 1}, kHundred{0, 110, 1}, kWord{0, 8, 1}, kNothing{0, 0, 1};

// --- Answers to what was not asked yet

// The Read Request was begun and found no room in the batch: it is not on the wire, so nothing can answer it.
TEST(AwkwardMoment, AReadResponseBeforeItsRequestHasLeftIsUnsolicited) {
  Stream rogue;
  TransmitBatch batch(150);  // one 128-octet ULPDU and nothing after it
  rogue.post(write_of(1, kHundred, 9, 0));
  rogue.post(read_of(2, kNothing, 9, 0));
  rogue.end.engine.fill(batch, rogue.now);
  ASSERT_LT(batch.size(), 150U);
  rogue.tagged(Opcode::kReadResponse, 0, 0);  // no octets: neither STag nor TO need to be guessed
  EXPECT_EQ(rogue.end.count<ProtocolError>(), 1U);
  batch.consume(batch.size());
  rogue.end.engine.written(batch.size(), rogue.now);
  rogue.flush();
  rogue.end.engine.connection_lost(rogue.now);
  rogue.end.poll();
  const auto done = rogue.end.all<SendCompleted>();
  ASSERT_EQ(done.size(), 2U);
  EXPECT_EQ(done[1].status, WorkStatus::kFlushed);
}

TEST(AwkwardMoment, AnAtomicResponseBeforeItsRequestHasLeftIsUnsolicited) {
  Stream rogue;
  TransmitBatch batch(150);
  rogue.post(write_of(1, kHundred, 9, 0));
  rogue.post({.cookie = 2, .operation = Operation::kFetchAdd, .local = rdmap::LocalSegments(&kWord, 1)});
  rogue.end.engine.fill(batch, rogue.now);
  Octets payload(rdmap::AtomicResponseLayout::kSize);
  rdmap::serialize(rdmap::AtomicResponse{0, 5}, payload);
  rogue.untagged(Opcode::kAtomicResponse, 1, payload);
  EXPECT_EQ(rogue.end.count<ProtocolError>(), 1U);
  rogue.flush();
  rogue.end.engine.connection_lost(rogue.now);
  rogue.end.poll();
  ASSERT_EQ(rogue.end.count<SendCompleted>(), 2U);
  EXPECT_EQ(rogue.end.all<SendCompleted>()[1].status, WorkStatus::kFlushed);
}

// --- Between the two messages of one work request

TEST(AwkwardMoment, AWriteWhoseImmediateDataWasNotSentDidNotSucceed) {
  Stream rogue(small_segments());
  WorkRequest work = write_of(1, kThousand, 9, 0);
  work.operation = Operation::kWriteImmediate;
  rogue.post(work);
  ASSERT_GT(rogue.fill_once(250), 0U);              // the Write is under way
  rogue.tagged(Opcode::kWrite, 99, 0, pattern(8));  // a sin: our Terminate comes instead of the Immediate Data
  rogue.flush();
  rogue.fin();
  ASSERT_EQ(rogue.end.count<SendCompleted>(), 1U);
  EXPECT_EQ(rogue.end.first<SendCompleted>()->status, WorkStatus::kFlushed);
  EXPECT_EQ(rogue.end.count<Closed>(), 1U);
}

// --- A message that began and will not end

TEST(AwkwardMoment, TheReceiveOfAMessageThatWillNotEndComesBackWithTheError) {
  Octets terminate(rdmap::TerminateLayout::kLongest);
  terminate.resize(rdmap::serialize(rdmap::Terminate{rdmap::kLocalCatastrophic, {}, {}, {}}, terminate));
  enum class By { kUs, kPeer, kUserWhoLeaves };
  for (const By by : {By::kUs, By::kPeer, By::kUserWhoLeaves}) {
    Stream rogue;
    rogue.end.memory.post_receive(4, 64);
    rogue.untagged(Opcode::kSend, 1, pattern(8), 0, false);
    if (by == By::kPeer) rogue.untagged(Opcode::kTerminate, 1, terminate);
    if (by == By::kUs) rogue.tagged(Opcode::kWrite, 99, 0, pattern(8));
    if (by == By::kUserWhoLeaves) rogue.end.engine.leave(rogue.now);
    rogue.end.poll();
    ASSERT_EQ(rogue.end.count<Received>(), 1U);
    EXPECT_EQ(rogue.end.first<Received>()->cookie, 4U);
    EXPECT_EQ(rogue.end.first<Received>()->status, WorkStatus::kFlushed);
    EXPECT_EQ(rogue.end.count<Closed>(), 0U);
    rogue.fin();
    rogue.flush();
    EXPECT_EQ(rogue.end.count<Received>(), 1U);
    EXPECT_EQ(rogue.end.count<Closed>(), 1U);
  }
}

// --- FIN inside an FPDU

TEST(AwkwardMoment, AFinBehindTheFirstOctetOfAnFpduIsAnError) {
  Stream rogue;
  rogue.send({std::byte{0}});
  rogue.fin();
  ASSERT_EQ(rogue.end.count<ProtocolError>(), 1U);
  EXPECT_EQ(rogue.end.first<ProtocolError>()->report.mpa_fault, mpa::Fault::kClosedInsideFpdu);
  EXPECT_EQ(rogue.end.count<PeerClosed>(), 0U);
}

// --- FIN while a segment waits for a receive

TEST(AwkwardMoment, AFinBehindASegmentThatGetsNoReceiveIsNotForgotten) {
  Stream rogue;
  rogue.untagged(Opcode::kSend, 1, pattern(8));
  EXPECT_EQ(rogue.end.last.want, ReceiveResult::Want::kReceive);
  rogue.fin();
  rogue.now = rogue.now + Config{}.no_receive_timeout;
  rogue.end.engine.deadline_passed(rogue.now);
  rogue.flush();
  EXPECT_EQ(rogue.end.count<ProtocolError>(), 1U);
  EXPECT_EQ(rogue.end.count<Closed>(), 1U) << "both directions are over, there is nothing to wait for";
}

TEST(AwkwardMoment, AFinThatComesWhenTheWaitForAReceiveIsOverEndsTheConnection) {
  Stream rogue;
  rogue.untagged(Opcode::kSend, 1, pattern(8));
  rogue.wait(Config{}.no_receive_timeout);
  rogue.flush();
  ASSERT_EQ(rogue.end.count<ProtocolError>(), 1U);
  rogue.offer();  // the rest is discarded
  EXPECT_EQ(rogue.end.count<Closed>(), 0U);
  rogue.fin();
  EXPECT_EQ(rogue.end.count<Closed>(), 1U);
}

TEST(AwkwardMoment, AFinBehindATerminateBehindASegmentThatWaitedIsNotForgotten) {
  Stream rogue;
  Octets terminate(rdmap::TerminateLayout::kLongest);
  terminate.resize(rdmap::serialize(rdmap::Terminate{rdmap::kLocalCatastrophic, {}, {}, {}}, terminate));
  rogue.untagged(Opcode::kSend, 1, pattern(8));
  rogue.untagged(Opcode::kTerminate, 1, terminate);
  rogue.fin();
  rogue.end.memory.post_receive(1, 64);
  rogue.offer();
  rogue.flush();
  EXPECT_EQ(rogue.end.count<Received>(), 1U);
  EXPECT_EQ(rogue.end.count<TerminateReceived>(), 1U);
  EXPECT_EQ(rogue.end.count<Closed>(), 1U);
}

TEST(AwkwardMoment, WhileTheFinWaitsBehindASegmentWorkCanBePosted) {
  Stream rogue;
  rogue.untagged(Opcode::kSend, 1, pattern(8));
  rogue.fin();
  EXPECT_TRUE(rogue.end.engine.post(write_of(1, kWord, 9, 0))) << "as it can be after PeerClosed (DDP-6.2.1-06)";
}

// --- After our own FIN

TEST(AwkwardMoment, AnErrorBehindOurFinEndsTheConnectionWithoutATerminate) {
  Stream rogue;
  rogue.end.engine.close(rogue.now);
  ASSERT_EQ(rogue.end.engine.disposition(), Disposition::kShutdownWrite);
  rogue.tagged(Opcode::kWrite, 99, 0, pattern(8));
  ASSERT_EQ(rogue.end.count<ProtocolError>(), 1U);
  EXPECT_FALSE(rogue.end.first<ProtocolError>()->terminate_sent);
  EXPECT_TRUE(rogue.heard().empty());
  EXPECT_EQ(rogue.end.count<Closed>(), 1U);
}

// Whatever asks for the end afterwards does not take the FIN back, nor change its limit.
TEST(AwkwardMoment, AnEndThatHasBegunDoesNotBeginAgain) {
  using namespace std::chrono_literals;
  Ending ending;
  ending.begin(Instant{60s});
  ending.begin(Instant{50s});
  EXPECT_EQ(ending.deadline(), Instant{50s}) << "a second reason may shorten it";
  ending.send_fin(Instant{40s});
  ending.begin(Instant{1s});
  EXPECT_TRUE(ending.fin_sent());
  EXPECT_FALSE(ending.fin_due());
  EXPECT_EQ(ending.deadline(), Instant{40s});
  ending.finish(Disposition::kClose);
  ending.begin(Instant{1s});
  EXPECT_TRUE(ending.over());
  EXPECT_FALSE(ending.deadline());
}

// --- Draining

TEST(AwkwardMoment, DrainingHoldsBackNoReadyToReceiveMessage) {
  Config a = initiator(), b = responder();
  a.mpa.peer_to_peer = b.mpa.peer_to_peer = true;
  Pair pair(a, b);
  pair.a.engine.drain(true);
  ASSERT_TRUE(pair.a.engine.connect({}));
  pair.run();
  ASSERT_TRUE(pair.b.engine.accept({}, {}));
  pair.run();
  EXPECT_EQ(pair.b.count<Established>(), 1U);
}

TEST(AwkwardMoment, DrainingBeforeTheStartUpHoldsAfterIt) {
  Pair pair(initiator(), responder());
  pair.a.engine.drain(true);
  ASSERT_TRUE(pair.a.engine.connect({}));
  pair.run();
  ASSERT_TRUE(pair.b.engine.accept({}, {}));
  pair.run();
  ASSERT_TRUE(pair.a.engine.post({.cookie = 1, .operation = Operation::kWrite}));
  pair.run();
  EXPECT_EQ(pair.a.count<SendCompleted>(), 0U);
  pair.a.engine.drain(false);
  pair.run();
  EXPECT_EQ(pair.a.count<SendCompleted>(), 1U);
}

TEST(AwkwardMoment, NothingIsDrainedAfterTheEnd) {
  Stream rogue;
  rogue.end.engine.abort(rogue.now);
  rogue.end.engine.drain(true);
  rogue.end.poll();
  EXPECT_TRUE(std::holds_alternative<Closed>(rogue.end.events.back()));
}

// A queue that the end of the connection empties was not drained.
TEST(AwkwardMoment, AQueueThatIsFlushedIsNotDrained) {
  Stream rogue;
  rogue.post(write_of(1, kThousand, 9, 0));
  rogue.end.engine.fill(rogue.end.batch, rogue.now);
  rogue.end.engine.drain(true);
  rogue.end.engine.connection_lost(rogue.now);
  rogue.end.poll();
  ASSERT_EQ(rogue.end.count<SendCompleted>(), 1U);
  EXPECT_EQ(rogue.end.first<SendCompleted>()->status, WorkStatus::kFlushed);
  EXPECT_EQ(rogue.end.count<SendQueueDrained>(), 0U);
}

TEST(AwkwardMoment, DrainingOftenCrowdsOutNoOtherEvent) {
  Stream rogue;
  for (int i = 0; i < 1000; ++i) rogue.end.engine.drain(true);
  rogue.end.engine.abort(rogue.now);
  rogue.end.poll();
  EXPECT_EQ(rogue.end.count<SendQueueDrained>(), 1U);
  EXPECT_EQ(rogue.end.count<Closed>(), 1U);
}

// --- The user's settings at their limits

TEST(AwkwardMoment, ATimeoutOfForeverNeverComes) {
  Config config = responder();
  config.no_receive_timeout = Duration::max();
  Stream rogue(config);
  rogue.now = Instant{std::chrono::hours(1)};
  rogue.untagged(Opcode::kSend, 1, pattern(8));
  EXPECT_EQ(rogue.end.engine.next_deadline(), Instant{Duration::max()});
}

TEST(AwkwardMoment, WhoSupportsNoReadyToReceiveMessageCanStillReject) {
  Config a = initiator(), b = responder();
  a.mpa.peer_to_peer = true;
  b.mpa.rtr = {};
  Pair pair(a, b);
  ASSERT_TRUE(pair.a.engine.connect({}));
  pair.run();
  EXPECT_EQ(pair.b.engine.accept({}, {}).error(), StartupError::kBadPolicy);
  ASSERT_TRUE(pair.b.engine.reject({}));
  pair.run();
  EXPECT_EQ(pair.a.count<Rejected>(), 1U);
}

TEST(AwkwardMoment, AnArenaOf140OctetsIsEnough) {
  for (const bool markers : {false, true}) {
    Config a = initiator(), b = responder();
    b.mpa.markers = markers;
    Pair pair(a, b);
    establish(pair);
    pair.a.memory.add(10, 4000);
    pair.b.memory.add(20, 4000);
    pair.a.batch = TransmitBatch(140);
    const rdmap::LocalSegment all{0, 4000, 10};
    ASSERT_TRUE(pair.a.engine.post(write_of(1, all, 20, 0)));
    pair.run();
    EXPECT_EQ(pair.a.count<SendCompleted>(), 1U);
  }
}

// --- The driver's contract

TEST(AwkwardMoment, CloseComesOnlyWhenAllThatWasFilledIsWritten) {
  End end(initiator());
  ASSERT_TRUE(end.engine.connect({}));
  end.engine.fill(end.batch, {});
  ASSERT_GT(end.batch.size(), 0U);
  end.engine.close({});
  EXPECT_EQ(end.engine.disposition(), Disposition::kReset);
}

TEST(AwkwardMoment, WhatIsOnLoanInABatchIsNotCompleted) {
  Config config = responder();
  config.mpa.crc = false;
  Stream rogue(config, {.crc = false});
  rogue.end.memory.lend = true;
  rogue.post(write_of(1, kThousand, 9, 0));
  TransmitBatch batch(65536);
  rogue.end.engine.fill(batch, rogue.now);
  ASSERT_EQ(batch.pieces().size(), 3U) << "the payload is borrowed";
  // The peer's Terminate says that the Write failed; its octets may still be read by the socket.
  rdmap::Terminate message{rdmap::error_code(ddp::TaggedError::kInvalidStag), {}, {}, {}};
  message.segment_length = 1014;
  message.ddp_header = rdmap::HeaderCopy(ddp::TaggedHeader{true, rdmap::control_octet(Opcode::kWrite), {9}, {0}});
  Octets payload(rdmap::TerminateLayout::kLongest);
  payload.resize(rdmap::serialize(message, payload));
  rogue.untagged(Opcode::kTerminate, 1, payload);
  ASSERT_EQ(rogue.end.count<TerminateReceived>(), 1U);
  EXPECT_EQ(rogue.end.count<SendCompleted>(), 0U);
  rogue.end.engine.written(batch.size(), rogue.now);
  rogue.end.poll();
  ASSERT_EQ(rogue.end.count<SendCompleted>(), 1U);
  EXPECT_EQ(rogue.end.first<SendCompleted>()->status, WorkStatus::kRemoteAccess);
}

// --- Markers at every offset of the engine's path

TEST(AwkwardMoment, MarkersAtEveryOffset) {
  for (const bool crc : {true, false}) {
    Config a = initiator(), b = responder();
    a.mpa.markers = b.mpa.markers = true;
    a.mpa.crc = b.mpa.crc = crc;
    Pair pair(a, b);
    establish(pair);
    pair.a.memory.add(10, 2048).octets = pattern(2048, 5);
    pair.b.memory.add(20, 2048);
    const auto data = pattern(2048, 5);
    for (std::uint32_t n = 0; n < 1100; ++n) {
      const rdmap::LocalSegment source{0, n, 10};
      pair.b.memory.regions()[20].octets.assign(2048, std::byte{0});
      ASSERT_TRUE(pair.a.engine.post(write_of(n, source, 20, 0)));
      pair.run();
      ASSERT_TRUE(std::equal(data.begin(), data.begin() + n, pair.b.memory.regions()[20].octets.begin())) << n;
    }
    EXPECT_EQ(pair.a.count<ProtocolError>() + pair.b.count<ProtocolError>(), 0U);
  }
}

// --- A startup that the initiator gives up with its first FPDU

TEST(AwkwardMoment, ATerminateInPlaceOfTheReadyToReceiveMessageEstablishesNothing) {
  Config a = initiator(), b = responder();
  a.mpa.peer_to_peer = b.mpa.peer_to_peer = true;
  a.mpa.rtr = {true, false, false};
  b.mpa.rtr = {false, true, false};
  Pair pair(a, b);
  ASSERT_TRUE(pair.a.engine.connect({}));
  pair.run();
  ASSERT_TRUE(pair.b.engine.accept({}, {}));
  pair.run();
  EXPECT_EQ(pair.b.count<Established>(), 0U);
  ASSERT_EQ(pair.b.count<StartupFailed>(), 1U);
  EXPECT_EQ(pair.b.first<StartupFailed>()->report.layer, Layer::kLlp);
  EXPECT_EQ(pair.b.first<StartupFailed>()->report.code, 7);
  EXPECT_EQ(pair.b.count<TerminateReceived>(), 0U);
  EXPECT_EQ(pair.b.count<Closed>(), 1U);
}

// --- Both ends find an error

TEST(AwkwardMoment, BothEndsTerminate) {
  Pair pair(initiator(), responder());
  establish(pair);
  pair.a.memory.add(10, 64);
  pair.b.memory.add(10, 64);
  const rdmap::LocalSegment all{0, 64, 10};
  ASSERT_TRUE(pair.a.engine.post(write_of(1, all, 99, 0)));
  ASSERT_TRUE(pair.b.engine.post(write_of(1, all, 99, 0)));
  pair.run();
  for (const End* end : {&pair.a, &pair.b}) {
    EXPECT_EQ(end->count<Closed>(), 1U);
    EXPECT_EQ(end->count<ProtocolError>() + end->count<TerminateReceived>(), 1U);
  }
}

// --- A user who does not poll

TEST(AwkwardMoment, AUserWhoDoesNotPollStopsThePeerAndLosesNothing) {
  Rogue rogue;
  rogue.establish();
  for (std::uint64_t i = 0; i < 500; ++i) rogue.end.memory.post_receive(i, 64);
  Octets all;
  for (std::uint32_t i = 1; i <= 500; ++i) {
    const Octets one = rogue.fpdu(
        Rogue::ulpdu(ddp::UntaggedHeader{true, rdmap::control_octet(Opcode::kSend), 0, 0, {i}, {0}}, pattern(8)));
    all.insert(all.end(), one.begin(), one.end());
  }
  for (std::uint64_t i = 0; i < 128; ++i)
    ASSERT_TRUE(rogue.end.engine.post({.cookie = i, .operation = Operation::kWrite}));
  TransmitBatch batch(65536);
  rogue.end.engine.fill(batch, {});
  rogue.end.engine.written(batch.size(), {});
  std::size_t at = 0, received = 0, completed = 0, stops = 0;
  while (at < all.size()) {
    const auto got = rogue.end.engine.receive(MutableBytes(all).subspan(at), {});
    at += got.consumed;
    if (got.want == ReceiveResult::Want::kPollEvents) ++stops;
    ASSERT_TRUE(got.consumed > 0 || got.want == ReceiveResult::Want::kPollEvents);
    if (got.want != ReceiveResult::Want::kPollEvents) continue;
    for (int i = 0; i < 100; ++i) {
      const auto event = rogue.end.engine.poll_event();
      if (!event) break;
      received += std::holds_alternative<Received>(*event) ? 1 : 0;
      completed += std::holds_alternative<SendCompleted>(*event) ? 1 : 0;
    }
  }
  while (const auto event = rogue.end.engine.poll_event()) {
    received += std::holds_alternative<Received>(*event) ? 1 : 0;
    completed += std::holds_alternative<SendCompleted>(*event) ? 1 : 0;
  }
  EXPECT_GT(stops, 3U);
  EXPECT_EQ(received, 500U);
  EXPECT_EQ(completed, 128U);
}

}  // namespace
}  // namespace weft::engine::test
