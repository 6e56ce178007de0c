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

}  // namespace
}  // namespace weft::engine::test
