// SPDX-License-Identifier: Apache-2.0
// --filter: the language, and what it selects.
#include "conformance/connection_filter.hpp"

#include <gtest/gtest.h>

namespace weft::conformance::testing {
namespace {

const ConnectionInfo kFour{.first = {"192.0.2.1", 40000}, .second = {"192.0.2.130", 4420}};
const ConnectionInfo kSix{.first = {"2001:db8::1", 40000}, .second = {"2001:db8:1::2", 7174}};

bool takes(std::string_view text, const ConnectionInfo& info) {
  const auto filter = ConnectionFilter::parse(text);
  EXPECT_TRUE(filter) << text << ": " << filter.error();
  return filter && filter->takes(info);
}

TEST(ConnectionFilter, WithoutAnExpressionTakesAll) {
  EXPECT_TRUE(ConnectionFilter().takes(kFour));
  EXPECT_TRUE(ConnectionFilter().takes_all());
}

TEST(ConnectionFilter, HasTermsForEitherEnd) {
  EXPECT_TRUE(takes("host 192.0.2.1", kFour));
  EXPECT_TRUE(takes("host 192.0.2.130", kFour));
  EXPECT_FALSE(takes("host 192.0.2.2", kFour));
  EXPECT_FALSE(takes("host 192.0.2.1", kSix));
  EXPECT_TRUE(takes("host 2001:DB8:0::1", kSix));
  EXPECT_TRUE(takes("host ::ffff:192.0.2.1", kFour)) << "the same address, mapped";
  EXPECT_TRUE(takes("net 192.0.2.128/25", kFour));
  EXPECT_FALSE(takes("net 192.0.2.64/26", kFour));
  EXPECT_TRUE(takes("net 192.0.2.130/32", kFour));
  EXPECT_TRUE(takes("net 0.0.0.0/0", kFour));
  EXPECT_FALSE(takes("net 0.0.0.0/0", kSix));
  EXPECT_TRUE(takes("net 2001:db8:1::/47", kSix));
  EXPECT_TRUE(takes("net ::/0", kSix));
  EXPECT_TRUE(takes("port 4420", kFour));
  EXPECT_FALSE(takes("port 4420", kSix));
  EXPECT_TRUE(takes("port 4000-4420", kFour));
  EXPECT_FALSE(takes("port 4421-39999", kFour));
}

TEST(ConnectionFilter, CombinesTermsByPrecedence) {
  EXPECT_TRUE(takes("port 7174 or port 4420", kFour));
  EXPECT_TRUE(takes("port 1 and port 2 or port 4420", kFour));
  EXPECT_FALSE(takes("port 1 and (port 2 or port 4420)", kFour));
  EXPECT_TRUE(takes("not port 1 and port 4420", kFour));
  EXPECT_FALSE(takes("not (port 1 or port 4420)", kFour));
  EXPECT_TRUE(takes("!port 1&&port 4420||port 2", kFour));
  EXPECT_TRUE(takes("not not port 4420", kFour));
  EXPECT_TRUE(takes("\tport\n4420 ", kFour));
}

TEST(ConnectionFilter, IsRefusedWithTheWrongWord) {
  const auto wrong = [](std::string_view text) {
    const auto filter = ConnectionFilter::parse(text);
    return filter ? std::string() : filter.error();
  };
  EXPECT_EQ(wrong(""), "it is empty");
  EXPECT_EQ(wrong("hots 192.0.2.1"), "'hots' is not host, net, port, not or a parenthesis");
  EXPECT_EQ(wrong("host"), "'host' has no value");
  EXPECT_EQ(wrong("host example.com"), "'example.com' is not an IP address");
  EXPECT_EQ(wrong("host 192.0.2.1/24"), "'192.0.2.1/24' is not an IP address");
  EXPECT_EQ(wrong("net 192.0.2.1/33"), "'192.0.2.1/33' has no prefix length of 0 to 32");
  EXPECT_EQ(wrong("net 192.0.2.1/"), "'192.0.2.1/' has no prefix length of 0 to 32");
  EXPECT_EQ(wrong("port 65536"), "'65536' is not a port or a range of ports");
  EXPECT_EQ(wrong("port 5-4"), "'5-4' is not a port or a range of ports");
  EXPECT_EQ(wrong("port 4420 and"), "it ends where host, net or port is expected");
  EXPECT_EQ(wrong("port 4420 port 1"), "'port' is not and, or or the end");
  EXPECT_EQ(wrong("(port 4420"), "a parenthesis is not closed");
  EXPECT_EQ(wrong("port 4420)"), "')' is not and, or or the end");
  EXPECT_EQ(wrong("port 4420 & port 1"), "'&' is not and, or or the end");
  EXPECT_EQ(wrong(std::string(100000, '(')), "it is nested too deeply");
  EXPECT_EQ(wrong(std::string(100000, '!')), "it is nested too deeply");
}

}  // namespace
}  // namespace weft::conformance::testing
