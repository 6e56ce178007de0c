// SPDX-License-Identifier: Apache-2.0
#include "conformance/rules/coverage.hpp"

#include <gtest/gtest.h>

namespace weft::conformance {
namespace {

TEST(Coverage, GrowsInOrder) {
  Coverage seen;
  EXPECT_TRUE(seen.empty());
  seen.add(100, 0);
  EXPECT_TRUE(seen.empty()) << "nothing covers nothing";
  seen.add(100, 10);
  seen.add(110, 5);
  EXPECT_EQ(seen.begin(), 100U);
  EXPECT_EQ(seen.end(), 115U);
  EXPECT_TRUE(seen.contiguous());
  EXPECT_FALSE(seen.overlaps());
}

TEST(Coverage, ClosesHolesFromBothSides) {
  Coverage seen;
  seen.add(0, 10);
  seen.add(20, 10);
  EXPECT_FALSE(seen.contiguous());
  seen.add(10, 10);
  EXPECT_TRUE(seen.contiguous());
  EXPECT_EQ(seen.begin(), 0U);
  EXPECT_EQ(seen.end(), 30U);
  EXPECT_FALSE(seen.overlaps()) << "pieces that touch share nothing";
}

TEST(Coverage, TellsWhatCameTwice) {
  for (const auto& [begin, size] : {std::pair{9U, 2U}, {19U, 2U}, {0U, 40U}, {12U, 3U}, {10U, 10U}}) {
    Coverage seen;
    seen.add(10, 10);
    seen.add(begin, size);
    EXPECT_TRUE(seen.overlaps()) << begin;
    EXPECT_TRUE(seen.contiguous()) << begin;
    EXPECT_EQ(seen.begin(), std::min(10U, begin));
    EXPECT_EQ(seen.end(), std::max(20U, begin + size));
  }
}

TEST(Coverage, GivesUpWhereTooManyPiecesLieApart) {
  Coverage seen;
  for (std::uint64_t i = 0; i < Coverage::kMostPieces; ++i) seen.add(10 * i, 1);
  EXPECT_TRUE(seen.known());
  seen.add(10 * Coverage::kMostPieces, 1);
  EXPECT_FALSE(seen.known());
  seen.clear();
  EXPECT_TRUE(seen.known());
  EXPECT_TRUE(seen.empty());
}

}  // namespace
}  // namespace weft::conformance
