// SPDX-License-Identifier: Apache-2.0
#include "rdmap/region_table.hpp"

#include <gtest/gtest.h>

#include <array>

namespace weft::rdmap {
namespace {

using ddp::AccessError;
using ddp::LocalFault;

constexpr std::uint64_t kTop = ~std::uint64_t{0};

std::vector<std::byte> some(std::size_t count, unsigned value) {
  return std::vector<std::byte>(count, static_cast<std::byte>(value));
}

// DDP-7.1-16: the last octet still has a Tagged Offset.
TEST(RegionTable, AnAccessMayEndExactlyAt2To64) {
  RegionTable table;
  const auto& region = table.add(7, 16, kTop - 15);
  EXPECT_TRUE(table.place_tagged({7}, {kTop - 7}, some(8, 9)));
  EXPECT_EQ(region.octets[15], std::byte{9});
  EXPECT_EQ(table.place_tagged({7}, {kTop - 7}, some(9, 1)).error(), AccessError::kOffsetWrap);
  EXPECT_TRUE(table.check_read({7}, {kTop - 15}, 16));
  EXPECT_EQ(table.check_read({7}, {kTop - 15}, 17).error(), AccessError::kOffsetWrap);
  EXPECT_EQ(table.atomic({7}, {kTop - 7}, {.kind = AtomicOperation::Kind::kFetchAdd}), 0x0909090909090909U);
  const std::array<LocalSegment, 1> last{LocalSegment{kTop - 3, 4, 7}};
  EXPECT_TRUE(table.scatter(last, 0, some(4, 5)));
  EXPECT_EQ(region.octets[15], std::byte{5});
}

TEST(RegionTable, EachRightOnItsOwn) {
  for (const Access given : {Access::kRemoteWrite, Access::kRemoteRead, Access::kRemoteAtomic}) {
    RegionTable table;
    table.add(7, 8, 0x100, given);
    std::array<std::byte, 8> octets{};
    const auto expect = [&](Access needed, const auto& result) {
      ASSERT_EQ(result.has_value(), given == needed);
      if (!result) {
        EXPECT_EQ(result.error(), AccessError::kAccessRights);
      }
    };
    expect(Access::kRemoteWrite, table.place_tagged({7}, {0x100}, octets));
    expect(Access::kRemoteRead, table.check_read({7}, {0x100}, 8));
    expect(Access::kRemoteRead, table.read_tagged({7}, {0x100}, octets));
    expect(Access::kRemoteAtomic, table.atomic({7}, {0x100}, {}));
  }
}

TEST(RegionTable, AnInvalidatedStagIsGoneForPeerAndOwner) {
  RegionTable table;
  table.add(7, 8);
  EXPECT_TRUE(table.invalidate({7}));
  EXPECT_EQ(table.invalidate({7}).error(), AccessError::kInvalidStag);
  EXPECT_EQ(table.place_tagged({7}, {0}, some(1, 1)).error(), AccessError::kInvalidStag);
  const std::array<LocalSegment, 1> list{LocalSegment{0, 1, 7}};
  EXPECT_EQ(table.scatter(list, 0, some(1, 1)).error(), LocalFault::kInvalidKey);
}

// RDMAP-8.1.1-07
TEST(RegionTable, APeerInvalidatesOnlyWhatIsOfItsStream) {
  RegionTable table({.domain = 3, .stream = 4});
  table.add(7, {.length = 8, .access = kAllAccess, .domain = 3});
  table.add(8, {.length = 8, .access = kAllAccess, .domain = 3, .only_stream = 5});
  table.add(9, {.length = 8, .access = kAllAccess, .domain = 3, .only_stream = 4});
  EXPECT_EQ(table.invalidate({7}).error(), AccessError::kNotAssociated);
  EXPECT_EQ(table.invalidate({8}).error(), AccessError::kNotAssociated);
  EXPECT_TRUE(table.invalidate({9}));
}

TEST(RegionTable, ListsAreWalkedInOrder) {
  RegionTable table;
  auto& one = table.add(1, 4, 0x10).octets;
  auto& two = table.add(2, 4).octets;
  const std::array<LocalSegment, 2> list{LocalSegment{0x12, 2, 1}, LocalSegment{0, 4, 2}};
  EXPECT_TRUE(table.scatter(list, 1, some(3, 6)));
  EXPECT_EQ(one, (std::vector<std::byte>{{}, {}, {}, std::byte{6}}));
  EXPECT_EQ(two, (std::vector<std::byte>{std::byte{6}, std::byte{6}, {}, {}}));
  std::vector<std::byte> out(4);
  EXPECT_TRUE(table.gather(list, 1, out));
  EXPECT_EQ(out, (std::vector<std::byte>{std::byte{6}, std::byte{6}, std::byte{6}, {}}));
  std::array<Bytes, 2> pieces{};
  std::size_t used = 0;
  EXPECT_TRUE(table.borrow(list, 1, 4, pieces, used));
  EXPECT_EQ(used, 2U);
  EXPECT_EQ(pieces[1].data(), two.data());
  EXPECT_FALSE(table.borrow(list, 0, 6, std::span(pieces).first(1), used));
  EXPECT_EQ(table.gather(list, 3, out).error(), LocalFault::kBaseOrBounds);
}

TEST(RegionTable, ReceivesAreTakenInTheOrderOfPosting) {
  RegionTable table;
  table.post_receive(5, 4);
  table.post_receive(6, 8);
  const auto first = table.take_receive();
  EXPECT_EQ(first, (ddp::ReceiveBuffer{5, 4}));
  EXPECT_TRUE(table.place_untagged(*first, 2, some(2, 3)));
  EXPECT_EQ(table.place_untagged(*first, 3, some(2, 3)).error(), LocalFault::kBaseOrBounds);
  EXPECT_EQ(table.received()[5], (std::vector<std::byte>{{}, {}, std::byte{3}, std::byte{3}}));
  EXPECT_EQ(table.take_receive(), (ddp::ReceiveBuffer{6, 8}));
  EXPECT_FALSE(table.take_receive());
}

}  // namespace
}  // namespace weft::rdmap
