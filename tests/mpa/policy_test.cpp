// SPDX-License-Identifier: Apache-2.0
#include "mpa/policy.hpp"

#include <gtest/gtest.h>

namespace weft::mpa {
namespace {

// MPA-4.4-02: without a wish of the administrator the CRC is on. The rest is what docs and verbs promise.
TEST(Policy, OfWhoWishesNothing) {
  constexpr Policy kPlain;
  EXPECT_EQ(kPlain.revision, 2);
  EXPECT_TRUE(kPlain.crc);
  EXPECT_FALSE(kPlain.markers);
  EXPECT_TRUE(kPlain.enhanced);
  EXPECT_FALSE(kPlain.peer_to_peer);
  EXPECT_EQ(kPlain.rtr, (RtrTypes{.send = false, .write = true, .read = true}));
  EXPECT_EQ(kPlain.ird, 128);
  EXPECT_EQ(kPlain.ord, 128);
}

TEST(Policy, AnyOfTheReadyToReceiveIndicationsIsOne) {
  EXPECT_FALSE(RtrTypes{}.any());
  EXPECT_TRUE(RtrTypes{.send = true}.any());
  EXPECT_TRUE(RtrTypes{.write = true}.any());
  EXPECT_TRUE(RtrTypes{.read = true}.any());
}

}  // namespace
}  // namespace weft::mpa
