// SPDX-License-Identifier: Apache-2.0
// A message of which only a part has been cut: there is output, and what comes in between.
#include <gtest/gtest.h>

#include "tests/engine/rogue.hpp"

namespace weft::engine::test {
namespace {

constexpr std::uint32_t kSize = 4000;

// A Write of three FPDUs, of which a small batch took the first.
struct HalfCut : Rogue {
  HalfCut() {
    end.memory.add(1, kSize);
    establish();
    const rdmap::LocalSegment all{0, kSize, 1};
    require(end.engine.post(write_of(7, all, 9, 0)).has_value(), "post");
    require(end.engine.fill(small, {}), "there is more than the batch took");
  }
  void write_out() {
    const std::size_t size = small.size();
    small.consume(size);
    end.engine.written(size, {});
    end.poll();
  }
  TransmitBatch small{1500};
};

TEST(UnderWay, TheRestOfAMessageIsOutput) {
  HalfCut rogue;
  rogue.write_out();
  EXPECT_TRUE(rogue.end.engine.has_output());
  EXPECT_EQ(rogue.end.count<SendCompleted>(), 0U);
  rogue.flush();
  EXPECT_FALSE(rogue.end.engine.has_output());
  EXPECT_EQ(rogue.end.count<SendCompleted>(), 1U);
}

TEST(UnderWay, ATerminateIsOutput) {
  Rogue rogue;
  rogue.establish();
  rogue.tagged(rdmap::Opcode::kWrite, 99, 0, pattern(8));
  EXPECT_TRUE(rogue.end.engine.has_output());
  rogue.flush();
  EXPECT_FALSE(rogue.end.engine.has_output());
}

// A Terminate that is due does not wait for memory that is gone, nor is that told as another error.
TEST(UnderWay, MemoryThatGoesDoesNotHoldUpATerminate) {
  HalfCut rogue;
  rogue.write_out();
  rogue.tagged(rdmap::Opcode::kWrite, 99, 0, pattern(8));  // no such STag
  ASSERT_EQ(rogue.end.count<ProtocolError>(), 1U);
  rogue.end.memory.regions().erase(1);
  rogue.flush();
  EXPECT_EQ(rogue.end.count<ProtocolError>(), 1U);
  ASSERT_GE(rogue.end.sent.size(), 4U + 18U + 20U);
  const Bytes terminate = Bytes(rogue.end.sent).last(2 + 18 + 20 + 4);  // 4 of control, 2 of length, 14 of DDP's header
  EXPECT_EQ(terminate[2 + 18], std::byte{0x11}) << "DDP, tagged";
  EXPECT_EQ(terminate[2 + 18 + 1], std::byte{0x00});
  rogue.fin();
  ASSERT_EQ(rogue.end.count<SendCompleted>(), 1U);
  EXPECT_EQ(rogue.end.first<SendCompleted>()->status, WorkStatus::kFlushed);
}

// The Writes whose offset a Terminate quotes, of a Write of so many octets at 50.
TEST(UnderWay, AWriteIsBlamedForEachOfItsOctetsAndNoOther) {
  const auto is_blamed = [](std::uint32_t size, std::uint64_t offset) {
    Rogue rogue;
    rogue.end.memory.add(1, kSize);
    rogue.establish();
    const rdmap::LocalSegment some{0, size, 1};
    require(rogue.end.engine.post(write_of(7, some, 9, 50)).has_value(), "post");
    TransmitBatch batch(65536);  // cut, and not yet written: it is not complete
    rogue.end.engine.fill(batch, rogue.now);
    Octets payload(rdmap::TerminateLayout::kLongest);
    const ddp::TaggedHeader quoted{true, rdmap::control_octet(rdmap::Opcode::kWrite), {9}, {offset}};
    payload.resize(rdmap::serialize(
        {rdmap::error_code(ddp::TaggedError::kInvalidStag), 20, rdmap::HeaderCopy(quoted), {}}, payload));
    rogue.untagged(rdmap::Opcode::kTerminate, 1, payload);
    rogue.end.engine.written(batch.size(), rogue.now);
    rogue.end.poll();
    return rogue.end.first<SendCompleted>()->status == WorkStatus::kRemoteAccess;
  };
  EXPECT_FALSE(is_blamed(100, 49));
  EXPECT_TRUE(is_blamed(100, 50));
  EXPECT_TRUE(is_blamed(100, 149));
  EXPECT_FALSE(is_blamed(100, 150));
  EXPECT_TRUE(is_blamed(0, 50)) << "one of no octets";
  EXPECT_FALSE(is_blamed(0, 51));
}

// A place of the send queue is used again: the MSN of the Send that had it is not that of a Write.
TEST(UnderWay, AWriteIsNotBlamedForTheSendWhosePlaceItHas) {
  constexpr std::uint32_t kSends = 4;  // in two places
  for (std::uint32_t msn = 1; msn <= kSends; ++msn) {
    Config config = responder();
    config.send_queue_depth = 1;
    Rogue rogue(config);
    rogue.end.memory.add(1, kSize);
    rogue.establish();
    const rdmap::LocalSegment some{0, 100, 1};
    for (std::uint64_t cookie = 1; cookie <= kSends; ++cookie) {
      ASSERT_TRUE(rogue.end.engine.post(send_of(cookie, some)));
      rogue.flush();
    }
    ASSERT_TRUE(rogue.end.engine.post(write_of(7, some, 9, 0)));
    TransmitBatch batch(65536);  // cut, and not yet written: it is not complete
    rogue.end.engine.fill(batch, rogue.now);
    Octets payload(rdmap::TerminateLayout::kLongest);
    const ddp::UntaggedHeader send{true, rdmap::control_octet(rdmap::Opcode::kSend), 0, 0, {msn}, {0}};
    payload.resize(rdmap::serialize(
        {rdmap::error_code(ddp::UntaggedError::kNoBuffer), 118, rdmap::HeaderCopy(send), {}}, payload));
    rogue.untagged(rdmap::Opcode::kTerminate, 1, payload);
    rogue.end.engine.written(batch.size(), rogue.now);
    rogue.end.poll();
    const auto done = rogue.end.all<SendCompleted>();
    ASSERT_EQ(done.size(), kSends + 1);
    EXPECT_EQ(done.back().status, WorkStatus::kSuccess) << "the Send with MSN " << msn;
  }
}

}  // namespace
}  // namespace weft::engine::test
