// SPDX-License-Identifier: Apache-2.0
// Local Invalidate and Bind: they put nothing on the wire, so the right to send is none of their business. Their turn
// among the work requests is.
#include <gtest/gtest.h>

#include "tests/engine/rogue.hpp"

namespace weft::engine::test {
namespace {

// A responder that has accepted, and whose peer has said nothing yet (MPA-7.1.2-17).
struct Fenced : Rogue {
  Fenced() {
    send_frame({.kind = mpa::FrameKind::kRequest, .crc = true, .revision = 1});
    require(end.engine.accept({}, {}).has_value(), "accept");
    flush();
    reply = end.sent.size();
  }
  void post(Operation operation, std::uint64_t cookie) {
    require(end.engine.post({.cookie = cookie, .operation = operation}).has_value(), "post");
  }
  std::size_t reply = 0;
};

TEST(LocalWork, DoesNotWaitForThePeersFirstFpdu) {
  Fenced rogue;
  rogue.post(Operation::kLocal, 1);
  EXPECT_TRUE(rogue.end.engine.has_output()) << "so that a driver calls fill()";
  rogue.flush();
  EXPECT_EQ(rogue.end.memory.performed, std::vector<std::uint64_t>{1});
  ASSERT_EQ(rogue.end.count<SendCompleted>(), 1U);
  EXPECT_EQ(rogue.end.first<SendCompleted>()->status, WorkStatus::kSuccess);
  EXPECT_EQ(rogue.end.first<SendCompleted>()->length, 0U);
  EXPECT_EQ(rogue.end.sent.size(), rogue.reply) << "nothing on the wire";
  EXPECT_FALSE(rogue.end.engine.has_output());
}

// What put nothing into the batch is followed by no written().
TEST(LocalWork, IsToldWithoutAWrite) {
  Fenced rogue;
  rogue.post(Operation::kLocal, 1);
  EXPECT_FALSE(rogue.end.engine.fill(rogue.end.batch, {}));
  EXPECT_TRUE(rogue.end.batch.empty());
  rogue.end.poll();
  EXPECT_EQ(rogue.end.count<SendCompleted>(), 1U);
}

TEST(LocalWork, BehindASendThatMayNotGoYetKeepsItsTurn) {
  Fenced rogue;
  rogue.post(Operation::kLocal, 1);
  rogue.post(Operation::kSend, 2);
  rogue.post(Operation::kLocal, 3);
  rogue.flush();
  EXPECT_EQ(rogue.end.memory.performed, std::vector<std::uint64_t>{1});
  EXPECT_FALSE(rogue.end.engine.has_output());
  rogue.tagged(rdmap::Opcode::kWrite, 0, 0);  // the peer speaks
  rogue.flush();
  EXPECT_EQ(rogue.end.memory.performed, (std::vector<std::uint64_t>{1, 3}));
  EXPECT_EQ(rogue.end.count<SendCompleted>(), 3U);
}

TEST(LocalWork, IsHeldWhileTheQueueIsDrained) {
  Fenced rogue;
  rogue.end.engine.drain(true);
  rogue.post(Operation::kLocal, 1);
  rogue.flush();
  EXPECT_TRUE(rogue.end.memory.performed.empty());
  rogue.end.engine.drain(false);
  rogue.flush();
  EXPECT_EQ(rogue.end.memory.performed.size(), 1U);
}

TEST(LocalWork, ThatFailsBeforeThePeersFirstFpduEndsTheStreamWithoutATerminate) {
  Fenced rogue;
  rogue.end.memory.local_invalidate[1] = 77;  // no such STag
  rogue.post(Operation::kLocal, 1);
  rogue.post(Operation::kSend, 2);
  rogue.flush();
  EXPECT_EQ(rogue.end.sent.size(), rogue.reply);
  const auto done = rogue.end.all<SendCompleted>();
  ASSERT_EQ(done.size(), 2U);
  EXPECT_EQ(done[0].status, WorkStatus::kLocalProtection);
  EXPECT_EQ(done[1].status, WorkStatus::kFlushed);
  EXPECT_EQ(rogue.end.count<Closed>(), 1U);
  EXPECT_EQ(rogue.end.engine.disposition(), Disposition::kClose);
}

TEST(LocalWork, IsAllThatACloseBeforeThePeersFirstFpduNeeds) {
  Fenced rogue;
  rogue.post(Operation::kLocal, 1);
  rogue.end.engine.close(rogue.now);
  rogue.flush();
  EXPECT_EQ(rogue.end.first<SendCompleted>()->status, WorkStatus::kSuccess);
  EXPECT_EQ(rogue.end.engine.disposition(), Disposition::kShutdownWrite);
}

}  // namespace
}  // namespace weft::engine::test
