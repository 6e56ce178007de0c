// SPDX-License-Identifier: Apache-2.0
// The private data with which two queue pairs name each other, octet by octet.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "compat/direct/greeting.hpp"
#include "compat/objects/cm_datagrams.hpp"

namespace weft::compat::direct {
namespace {

verbs::Address address(const char* text) { return verbs::Address::parse(text).value(); }

Greeting sample() {
  return {.from = {.address = address("192.0.2.1"), .number = 0x123456},
          .to = {.address = address("2001:db8::7"), .number = 0xABCDEF},
          .sq_psn = 0x010203,
          .rq_psn = std::nullopt};
}

TEST(CompatDirectGreeting, HasTheseOctets) {
  const std::vector<int> expected{
      'w',  'e',  'f',  't',  '-',  'q',  'p',  1,                                     // version 1
      0,    0x12, 0x34, 0x56, 0,    0xAB, 0xCD, 0xEF,                                  // from, to
      0,    1,    2,    3,    0xFF, 0xFF, 0xFF, 0xFF,                                  // sq_psn, rq_psn unknown
      0,    0,    0,    0,    0,    0,    0,    0,    0, 0, 0xFF, 0xFF, 192, 0, 2, 1,  // ::ffff:192.0.2.1
      0x20, 0x01, 0x0D, 0xB8, 0,    0,    0,    0,    0, 0, 0,    0,    0,   0, 0, 7,  // 2001:db8::7
      0,    0,    0,    0,    0,    0,    0,    0};                                    // reserved
  const auto octets = encode(sample());
  ASSERT_EQ(octets.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(std::to_integer<int>(octets[i]), expected[i]) << i;
}

TEST(CompatDirectGreeting, IsReadAsItWasWritten) {
  EXPECT_EQ(decode(encode(sample())), sample());
  auto longer = encode(sample());
  std::vector<std::byte> padded(longer.begin(), longer.end());
  padded.resize(200);
  EXPECT_EQ(decode(padded), sample()) << "a later version may append";
}

TEST(CompatDirectGreeting, NothingElseIsRead) {
  auto octets = encode(sample());
  EXPECT_FALSE(decode({}));
  EXPECT_FALSE(decode(std::span(octets).first(kGreetingSize - 1)));
  for (std::size_t i = 0; i < 8; ++i) {
    auto other = octets;
    other[i] ^= std::byte{1};
    EXPECT_FALSE(decode(other)) << i;
  }
}

TEST(CompatDirectGreeting, GidsAreAddresses) {
  for (const char* text : {"127.0.0.1", "192.0.2.255", "::1", "2001:db8::1"}) {
    EXPECT_EQ(verbs::Address::from_ipv6(address(text).to_ipv6()), address(text)) << text;
  }
}

TEST(CompatDirectGreeting, ANumberIsAPortAndAnIndex) {
  EXPECT_EQ(number_of(0x1234, 0x56), 0x123456U);
  EXPECT_EQ(port_of(0x123456), 0x1234);
  EXPECT_EQ(index_of(0x123456), 0x56);
}

TEST(CompatDatagramMessage, HasTheseOctetsAndNoOthers) {
  const DatagramMessage message{.kind = DatagramMessage::Kind::kAnswer, .number = 0x123456, .qkey = 0x80000001};
  std::vector<std::byte> octets = encode(message, {});
  const std::vector<int> expected{'w', 'e', 'f', 't', 'U', 'D', 1, 2, 0, 0x12, 0x34, 0x56, 0x80, 0, 0, 1};
  EXPECT_TRUE(std::ranges::equal(octets, expected, {}, [](std::byte octet) { return std::to_integer<int>(octet); }));
  EXPECT_EQ(decode_datagram_message(octets), message);
  for (const std::size_t at : {0U, 5U, 6U, 7U}) {  // the name, the version, the kind
    std::vector<std::byte> other = octets;
    other[at] ^= std::byte{0x10};
    EXPECT_FALSE(decode_datagram_message(other)) << at;
  }
  octets.pop_back();
  EXPECT_FALSE(decode_datagram_message(octets)) << "too short";
  EXPECT_FALSE(decode_datagram_message({}));
}

}  // namespace
}  // namespace weft::compat::direct
