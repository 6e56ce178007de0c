// SPDX-License-Identifier: Apache-2.0
// Local and remote memory: bounds, and the 16 octets on the wire.
#include <limits>
#include <string_view>

#include "ends.hpp"

namespace weft::test {
namespace {

constexpr std::uint32_t kLongest = std::numeric_limits<std::uint32_t>::max();

TEST(RemoteMemory, HasSixteenOctetsInNetworkOrder) {
  const RemoteRegion region{0x0102030405060708, 0x090a0b0c, 0x0d0e0f10};
  const auto wire = region.to_wire();
  for (std::size_t i = 0; i < wire.size(); ++i) EXPECT_EQ(std::to_integer<std::size_t>(wire[i]), i + 1);
  EXPECT_EQ(must(RemoteRegion::from_wire(wire)), region);
}

TEST(RemoteMemory, IsReadFromTheFirstOctetsOfMore) {
  std::vector<std::byte> longer(20, std::byte{0xff});
  const RemoteRegion region{4096, 64, 7};
  std::ranges::copy(region.to_wire(), longer.begin());
  EXPECT_EQ(must(RemoteRegion::from_wire(longer)), region);
}

TEST(RemoteMemory, IsRefusedIfOctetsAreMissing) {
  const std::array<std::byte, 15> shorter{};
  const auto region = RemoteRegion::from_wire(shorter);
  ASSERT_FALSE(region);
  EXPECT_EQ(region.error().code, Errc::kInvalidArgument);
  EXPECT_EQ(region.error().message(), "from_wire: octets: fewer than 16 (invalid argument)");
  EXPECT_FALSE(RemoteRegion::from_wire({}));
}

// DDP-7.1-16: 2^64 is the end of the last octet.
TEST(RemoteMemory, MayEndAtTheEndOfAllOffsetsAndNotBehindIt) {
  const std::uint64_t last = std::numeric_limits<std::uint64_t>::max();
  EXPECT_TRUE(RemoteRegion::from_wire(RemoteRegion{last - 63, 64, 7}.to_wire()));
  EXPECT_FALSE(RemoteRegion::from_wire(RemoteRegion{last - 62, 64, 7}.to_wire()));
  EXPECT_TRUE(RemoteRegion::from_wire(RemoteRegion{last, 0, 7}.to_wire()));
  EXPECT_FALSE(RemoteRegion::from_wire(RemoteRegion{last, kLongest, 7}.to_wire()));
}

TEST(RemoteMemory, HasPartsInsideItAlone) {
  const RemoteRegion region{1000, 64, 7};
  EXPECT_EQ(must(region.subspan(16, 48)), (RemoteRegion{1016, 48, 7}));
  EXPECT_EQ(must(region.subspan(64, 0)), (RemoteRegion{1064, 0, 7}));
  constexpr std::size_t kMost = std::numeric_limits<std::size_t>::max();
  constexpr std::array<std::pair<std::size_t, std::size_t>, 4> kOutside{{{16, 49}, {65, 0}, {0, kMost}, {kMost, 2}}};
  for (const auto& [offset, count] : kOutside) {
    const auto part = region.subspan(offset, count);
    ASSERT_FALSE(part) << offset << ", " << count;
    EXPECT_EQ(part.error().code, Errc::kInvalidArgument);
  }
}

TEST(LocalMemory, HasPartsInsideItAlone) {
  Ends ends;
  const Memory memory(ends.client);
  const Slice part = must(memory.region.subspan(8, 16));
  EXPECT_EQ(part.size(), 16U);
  EXPECT_EQ(must(part.sge()), memory.region.verbs().sge(8, 16));
  EXPECT_EQ(must(must(part.subspan(16, 0)).sge()).length, 0U);
  EXPECT_FALSE(part.subspan(0, 17));
  EXPECT_FALSE(part.subspan(17, 0));
  EXPECT_FALSE(memory.region.subspan(8, std::numeric_limits<std::size_t>::max()));
  EXPECT_EQ(must(Slice().sge()).length, 0U);
}

TEST(LocalMemory, IsOfAnyTypeThatIsOctets) {
  struct Record {
    int number;
    char name[4];
  };
  Ends ends;
  Record record{};
  const Record fixed{};
  std::array<std::uint64_t, 4> array{};
  const std::string text = "text";
  EXPECT_EQ(must(ends.client.register_memory(record)).all().size(), sizeof record);
  EXPECT_EQ(must(ends.client.register_memory(array)).all().size(), sizeof array);
  EXPECT_EQ(must(ends.client.register_memory(std::span(array).first(2))).all().size(), 16U);
  EXPECT_EQ(must(ends.client.register_memory(text)).verbs().access(), Access::kNone);
  EXPECT_EQ(must(ends.client.register_memory(fixed)).verbs().access(), Access::kNone);
  EXPECT_EQ(must(ends.client.register_memory(fixed, Access::kRemoteRead)).verbs().access(), Access::kRemoteRead);
  EXPECT_EQ(must(ends.client.register_memory(array)).verbs().access(), Access::kLocalWrite);
  EXPECT_EQ(must(ends.client.register_memory(std::string_view(text))).all().size(), 4U);
}

TEST(LocalMemory, ThatIsConstIsNotRegisteredForWriting) {
  Ends ends;
  const std::string text = "text";
  const auto region = ends.client.register_memory(text, kEverything);
  ASSERT_FALSE(region);
  EXPECT_EQ(region.error().code, Errc::kInvalidArgument);
  EXPECT_EQ(region.error().operation, "register_memory");
}

TEST(Deadlines, CountFromTheirConversionAndHaveNoOverflow) {
  EXPECT_TRUE(Deadline(0ms).expired());
  EXPECT_TRUE(Deadline(-1h).expired());
  EXPECT_EQ(Deadline(-1h).left(), 0ms);
  EXPECT_FALSE(Deadline(1h).expired());
  EXPECT_GT(Deadline(1h).left(), 59min);
  EXPECT_FALSE(Deadline(std::chrono::hours::max()).expired());
  EXPECT_FALSE(Deadline::never().expired());
  EXPECT_EQ(Deadline::never().left(), std::chrono::days(24));
  EXPECT_EQ(Deadline(std::chrono::days(200)).left(), std::chrono::days(24));
}

}  // namespace
}  // namespace weft::test
