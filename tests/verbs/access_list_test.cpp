// SPDX-License-Identifier: Apache-2.0
// Prefixes, and which addresses are let in, as tables.
#include "verbs/access_list.hpp"

#include <gtest/gtest.h>

#include <string>

namespace weft::verbs::test {
namespace {

Address at(const char* text) { return Address::parse(text).value(); }

std::string printed(const char* text) {
  const auto prefix = AddressPrefix::parse(text);
  return prefix ? prefix->to_string() : "none";
}

TEST(AddressPrefix, IsReadAndPrinted) {
  const struct {
    const char* text;
    const char* printed;
  } table[] = {
      {"10.0.0.0/8", "10.0.0.0/8"},
      {"192.0.2.1", "192.0.2.1/32"},
      {"192.0.2.128/25", "192.0.2.128/25"},
      {"0.0.0.0/0", "0.0.0.0/0"},
      {"2001:db8::/32", "2001:db8::/32"},
      {"2001:db8::1", "2001:db8::1/128"},
      {"2001:db8::8000:0:0:0/65", "2001:db8:0:0:8000::/65"},
      {"::/0", "::/0"},
      {"fe80::%lo/10", "fe80::%lo/10"},
      {"::ffff:192.0.2.0/120", "192.0.2.0/24"},
      {"::ffff:192.0.2.7", "192.0.2.7/32"},
      {"::ffff:0.0.0.0/96", "0.0.0.0/0"},
      // Which addresses are meant?
      {"10.0.0.1/8", "none"},
      {"2001:db8::1/64", "none"},
      {"::ffff:0.0.0.0/95", "none"},
      {"10.0.0.0/33", "none"},
      {"::/129", "none"},
      {"10.0.0.0/", "none"},
      {"10.0.0.0/-1", "none"},
      {"10.0.0.0/8/8", "none"},
      {"10.0.0/8", "none"},
      {"/8", "none"},
      {"localhost", "none"},
      {"", "none"},
      {" 10.0.0.0/8", "none"},
      {"fe80::%nosuchinterface/10", "none"},
      {"fe80::%4294967295/10", "none"},
      // No peer has such an address.
      {"::1%lo", "none"},
      {"::%lo/0", "none"},
      {"2001:db8::%lo/32", "none"},
      {"fe00::%lo/9", "none"},
      {"fec0::%lo/10", "none"},
      {"ff02::1%lo", "none"},
      {"::ffff:192.0.2.7%lo", "none"},
      {"fe80::1%lo", "fe80::1%lo/128"},
  };
  for (const auto& row : table) EXPECT_EQ(printed(row.text), row.printed) << row.text;
}

TEST(AddressPrefix, Contains) {
  const struct {
    const char* prefix;
    const char* address;
    bool contains;
  } table[] = {
      {"10.0.0.0/8", "10.255.0.1", true},
      {"10.0.0.0/8", "11.0.0.0", false},
      {"192.0.2.128/25", "192.0.2.128", true},
      {"192.0.2.128/25", "192.0.2.127", false},
      {"192.0.2.1", "192.0.2.1", true},
      {"192.0.2.1", "192.0.2.0", false},
      {"0.0.0.0/0", "203.0.113.9", true},
      {"0.0.0.0/0", "::1", false},
      {"::/0", "2001:db8::1", true},
      {"::/0", "192.0.2.1", false},
      {"::/0", "::ffff:192.0.2.1", false},
      {"192.0.2.0/24", "::ffff:192.0.2.1", true},
      {"::ffff:192.0.2.0/120", "192.0.2.1", true},
      {"2001:db8::/33", "2001:db8:7fff::1", true},
      {"2001:db8::/33", "2001:db8:8000::1", false},
      {"fe80::/10", "fe80::1%lo", true},
      {"fe80::%lo/10", "fe80::1%lo", true},
      {"fe80::%lo/10", "fe80::1", false},
  };
  for (const auto& row : table) {
    EXPECT_EQ(AddressPrefix::parse(row.prefix)->contains(at(row.address)), row.contains)
        << row.prefix << ' ' << row.address;
  }
}

TEST(AccessList, TheLongestPrefixDecides) {
  const struct {
    const char* allow;
    const char* deny;
    const char* address;
    bool admitted;
  } table[] = {
      {"none", "none", "192.0.2.1", true},
      {"none", "none", "::1", true},
      {"10.0.0.0/8", "none", "10.1.2.3", true},
      {"10.0.0.0/8", "none", "::ffff:10.1.2.3", true},
      {"10.0.0.0/8", "none", "192.0.2.1", false},
      {"10.0.0.0/8", "none", "2001:db8::1", false},
      {"none", "10.0.0.0/8", "10.1.2.3", false},
      {"none", "10.0.0.0/8", "192.0.2.1", true},
      {"none", "10.0.0.0/8", "2001:db8::1", true},
      {"10.0.0.0/8", "10.1.0.0/16", "10.1.2.3", false},
      {"10.0.0.0/8", "10.1.0.0/16", "10.2.2.3", true},
      {"10.1.2.0/24", "10.1.0.0/16", "10.1.2.3", true},
      {"10.1.2.0/24", "10.1.0.0/16", "10.1.3.3", false},
      {"10.0.0.0/8+10.1.2.0/24", "10.1.0.0/16", "10.1.2.3", true},
      {"10.0.0.0/8+10.1.2.0/24", "10.1.0.0/16+10.1.2.3", "10.1.2.3", false},
      {"10.0.0.0/8", "10.0.0.0/8", "10.1.2.3", false},
      {"0.0.0.0/0", "0.0.0.0/0", "10.1.2.3", false},
      {"192.0.2.1", "0.0.0.0/0+::/0", "192.0.2.1", true},
      {"192.0.2.1", "0.0.0.0/0+::/0", "::1", false},
      {"10.0.0.0/8+2001:db8::/32", "2001:db8:bad::/48", "2001:db8:1::1", true},
      {"10.0.0.0/8+2001:db8::/32", "2001:db8:bad::/48", "2001:db8:bad::1", false},
  };
  for (const auto& row : table) {
    const AccessList list{.allow = parse_prefixes(row.allow).value(), .deny = parse_prefixes(row.deny).value()};
    EXPECT_EQ(list.admits(at(row.address)), row.admitted)
        << "allow " << row.allow << ", deny " << row.deny << ": " << row.address;
  }
}

TEST(AccessList, MayAllowNone) {
  AccessList list{.only_allowed = true};
  EXPECT_FALSE(list.empty());
  EXPECT_FALSE(list.admits(at("192.0.2.1")));
  EXPECT_FALSE(list.admits(at("::1")));
  list.allow = parse_prefixes("192.0.2.1").value();
  EXPECT_TRUE(list.admits(at("192.0.2.1")));
}

TEST(AccessList, IsNothingUnlessAllOfItIsRead) {
  EXPECT_TRUE(parse_prefixes("none")->empty());
  EXPECT_EQ(parse_prefixes("10.0.0.0/8+::1")->size(), 2U);
  for (const char* text : {"", "+", "10.0.0.0/8+", "10.0.0.0/8+none", "10.0.0.0/8 ::1"}) {
    EXPECT_FALSE(parse_prefixes(text)) << text;
  }
}

}  // namespace
}  // namespace weft::verbs::test
