// SPDX-License-Identifier: Apache-2.0
// The walk sees what Linux wrote as it is, and one flipped bit.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "tests/captures/crc_walk.hpp"
#include "tests/captures/expectations.hpp"
#include "tests/captures/wire_fields.hpp"

namespace weft::captures {
namespace {

class Walk : public testing::TestWithParam<Expectation> {};

TEST_P(Walk, CountsEveryFpduAndFindsNoBadCrc) {
  std::size_t fpdus = 0;
  for (const Connection& connection : read_connections(sample_path(GetParam().name))) {
    for (const Side side : {Side::kClient, Side::kServer}) {
      const CrcWalk walk = walk_crcs(connection, side);
      EXPECT_EQ(walk.bad, 0U);
      fpdus += walk.fpdus;
    }
  }
  const auto& expected = GetParam().fpdus;
  EXPECT_EQ(fpdus, std::accumulate(expected.begin(), expected.end(), std::size_t{0}));
}

INSTANTIATE_TEST_SUITE_P(Samples, Walk, testing::ValuesIn(expectations()),
                         [](const auto& info) { return test_name(info.param); });

TEST(CrcWalk, FindsOneFlippedBit) {
  std::vector<Connection> connections = read_connections(sample_path("40-crc-rping"));
  ASSERT_EQ(connections.size(), 1U);
  connections[0].chunks.back().octets.back() ^= std::byte{1};
  const Side side = connections[0].chunks.back().from;
  EXPECT_TRUE(walk_crcs(connections[0], side).crc);
  EXPECT_EQ(walk_crcs(connections[0], side).bad, 1U);
}

}  // namespace
}  // namespace weft::captures
