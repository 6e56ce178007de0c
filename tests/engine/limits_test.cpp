// SPDX-License-Identifier: Apache-2.0
// The user's limits hold: inbound depth, FPDU size, the moment of refusal, and the end overriding a drained queue.
#include <gtest/gtest.h>

#include "tests/engine/rogue.hpp"

namespace weft::engine::test {
namespace {

using rdmap::Opcode;

TEST(Limits, NoAcceptPromisesMoreInboundReadsThanConfigured) {
  Config config = responder();
  config.max_ird = 3;
  Rogue rogue(config);
  rogue.send_frame({.kind = mpa::FrameKind::kRequest, .crc = true, .revision = 1});
  ASSERT_TRUE(rogue.end.engine.accept({}, {.ird = 1000, .ord = {}}));
  rogue.end.poll();
  EXPECT_EQ(rogue.end.first<Established>()->ird, 3U);
  rogue.flush();
  for (std::uint32_t msn = 1; msn <= 3; ++msn) rogue.read_request(msn, {});
  EXPECT_EQ(rogue.end.count<ProtocolError>(), 0U);
  rogue.read_request(4, {});
  EXPECT_EQ(rogue.end.count<ProtocolError>(), 1U);
}

TEST(Limits, TheReplySaysWhatIsHeld) {
  Config config = responder();
  config.max_ird = 3;
  Rogue rogue(config);
  rogue.send_frame({.kind = mpa::FrameKind::kRequest,
                    .crc = true,
                    .revision = 2,
                    .enhanced = mpa::EnhancedData{.ird = 9, .ord = 9}});
  ASSERT_TRUE(rogue.end.engine.accept({}, {.ird = 1000, .ord = {}}));
  rogue.flush();
  const auto reply = mpa::parse_startup_frame(rogue.end.sent, mpa::FrameKind::kReply);
  ASSERT_TRUE(reply && *reply && (*reply)->enhanced);
  EXPECT_EQ((*reply)->enhanced->ird, 3);
}

TEST(Limits, OnlyASendInvalidates) {
  Rogue rogue;
  rogue.establish();
  for (const auto operation : {Operation::kWrite, Operation::kWriteImmediate, Operation::kImmediate,
                               Operation::kSendImmediate, Operation::kRead}) {
    EXPECT_EQ(rogue.end.engine.post({.cookie = 1, .operation = operation, .invalidate = ddp::Stag{7}}),
              std::unexpected(PostError::kBadOperands));
  }
  EXPECT_TRUE(rogue.end.engine.post({.cookie = 1, .operation = Operation::kSend, .invalidate = ddp::Stag{7}}));
}

// The queue's places are used again: a request in an old one begins anew.
TEST(Limits, NoWorkIsDoneBeforeItHasLeft) {
  Config config = responder();
  config.send_queue_depth = 1;
  Rogue rogue(config);
  rogue.establish();
  rogue.end.events.clear();
  for (std::size_t i = 1; i <= 5; ++i) {
    ASSERT_TRUE(rogue.end.engine.post({.cookie = i, .operation = Operation::kSend})) << i;
    rogue.wait({});
    rogue.tagged(rdmap::Opcode::kWrite, 0, 0);  // something else happens
    EXPECT_EQ(rogue.end.count<SendCompleted>(), i - 1) << "its octets are still here";
    rogue.flush();
    EXPECT_EQ(rogue.end.count<SendCompleted>(), i);
  }
}

// A completion that nobody has polled holds its place: completions are bounded as the queue is.
TEST(Limits, ACompletionHoldsItsPlaceUntilItIsPolled) {
  Config config = responder();
  config.send_queue_depth = 2;
  Rogue rogue(config);
  rogue.establish();
  const auto post = [&] { return rogue.end.engine.post({.cookie = 1, .operation = Operation::kSend}); };
  ASSERT_TRUE(post());
  rogue.end.engine.fill(rogue.end.batch, rogue.now);
  const std::size_t size = rogue.end.batch.size();
  rogue.end.batch.consume(size);
  rogue.end.engine.written(size, rogue.now);  // the first one is complete
  ASSERT_TRUE(post());
  EXPECT_EQ(post(), std::unexpected(PostError::kQueueFull));
  rogue.end.poll();
  EXPECT_TRUE(post());
}

// DDP-5.2-03: 2^32 - 1 octets, whatever the number of pieces.
TEST(Limits, AMessageIsShorterThanFourGibibytes) {
  Rogue rogue;
  rogue.establish();
  const std::array<rdmap::LocalSegment, 2> pieces{{{0, 0xfffffff0, 1}, {0, 15, 1}}};
  std::array<rdmap::LocalSegment, 2> longer = pieces;
  longer[1].length = 16;
  const auto post = [&](const auto& local) {
    return rogue.end.engine.post({.cookie = 1, .operation = Operation::kWrite, .local = local, .remote_stag = {9}});
  };
  EXPECT_EQ(post(longer), std::unexpected(PostError::kMessageTooLong));
  EXPECT_TRUE(post(pieces));
}

// One Ethernet frame's, until the driver knows better; and what is worth a read by itself.
TEST(Limits, OfWhoWishesNothing) {
  EXPECT_EQ(Config{}.emss, 1460U);
  EXPECT_EQ(Config{}.early_placement, 32768U);
}

TEST(Limits, FpdusStayBelowTheUsersLimit) {
  Config config = responder();
  config.max_ulpdu = 256;
  Rogue rogue(config);
  rogue.end.memory.add(1, 1000);
  rogue.establish();
  rogue.heard();
  const rdmap::LocalSegment all{0, 1000, 1};
  ASSERT_TRUE(rogue.end.engine.post(write_of(1, all, 9, 0)));
  const auto heard = rogue.heard();
  ASSERT_EQ(heard.size(), 5U);
  EXPECT_EQ(heard[0].payload.size(), 256U - 14U);
}

TEST(Limits, AReadIsRefusedOnArrivalAndNotWhenItsTurnComes) {
  Rogue rogue;
  rogue.establish();
  rogue.read_request(1, {{7}, {0}, 8, {99}, {0}});
  EXPECT_EQ(rogue.end.count<ProtocolError>(), 1U) << "though nothing can be sent yet (RDMAP-7.1-04)";
}

TEST(Limits, ClosingOverridesADrainedQueue) {
  Rogue rogue;
  rogue.establish();
  rogue.heard();
  rogue.end.engine.drain(true);
  ASSERT_TRUE(rogue.end.engine.post({.cookie = 1, .operation = Operation::kWrite}));
  EXPECT_TRUE(rogue.heard().empty());
  rogue.end.engine.close(rogue.now);
  EXPECT_EQ(rogue.heard().size(), 1U);
  EXPECT_EQ(rogue.end.first<SendCompleted>()->status, WorkStatus::kSuccess);
  EXPECT_EQ(rogue.end.engine.disposition(), Disposition::kShutdownWrite);
}

TEST(Limits, ARejectionIsGivenTimeToLeave) {
  Rogue rogue;
  rogue.now = Instant{std::chrono::hours(1)};
  rogue.send_frame({.kind = mpa::FrameKind::kRequest, .crc = true, .revision = 1});
  ASSERT_TRUE(rogue.end.engine.reject({}));
  const auto deadline = rogue.end.engine.next_deadline();
  EXPECT_TRUE(!deadline || *deadline > rogue.now);
}

TEST(Limits, ClosingDoesNotWaitForEverForAnAnswer) {
  Rogue rogue;
  rogue.end.memory.add(1, 8);
  rogue.establish();
  rogue.heard();
  const rdmap::LocalSegment sink{0, 8, 1};
  ASSERT_TRUE(rogue.end.engine.post({.cookie = 1,
                                     .operation = Operation::kRead,
                                     .local = std::span(&sink, 1),
                                     .remote_stag = {9},
                                     .sink_stag = {1}}));
  rogue.heard();
  rogue.end.engine.close(rogue.now);
  const auto deadline = rogue.end.engine.next_deadline();
  ASSERT_TRUE(deadline);
  EXPECT_EQ(*deadline, rogue.now + Config{}.finish_timeout);
  EXPECT_EQ(rogue.end.engine.disposition(), Disposition::kOpen);
  rogue.end.engine.deadline_passed(*deadline);
  rogue.end.poll();
  EXPECT_EQ(rogue.end.first<SendCompleted>()->status, WorkStatus::kFlushed);
  ASSERT_EQ(rogue.end.count<Closed>(), 1U);
  EXPECT_FALSE(rogue.end.first<Closed>()->graceful);
  EXPECT_FALSE(rogue.end.engine.next_deadline());
}

}  // namespace
}  // namespace weft::engine::test
