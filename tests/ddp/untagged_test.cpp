// SPDX-License-Identifier: Apache-2.0
// Untagged queues: edges that no single clause names.
#include <gtest/gtest.h>

#include <random>

#include "ddp/segmenter.hpp"
#include "ddp/untagged_queues.hpp"
#include "tests/ddp/fake_placement.hpp"

namespace weft::ddp {
namespace {

using test::counting;
using test::FakePlacement;

UntaggedHeader segment(std::uint32_t msn, std::uint32_t offset, bool last) {
  return {last, 0x43, 0, 0, {msn}, {offset}};
}

TEST(Msn, WrapsAndMeasuresForward) {
  EXPECT_EQ(next(Msn{0xffffffff}), Msn{0});
  EXPECT_EQ(distance(Msn{0xfffffffe}, Msn{3}), 5U);
  EXPECT_EQ(distance(Msn{3}, Msn{2}), 0xffffffffU);
}

TEST(ReceiveQueue, StallChangesNothing) {
  FakePlacement memory;
  ReceiveQueue queue;
  const auto payload = counting(10);
  for (int i = 0; i < 3; ++i) {
    const auto outcome = queue.place(segment(1, 0, true), payload, memory);
    ASSERT_TRUE(outcome && std::holds_alternative<NoReceivePosted>(*outcome));
  }
  memory.post(5, 10);
  const auto outcome = queue.place(segment(1, 0, true), payload, memory);
  ASSERT_TRUE(outcome);
  EXPECT_EQ(std::get<ReceiveFilled>(*outcome).buffer.cookie, 5U);
  EXPECT_EQ(memory.receives[5], payload);
}

TEST(ReceiveQueue, WildMsnDoesNotWaitForAReceive) {
  FakePlacement memory;
  ReceiveQueue queue;
  const auto outcome = queue.place(segment(2, 0, true), counting(1), memory);
  ASSERT_FALSE(outcome);
  EXPECT_EQ(std::get<UntaggedError>(outcome.error()), UntaggedError::kMsnRange);
}

TEST(ReceiveQueue, GivesTheReceiveOfACutMessageBack) {
  FakePlacement memory;
  memory.post(8, 100);
  ReceiveQueue queue;
  EXPECT_EQ(queue.take_unfinished(), std::nullopt);
  ASSERT_TRUE(queue.place(segment(1, 0, false), counting(10), memory));
  EXPECT_EQ(queue.take_unfinished(), (ReceiveBuffer{8, 100}));
  EXPECT_EQ(queue.take_unfinished(), std::nullopt);
}

TEST(ReceiveQueue, LocalFaultIsNotThePeersError) {
  FakePlacement memory;
  memory.post(8, 100);
  memory.deregistered = true;
  ReceiveQueue queue;
  const auto outcome = queue.place(segment(1, 0, true), counting(10), memory);
  ASSERT_FALSE(outcome);
  EXPECT_EQ(std::get<LocalFault>(outcome.error()), LocalFault::kInvalidKey);
  EXPECT_EQ(queue.take_unfinished(), (ReceiveBuffer{8, 100}));
}

// RDMAPX-6.3-02: Immediate Data uses up a receive of any size and leaves its memory alone.
TEST(ReceiveQueue, KeepsImmediateDataAside) {
  FakePlacement memory;
  memory.post(1, 0);
  memory.post(2, 64);
  ReceiveQueue queue;
  const auto data = counting(8, 1);
  for (std::uint32_t msn = 1; msn <= 2; ++msn) {
    const auto outcome = queue.place(segment(msn, 0, true), data, memory, ReceiveQueue::Where::kAside);
    ASSERT_TRUE(outcome);
    const auto& filled = std::get<ReceiveFilled>(*outcome);
    EXPECT_EQ(filled.buffer.cookie, msn);
    EXPECT_EQ(test::copy(filled.aside), data);
  }
  EXPECT_EQ(memory.receives[2], test::Octets(64));
}

TEST(ReceiveQueue, AsideTakesNoMoreThanEight) {
  FakePlacement memory;
  memory.post(1, 64);
  ReceiveQueue queue;
  ASSERT_TRUE(queue.place(segment(1, 0, false), counting(8), memory, ReceiveQueue::Where::kAside));
  const auto outcome = queue.place(segment(1, 8, true), counting(1), memory, ReceiveQueue::Where::kAside);
  ASSERT_FALSE(outcome);
  EXPECT_EQ(std::get<UntaggedError>(outcome.error()), UntaggedError::kTooLong);
}

// DDP-5.2-05: whatever a peer mixes, the octets of a message stay together, and within their memory.
TEST(ReceiveQueue, MixedKindsStayWithinTheirMemory) {
  FakePlacement memory;
  memory.post(1, 20);
  memory.post(2, 20);
  ReceiveQueue queue;
  ASSERT_TRUE(queue.place(segment(1, 0, false), counting(12), memory));
  const auto whole = queue.place(segment(1, 12, true), counting(4, 12), memory, ReceiveQueue::Where::kAside);
  ASSERT_TRUE(whole);
  EXPECT_EQ(test::copy(Bytes(memory.receives[1]).first(16)), counting(16));
  EXPECT_TRUE(std::get<ReceiveFilled>(*whole).aside.empty());
  ASSERT_TRUE(queue.place(segment(2, 0, false), counting(8), memory, ReceiveQueue::Where::kAside));
  const auto beyond = queue.place(segment(2, 8, true), counting(4), memory);
  ASSERT_FALSE(beyond);
  EXPECT_EQ(std::get<UntaggedError>(beyond.error()), UntaggedError::kTooLong);
}

// A message cut exactly at the end of its buffer is too long; its offset is a right one.
TEST(ReceiveQueue, MessageThatGoesOnAtTheEndOfItsBuffer) {
  FakePlacement memory;
  memory.post(1, 100);
  ReceiveQueue queue;
  ASSERT_TRUE(queue.place(segment(1, 0, false), counting(100), memory));
  const auto outcome = queue.place(segment(1, 100, true), counting(1), memory);
  ASSERT_FALSE(outcome);
  EXPECT_EQ(std::get<UntaggedError>(outcome.error()), UntaggedError::kTooLong);
}

TEST(ReceiveQueue, EmptyLastSegmentMayFollowAFullBuffer) {
  FakePlacement memory;
  memory.post(1, 100);
  ReceiveQueue queue;
  ASSERT_TRUE(queue.place(segment(1, 0, false), counting(100), memory));
  const auto outcome = queue.place(segment(1, 100, true), {}, memory);
  ASSERT_TRUE(outcome);
  EXPECT_EQ(std::get<ReceiveFilled>(*outcome).length, 100U);
}

// No sum of 32-bit offset and length may wrap back into the buffer.
TEST(ReceiveQueue, OffsetNearTheTopOfItsRange) {
  FakePlacement memory;
  memory.post(1, 100);
  ReceiveQueue queue;
  const auto outcome = queue.place(segment(1, 0xfffffff0, true), counting(32), memory);
  ASSERT_FALSE(outcome);
  EXPECT_EQ(std::get<UntaggedError>(outcome.error()), UntaggedError::kInvalidOffset);
}

TEST(MessageWindow, NoMessageOfFourGibibytesEvenIntoALargerBuffer) {
  constexpr std::uint64_t kHuge = std::uint64_t{1} << 40;
  EXPECT_TRUE(MessageWindow::check_range({0xfffffff0}, 15, kHuge));
  EXPECT_EQ(MessageWindow::check_range({0xfffffff0}, 16, kHuge), std::unexpected(UntaggedError::kTooLong));
}

TEST(MessageQueue, BufferIsTakenWhenTheMessageBegins) {
  MessageQueue<28> queue(1);
  ASSERT_TRUE(queue.place(segment(1, 0, false), counting(10)));
  EXPECT_EQ(queue.buffers(), 0U);
  const auto message = queue.place(segment(1, 10, true), counting(18, 10));
  ASSERT_TRUE(message && *message);
  EXPECT_EQ(test::copy((*message)->payload), counting(28));
  EXPECT_EQ(queue.place(segment(2, 0, true), counting(28)).error(), UntaggedError::kNoBuffer);
  queue.post_buffers(1);
  EXPECT_TRUE(queue.place(segment(2, 0, true), counting(28)));
}

TEST(MessageQueue, LongerThanAnyMessageOfItsKind) {
  MessageQueue<28> queue(1);
  EXPECT_EQ(queue.place(segment(1, 0, true), counting(29)).error(), UntaggedError::kTooLong);
  EXPECT_EQ(queue.place(segment(1, 29, true), counting(1)).error(), UntaggedError::kInvalidOffset);
}

// RFC 7306 sections 5.2.1 and 5.2.2, RFC 5040 section 4.8: 52, 12 and 4 + 2 + 18 + 28 octets, and not one more.
TEST(UntaggedQueues, TakeTheLongestMessageOfTheirKind) {
  const auto take = [](auto& queue, std::size_t octets) { return queue.place(segment(1, 0, true), counting(octets)); };
  UntaggedQueues fits(1), exceeds(1);
  for (UntaggedQueues* queues : {&fits, &exceeds}) queues->atomic_responses.post_buffers(1);
  EXPECT_TRUE(take(fits.requests, 52));
  EXPECT_TRUE(take(fits.terminate, 52));
  EXPECT_TRUE(take(fits.atomic_responses, 12));
  EXPECT_EQ(take(exceeds.requests, 53).error(), UntaggedError::kTooLong);
  EXPECT_EQ(take(exceeds.terminate, 53).error(), UntaggedError::kTooLong);
  EXPECT_EQ(take(exceeds.atomic_responses, 13).error(), UntaggedError::kTooLong);
}

// DDP-7.1-01; RDMAP's are 0 to 2 (RFC 5040 section 3.1) and 3 (RFC 7306 section 4).
TEST(UntaggedQueues, AreFour) {
  for (std::uint32_t queue = 0; queue < 4; ++queue) EXPECT_EQ(std::to_underlying(*queue_number(queue)), queue);
  EXPECT_EQ(queue_number(4).error(), UntaggedError::kInvalidQueue);
}

// Any message, any MULPDU: what is cut is put together again, once and whole.
TEST(UntaggedQueues, CutAndPutTogether) {
  std::mt19937 engine(3);
  const auto random = [&] { return static_cast<std::uint32_t>(engine()); };
  FakePlacement memory;
  ReceiveQueue queue;
  MsnSource msn;
  for (std::uint32_t round = 0; round < 300; ++round) {
    const auto message = counting(random() % 5000, round);
    memory.post(round, message.size() + random() % 3);
    UntaggedSegmenter cut(0x43, round, 0, msn.take(), static_cast<std::uint32_t>(message.size()));
    int delivered = 0;
    while (!cut.done()) {
      const auto piece = cut.next(kLeastMulpdu + random() % 2000);
      const auto outcome = queue.place(piece.header, Bytes(message).subspan(piece.offset, piece.length), memory);
      ASSERT_TRUE(outcome);
      if (const auto* filled = std::get_if<ReceiveFilled>(&*outcome)) {
        ++delivered;
        ASSERT_EQ(filled->length, message.size());
        ASSERT_EQ(filled->rsvd_ulp_word, round);
        ASSERT_EQ(filled->buffer.cookie, round);
      }
    }
    ASSERT_EQ(delivered, 1);
    memory.receives[round].resize(message.size());
    ASSERT_EQ(memory.receives[round], message);
    memory.receives.erase(round);
  }
}

// Before all of a segment is there: only what place() would take, and never over what was placed.
TEST(ReceiveQueue, TellsWhereASegmentWillGo) {
  FakePlacement memory;
  ReceiveQueue queue;
  EXPECT_EQ(queue.landing(segment(1, 0, false), 10, memory), std::nullopt) << "no receive is posted";
  memory.post(8, 100);
  memory.post(9, 100);
  EXPECT_EQ(queue.landing(segment(2, 0, false), 10, memory), std::nullopt) << "another message";
  EXPECT_EQ(queue.landing(segment(1, 4, false), 10, memory), std::nullopt) << "not at the message's beginning";
  EXPECT_EQ(memory.posted.size(), 2U) << "nothing was taken for these";
  EXPECT_EQ(queue.landing(segment(1, 0, false), 101, memory), std::nullopt) << "too long";
  EXPECT_EQ(queue.landing(segment(1, 0, false), 100, memory), (ReceiveBuffer{8, 100}));
  EXPECT_EQ(queue.landing(segment(1, 0, false), 60, memory), (ReceiveBuffer{8, 100})) << "the same receive again";
  ASSERT_TRUE(queue.place(segment(1, 0, false), counting(60), memory));
  EXPECT_EQ(queue.landing(segment(1, 50, true), 10, memory), std::nullopt) << "over octets that were placed";
  EXPECT_EQ(queue.landing(segment(1, 61, true), 10, memory), std::nullopt) << "a hole";
  EXPECT_EQ(queue.landing(segment(1, 60, true), 41, memory), std::nullopt) << "beyond the buffer";
  EXPECT_EQ(queue.landing(segment(1, 60, true), 40, memory), (ReceiveBuffer{8, 100}));
  const auto outcome = queue.place(segment(1, 60, true), counting(40), memory);
  ASSERT_TRUE(outcome);
  EXPECT_EQ(std::get<ReceiveFilled>(*outcome).buffer.cookie, 8U);
  EXPECT_EQ(queue.landing(segment(2, 0, true), 1, memory), (ReceiveBuffer{9, 100}));
  EXPECT_EQ(queue.take_unfinished(), (ReceiveBuffer{9, 100})) << "given back when the segment never comes";
}

// What was kept aside was the last message; the next one is for its buffer.
TEST(ReceiveQueue, BehindImmediateDataABufferIsForItsMessageAgain) {
  FakePlacement memory;
  memory.post(8, 100);
  memory.post(9, 100);
  ReceiveQueue queue;
  ASSERT_TRUE(queue.place(segment(1, 0, true), counting(8), memory, ReceiveQueue::Where::kAside));
  EXPECT_EQ(queue.landing(segment(2, 0, true), 10, memory), (ReceiveBuffer{9, 100}));
  const auto outcome = queue.place(segment(2, 0, true), counting(10), memory);
  ASSERT_TRUE(outcome);
  EXPECT_TRUE(std::get<ReceiveFilled>(*outcome).aside.empty());
}

// No octets need no memory, whatever its owner has done to it.
TEST(ReceiveQueue, AnEmptyMessageTouchesNoMemory) {
  FakePlacement memory;
  memory.post(8, 100);
  memory.deregistered = true;
  ReceiveQueue queue;
  const auto outcome = queue.place(segment(1, 0, true), {}, memory);
  ASSERT_TRUE(outcome);
  EXPECT_EQ(std::get<ReceiveFilled>(*outcome).length, 0U);
}

// A message that is kept aside stays there.
TEST(ReceiveQueue, ImmediateDataIsNotForABuffer) {
  FakePlacement memory;
  memory.post(8, 100);
  ReceiveQueue queue;
  ASSERT_TRUE(queue.place(segment(1, 0, false), counting(4), memory, ReceiveQueue::Where::kAside));
  EXPECT_EQ(queue.landing(segment(1, 4, true), 4, memory), std::nullopt);
}

}  // namespace
}  // namespace weft::ddp
