// SPDX-License-Identifier: Apache-2.0
// DDP headers against octets that others made: RFC 5044's figures and captures of the Linux kernel's siw.
#include "ddp/header.hpp"

#include <gtest/gtest.h>

#include <random>

#include "tests/ddp/octets.hpp"

namespace weft::ddp {
namespace {

using test::octets;
using test::Octets;

Octets serialized(const Header& header) {
  Octets out(header_size(header));
  EXPECT_EQ(serialize(header, out), out.size());
  return out;
}

struct Golden {
  std::string_view source;
  std::string_view hex;
  Header header;
};

const Golden kGolden[] = {
    {"RFC 5044 figure 5", "4143000000000000000000000001 00000000", UntaggedHeader{true, 0x43, 0, 0, {1}, {0}}},
    {"RFC 5044 figure 6", "4143000000000000000000000002 00000000", UntaggedHeader{true, 0x43, 0, 0, {2}, {0}}},
    {"siw RDMA Write", "c140 a150bb00 0000559b7bc28550", TaggedHeader{true, 0x40, {0xa150bb00}, {0x0000559b7bc28550}}},
    {"siw zero-length Read Response", "c142 c64a8400 00007fbf7bff4000",
     TaggedHeader{true, 0x42, {0xc64a8400}, {0x00007fbf7bff4000}}},
    {"siw Read Request", "4141 00000000 00000001 00000001 00000000", UntaggedHeader{true, 0x41, 0, 1, {1}, {0}}},
    {"siw Send with SE and Invalidate", "4146 35f9f900 00000000 00000001 00000000",
     UntaggedHeader{true, 0x46, 0x35f9f900, 0, {1}, {0}}},
    {"siw Terminate", "4147 00000000 00000002 00000001 00000000", UntaggedHeader{true, 0x47, 0, 2, {1}, {0}}},
};

TEST(DdpHeader, ReadsWhatOthersWrote) {
  for (const Golden& golden : kGolden) {
    const auto header = parse(octets(golden.hex));
    ASSERT_TRUE(header) << golden.source;
    EXPECT_EQ(*header, golden.header) << golden.source;
  }
}

TEST(DdpHeader, WritesWhatOthersWrote) {
  for (const Golden& golden : kGolden) EXPECT_EQ(serialized(golden.header), octets(golden.hex)) << golden.source;
}

TEST(DdpHeader, SerializeAndParseAreInverse) {
  std::mt19937_64 random(1);
  const auto byte = [&] { return static_cast<std::uint8_t>(random() & 0xff); };
  const auto word = [&] { return static_cast<std::uint32_t>(random()); };
  for (int i = 0; i < 1000; ++i) {
    const bool last = (random() & 1) != 0;
    const Header tagged = TaggedHeader{last, byte(), {word()}, {random()}};
    const Header untagged = UntaggedHeader{last, byte(), word(), word(), {word()}, {word()}};
    EXPECT_EQ(parse(serialized(tagged)), tagged);
    EXPECT_EQ(parse(serialized(untagged)), untagged);
  }
}

// DDP-4-01: one octet less than the header is not a segment, whatever the version says.
TEST(DdpHeader, RefusesWhatIsTooShort) {
  for (const auto& [hex, size] : {std::pair{"c140", 14U}, std::pair{"4143", 18U}, std::pair{"c040", 14U}}) {
    Octets ulpdu = octets(hex);
    ulpdu.resize(size - 1);
    for (std::size_t length = 0; length < size; ++length) {
      EXPECT_EQ(parse(Bytes(ulpdu).first(length)), std::unexpected(HeaderError::kTooShort)) << hex << ' ' << length;
    }
  }
}

// DDP-4.4-02: a header alone is a segment.
TEST(DdpHeader, NeedsNoPayload) {
  for (const Golden& golden : kGolden) {
    const Octets ulpdu = octets(golden.hex);
    EXPECT_EQ(ulpdu.size(), header_size(*parse(ulpdu)));
  }
}

// DDP-4-01: not even a control octet to look at.
TEST(Header, OfNoOctetsIsTooShort) { EXPECT_EQ(find_error(Bytes{}), HeaderError::kTooShort); }

}  // namespace
}  // namespace weft::ddp
