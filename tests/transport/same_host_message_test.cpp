// SPDX-License-Identifier: Apache-2.0
#include "transport/same_host/message.hpp"

#include <gtest/gtest.h>

#include <string>

namespace weft::transport::same_host::test {
namespace {

constexpr Endpoint kSomebody{Address{.octets = {std::byte{127}, {}, {}, std::byte{1}}}, 40123};

TEST(SameHostMessage, IsReadAsItWasWritten) {
  const Message v6{
      .from = {Address{.family = Family::kIpv6, .octets = {std::byte{0xfe}, std::byte{0x80}}, .scope = 3}, 1},
      .to = {Address::loopback(Family::kIpv6), 65535},
      .ring_octets = 1U << 20U};
  const Message v4{.from = kSomebody, .to = {Address::any(Family::kIpv4), 0}, .ring_octets = 4096};
  for (const Message& message : {v6, v4}) EXPECT_EQ(parse_message(serialize(message)), message);
}

// The figure of message.hpp, octet by octet.
TEST(SameHostMessage, HasItsOctetsWhereTheFigureSays) {
  const auto octets = serialize({.from = kSomebody, .to = {}, .ring_octets = 0x00010203});
  const std::string text(reinterpret_cast<const char*>(octets.data()), octets.size());
  EXPECT_EQ(text.substr(0, 16), std::string("weftring\0\0\0\1\0\1\2\3", 16));
  EXPECT_EQ(text.substr(26, 12), std::string("\xff\xff\x7f\0\0\1\0\0\0\0\x9c\xbb", 12));
  EXPECT_EQ(text.substr(38), std::string("\0\0\0\0\0\0\0\0\0\0\xff\xff", 12) + std::string(10, '\0'));
}

}  // namespace
}  // namespace weft::transport::same_host::test
