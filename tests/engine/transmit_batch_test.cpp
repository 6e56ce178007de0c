// SPDX-License-Identifier: Apache-2.0
#include "engine/transmit_batch.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>

namespace weft::engine {
namespace {

void put(TransmitBatch& batch, std::string_view text) {
  std::ranges::transform(text, batch.free_arena().begin(), [](char c) { return static_cast<std::byte>(c); });
  batch.commit(text.size());
}

std::string flat(const TransmitBatch& batch) {
  std::string out;
  for (const Bytes piece : batch.pieces()) {
    for (const std::byte b : piece) out.push_back(static_cast<char>(b));
  }
  return out;
}

TEST(TransmitBatch, NeighboursInTheArenaBecomeOnePiece) {
  TransmitBatch batch(64);
  put(batch, "one ");
  put(batch, "two");
  EXPECT_EQ(batch.pieces().size(), 1u);
  EXPECT_EQ(flat(batch), "one two");
  EXPECT_EQ(batch.size(), 7u);
}

TEST(TransmitBatch, BorrowedOctetsKeepTheirPlaceInTheOrder) {
  TransmitBatch batch(64);
  const std::array<std::byte, 3> mine{std::byte{'x'}, std::byte{'y'}, std::byte{'z'}};
  put(batch, "<");
  batch.append_borrowed(mine);
  put(batch, ">");
  EXPECT_EQ(flat(batch), "<xyz>");
  EXPECT_EQ(batch.pieces().size(), 3u);
  EXPECT_EQ(batch.pieces()[1].data(), mine.data()) << "borrowed means not copied";
}

TEST(TransmitBatch, ConsumeMayStopInsideAPiece) {
  TransmitBatch batch(64);
  const std::array<std::byte, 2> mine{std::byte{'x'}, std::byte{'y'}};
  put(batch, "abc");
  batch.append_borrowed(mine);
  batch.consume(4);
  EXPECT_EQ(flat(batch), "y");
  put(batch, "!");
  EXPECT_EQ(flat(batch), "y!");
}

TEST(TransmitBatch, AnEmptiedBatchHasItsWholeArenaAgain) {
  TransmitBatch batch(8);
  put(batch, "12345678");
  EXPECT_EQ(batch.arena_room(), 0u);
  batch.consume(3);
  EXPECT_EQ(batch.arena_room(), 0u) << "the arena is given back as a whole";
  batch.consume(5);
  EXPECT_TRUE(batch.empty());
  EXPECT_EQ(batch.arena_room(), 8u);
  EXPECT_EQ(batch.piece_room(), TransmitBatch::kMaxPieces);
}

}  // namespace
}  // namespace weft::engine
