// SPDX-License-Identifier: Apache-2.0
#include "probe/peer_protocol.hpp"

#include <gtest/gtest.h>

namespace weft::probe {
namespace {

TEST(PeerProtocol, ReadsWhatItWrites) {
  const Wish wish{.session = 7, .flags = Wish::kRejectMe, .receives = 3, .receive_size = 9, .ird = 1, .ord = 0};
  EXPECT_EQ(serialize(wish).size(), kWishSize);
  EXPECT_EQ(parse_wish(serialize(wish)), wish);

  const Advert advert{.session = 1,
                      .connection = 2,
                      .receives = 3,
                      .receive_size = 4,
                      .ird = 5,
                      .ord = 6,
                      .regions = {{{1}, {2}, 3, 4, 5}, {{6}, {~0ULL}, 8, 9, 10}}};
  EXPECT_EQ(serialize(advert).size(), kAdvertSize + 2 * kRegionSize);
  EXPECT_EQ(parse_advert(serialize(advert)), advert);

  const Order order{.operation = Order::kRead,
                    .flags = 1,
                    .count = 2,
                    .length = 3,
                    .stag = {4},
                    .offset = {5},
                    .first = 6,
                    .second = 7};
  EXPECT_EQ(serialize(order).size(), kOrderSize);
  EXPECT_EQ(parse_order(serialize(order)), order);

  const PeerReport report{.connections = 1, .last_sum = 9, .async_events = 16};
  EXPECT_EQ(serialize(report).size(), kReportSize);
  EXPECT_EQ(parse_report(serialize(report)), report);
}

// The largest advert fits the private data that a Reply with enhanced data has room for (MPA2-9-03).
TEST(PeerProtocol, AdvertsFitTheReply) {
  const Advert advert{.regions = std::vector<Region>(100)};
  EXPECT_LE(serialize(advert).size(), 508U);
  EXPECT_EQ(parse_advert(serialize(advert))->regions.size(), kMostRegions);
}

template <typename Parse>
void each_cut_is_refused(std::vector<std::byte> octets, Parse parse) {
  for (std::size_t size = 0; size < octets.size(); ++size) EXPECT_FALSE(parse(Bytes(octets).first(size))) << size;
  octets.push_back(std::byte{1});
  EXPECT_TRUE(parse(octets)) << "octets after are ignored";
}

TEST(PeerProtocol, RefusesWhatIsCutShort) {
  each_cut_is_refused(serialize(Wish{}), parse_wish);
  each_cut_is_refused(serialize(Order{}), parse_order);
  each_cut_is_refused(serialize(Advert{.regions = {{}, {}}}), parse_advert);
  each_cut_is_refused(serialize(PeerReport{}), parse_report);
}

TEST(PeerProtocol, RefusesAnotherMagic) {
  auto octets = serialize(Wish{});
  octets[3] ^= std::byte{1};
  EXPECT_FALSE(parse_wish(octets));
}

}  // namespace
}  // namespace weft::probe
