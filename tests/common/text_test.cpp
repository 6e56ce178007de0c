// SPDX-License-Identifier: Apache-2.0
#include "common/text.hpp"

#include <gtest/gtest.h>

#include <array>

namespace weft {
namespace {

TEST(Text, OfOctetsEndsWhereItIsTold) {
  constexpr std::array kOctets{std::byte{0x0A}, std::byte{0x00}, std::byte{0xFF}};
  EXPECT_EQ(hex(kOctets), "0a 00 ff");
  EXPECT_EQ(hex(kOctets, 2), "0a 00 ...");
  EXPECT_EQ(hex(Bytes()), "");
  EXPECT_EQ(hex_digits(kOctets), "0a00ff");
}

TEST(Text, OfNumbersHasTheDigitsOfTheirType) {
  EXPECT_EQ(hex(std::uint8_t{0xA}), "0x0a");
  EXPECT_EQ(hex(std::uint64_t{0x8000000000000001}), "0x8000000000000001");
  EXPECT_EQ(hex_number(0x123, 2), "0x0123");
  EXPECT_EQ(short_hex(0), "0x0");
  EXPECT_EQ(short_hex(0x10), "0x10");
  EXPECT_EQ(short_hex(~std::uint64_t{0}), "0xffffffffffffffff");
}

TEST(Text, OfTimesHasMicroseconds) {
  EXPECT_EQ(seconds_text(0), "0.000000");
  EXPECT_EQ(seconds_text(1'000'345'999), "1.000345");
  EXPECT_EQ(seconds_text(-12'000'000'000 - 7'000), "-12.000007");
}

TEST(Text, OfCountsHasTheRightNumber) {
  EXPECT_EQ(octets_text(0), "0 octets");
  EXPECT_EQ(octets_text(1), "1 octet");
}

}  // namespace
}  // namespace weft
