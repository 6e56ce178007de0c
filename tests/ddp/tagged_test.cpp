// SPDX-License-Identifier: Apache-2.0
#include "ddp/tagged.hpp"

#include <gtest/gtest.h>

#include "tests/ddp/fake_placement.hpp"

namespace weft::ddp {
namespace {

using test::counting;
using test::FakePlacement;

constexpr std::uint64_t kTop = 0xffffffffffffffff;

// The end is exclusive: the octet at 2^64 - 1 exists, the one after it does not.
TEST(OffsetWraps, AtTheEdge) {
  EXPECT_FALSE(offset_wraps({kTop}, 0));
  EXPECT_FALSE(offset_wraps({kTop}, 1));
  EXPECT_TRUE(offset_wraps({kTop}, 2));
  EXPECT_FALSE(offset_wraps({kTop - 9}, 10));
  EXPECT_TRUE(offset_wraps({kTop - 9}, 11));
  EXPECT_FALSE(offset_wraps({0}, kTop));
  EXPECT_TRUE(offset_wraps({2}, kTop));
}

TEST(PlaceTagged, EveryRefusalHasItsCode) {
  FakePlacement memory;
  const std::pair<AccessError, TaggedError> expected[] = {
      {AccessError::kInvalidStag, TaggedError::kInvalidStag},
      {AccessError::kNotAssociated, TaggedError::kNotAssociated},
      {AccessError::kAccessRights, TaggedError::kInvalidStag},
      {AccessError::kOffsetWrap, TaggedError::kOffsetWrap},
      {AccessError::kBaseOrBounds, TaggedError::kBaseOrBounds},
      {AccessError::kUnaligned, TaggedError::kBaseOrBounds},
  };
  for (const auto& [access, error] : expected) {
    memory.refuse = access;
    EXPECT_EQ(place_tagged({true, 0x40, FakePlacement::kStag, {0x1000}}, counting(1), memory), std::unexpected(error));
  }
}

}  // namespace
}  // namespace weft::ddp
