// SPDX-License-Identifier: Apache-2.0
#include "transport/endpoint.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>

#include <string>

namespace weft::transport {
namespace {

TEST(Endpoint, PrintsWhatItParses) {
  for (const std::string text : {"127.0.0.1:4420", "0.0.0.0:0", "255.255.255.255:65535", "[::1]:1", "[2001:db8::a]:80",
                                 "[::]:0", "[fe80::1%lo]:5"}) {
    const auto endpoint = Endpoint::parse(text);
    ASSERT_TRUE(endpoint) << text;
    EXPECT_EQ(endpoint->to_string(), text);
  }
}

TEST(Endpoint, NamesWhatIsWrong) {
  const auto error = [](std::string_view text) { return Endpoint::parse(text).error(); };
  EXPECT_EQ(error("127.0.0.1"), ParseError::kMissingPort);
  EXPECT_EQ(error("127.0.0.1:"), ParseError::kMissingPort);
  EXPECT_EQ(error("[::1]"), ParseError::kMissingPort);
  EXPECT_EQ(error("[::1]80"), ParseError::kMissingPort);
  EXPECT_EQ(error("127.0.0.1:65536"), ParseError::kBadPort);
  EXPECT_EQ(error("127.0.0.1:-1"), ParseError::kBadPort);
  EXPECT_EQ(error("127.0.0.1:8x"), ParseError::kBadPort);
  EXPECT_EQ(error("127.0.0.256:1"), ParseError::kBadAddress);
  EXPECT_EQ(error("example.org:1"), ParseError::kBadAddress);
  EXPECT_EQ(error("2001:db8::1:80"), ParseError::kBadAddress);
  EXPECT_EQ(error("[::1:80"), ParseError::kBadAddress);
  EXPECT_EQ(error("[fe80::1%nosuchdevice]:1"), ParseError::kBadScope);
  EXPECT_EQ(error(std::string_view("127.0.0.1\0x:1", 13)), ParseError::kBadAddress);
  EXPECT_FALSE(describe(ParseError::kBadScope).empty());
}

TEST(Endpoint, SurvivesSockaddr) {
  for (const std::string text : {"192.0.2.7:4420", "[2001:db8::a]:80", "[fe80::1%lo]:5"}) {
    const Endpoint endpoint = Endpoint::parse(text).value();
    sockaddr_storage storage{};
    const auto length = endpoint.to_sockaddr(storage);
    EXPECT_EQ(Endpoint::from_sockaddr(reinterpret_cast<sockaddr*>(&storage), length), endpoint);
  }
}

// Against the system's own spelling, not only against our own inverse.
TEST(Endpoint, FillsSockaddrAsTheSystemReadsIt) {
  sockaddr_storage storage{};
  EXPECT_EQ(Endpoint::parse("192.0.2.7:4420")->to_sockaddr(storage), sizeof(sockaddr_in));
  const auto* v4 = reinterpret_cast<const sockaddr_in*>(&storage);
  EXPECT_EQ(v4->sin_family, AF_INET);
  EXPECT_EQ(ntohs(v4->sin_port), 4420);
  EXPECT_EQ(ntohl(v4->sin_addr.s_addr), 0xC0000207U);
}

TEST(Endpoint, MappedIpv4IsIpv4) {
  EXPECT_EQ(Address::parse("::ffff:192.0.2.1"), Address::parse("192.0.2.1"));
  EXPECT_NE(Address::parse("::fffe:192.0.2.1")->family, Family::kIpv4);
}

TEST(Endpoint, RefusesForeignAndShortSockaddr) {
  sockaddr_storage storage{};
  const auto* address = reinterpret_cast<const sockaddr*>(&storage);
  storage.ss_family = AF_UNIX;
  EXPECT_EQ(Endpoint::from_sockaddr(address, sizeof storage).error(), std::errc::address_family_not_supported);
  storage.ss_family = AF_INET6;
  EXPECT_EQ(Endpoint::from_sockaddr(address, sizeof(sockaddr_in)).error(), std::errc::invalid_argument);
  EXPECT_EQ(Endpoint::from_sockaddr(address, 0).error(), std::errc::invalid_argument);
}

TEST(Address, KnowsItsKind) {
  EXPECT_TRUE(Address::parse("127.3.2.1")->is_loopback());
  EXPECT_TRUE(Address::parse("::1")->is_loopback());
  EXPECT_FALSE(Address::parse("128.0.0.1")->is_loopback());
  EXPECT_FALSE(Address::parse("7f00::1")->is_loopback());
  EXPECT_TRUE(Address::any(Family::kIpv6).is_any());
  EXPECT_EQ(Address::loopback(Family::kIpv4).to_string(), "127.0.0.1");
}

}  // namespace
}  // namespace weft::transport
