// SPDX-License-Identifier: Apache-2.0
// Which FPDUs go out with their payload left in user memory, to the last octet of room and the last piece.
#include "engine/fpdu_cutter.hpp"

#include <gtest/gtest.h>

#include <array>

#include "rdmap/control.hpp"
#include "tests/engine/builders.hpp"
#include "tests/engine/vector_memory.hpp"

namespace weft::engine::test {
namespace {

constexpr std::uint32_t kPayload = 1000;  // with which no PAD is needed
constexpr std::size_t kFpdu = 2 + 18 + kPayload + 4;
// Length field, untagged header, PAD of up to 3, CRC field: RFC 5044 figure 3, RFC 5041 figure 4.
constexpr std::size_t kAround = 2 + 18 + 3 + 4;

// A Send whose octets may be lent, without CRC and Markers.
struct Cutting : testing::Test {
  void SetUp() override {
    memory.lend = true;
    memory.add(kKey, kPayload).octets = pattern(kPayload);
    queue.push({.operation = Operation::kSend, .local = local});
    ticket = queue.start();
  }
  std::size_t cut(TransmitBatch& batch) {
    PayloadReader reader(memory, queue);
    FpduCutter cutter({.crc = false}, 65483, 0);
    OutgoingMessage message{
        .segments = ddp::UntaggedSegmenter(rdmap::control_octet(rdmap::Opcode::kSend), 0, 0, ddp::Msn{1}, kPayload),
        .source = FromWorkRequest{ticket}};
    return cutter.cut(message, 8192, reader, batch).value_or(0);
  }
  [[nodiscard]] bool borrowed(const TransmitBatch& batch) {
    const std::byte* const payload = memory.regions().at(kKey).octets.data();
    return std::ranges::any_of(batch.pieces(), [=](Bytes piece) { return piece.data() == payload; });
  }

  static constexpr std::uint32_t kKey = 10;
  VectorMemory memory;
  std::array<rdmap::LocalSegment, 1> local{{{.address = 0, .length = kPayload, .lkey = kKey}}};
  SendQueue queue{1};
  std::uint64_t ticket = 0;
};

TEST_F(Cutting, BorrowsWhereTheArenaHoldsWhatGoesAroundThePayload) {
  TransmitBatch exact(kAround);
  EXPECT_EQ(cut(exact), kFpdu);
  EXPECT_TRUE(borrowed(exact));
  TransmitBatch short_of_one(kAround - 1);
  EXPECT_EQ(cut(short_of_one), 0u);
  EXPECT_TRUE(short_of_one.empty());
}

// As many pieces as are lent for one FPDU, and one on each side.
TEST_F(Cutting, BorrowsWhereThereAreAsManyPiecesAsItMayTake) {
  const std::array<std::byte, 1> other{};
  for (const std::size_t left : {kMostLent + 2, kMostLent + 1}) {
    TransmitBatch batch(4096);
    while (batch.piece_room() > left) batch.append_borrowed(other);
    EXPECT_EQ(cut(batch), kFpdu);
    EXPECT_EQ(borrowed(batch), left == kMostLent + 2) << left << " pieces";
  }
}

}  // namespace
}  // namespace weft::engine::test
