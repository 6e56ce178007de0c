// SPDX-License-Identifier: Apache-2.0
// rdmap::RegionTable and the live stack's memory come to the same result for every access, and to the same octets.
#include <gtest/gtest.h>

#include <random>

#include "rdmap/region_table.hpp"
#include "stream_memory_fixture.hpp"

namespace weft::verbs::detail {
namespace {

class MemoryAgreement : public MemoryFixture {
 protected:
  static constexpr std::uint64_t kAgreementTop = ~std::uint64_t{0};  // 2^64 - 1

  std::mt19937_64 random{20261127};
  std::vector<std::uint32_t> stags{};

  std::uint64_t below(std::uint64_t limit) { return random() % limit; }

  // A region of 16 octets in each, with the same grant.
  void add(rdmap::RegionTable& other) {
    const std::uint64_t firsts[] = {0, 8, 0x1000, kAgreementTop - 15, kAgreementTop - 23};
    const std::uint64_t streams[] = {0, kStream, kStream, kStream + 1};
    const auto made = region({.start = octets.data() + 16 * stags.size(),
                              .length = 16,
                              .first_offset = firsts[below(std::size(firsts))],
                              .access = static_cast<Access>(below(16)),
                              .only_stream = streams[below(std::size(streams))]});
    other.add(made->stag(), made->grant()).octets.resize(16);
    stags.push_back(made->stag());
  }

  // One octet or eight before, at, in or beyond an edge of the region, which may be 2^64.
  std::uint64_t offset(std::uint64_t first) {
    const std::uint64_t around[] = {first, first + 8, first + 15, first + 16, kAgreementTop};
    return around[below(std::size(around))] - 2 + below(4);
  }

  template <typename Results>
  void expect_same(const Results& mine, const Results& other, unsigned step) {
    ASSERT_EQ(mine.has_value(), other.has_value()) << step;
    if (!mine) {
      ASSERT_EQ(mine.error(), other.error()) << step;
    } else if constexpr (!std::is_void_v<typename Results::value_type>) {
      ASSERT_EQ(*mine, *other) << step;
    }
  }

  void step(rdmap::RegionTable& other, unsigned number) {
    const std::uint32_t stag = below(16) == 0 ? 0 : stags[below(stags.size())];
    const auto& known = other.regions();
    const auto found = known.find(stag);
    const std::uint64_t to = offset(found == known.end() ? 0 : found->second.grant.first_offset);
    auto data = some(1 + below(18), static_cast<unsigned>(below(256)));
    auto copy = data;
    const rdmap::LocalSegment segment{to, static_cast<std::uint32_t>(data.size()), stag};
    const rdmap::LocalSegments list(&segment, 1);
    switch (below(8)) {
      case 0:
      case 1:
        return expect_same(memory.place_tagged({stag}, {to}, data), other.place_tagged({stag}, {to}, data), number);
      case 2: {
        const auto size = static_cast<std::uint32_t>(data.size());
        return expect_same(memory.check_read({stag}, {to}, size), other.check_read({stag}, {to}, size), number);
      }
      case 3: expect_same(memory.read_tagged({stag}, {to}, data), other.read_tagged({stag}, {to}, copy), number); break;
      case 4: {
        const rdmap::AtomicOperation add{.kind = rdmap::AtomicOperation::Kind::kFetchAdd, .add_or_swap = random()};
        return expect_same(memory.atomic({stag}, {to}, add), other.atomic({stag}, {to}, add), number);
      }
      case 5: expect_same(memory.gather(list, 0, data), other.gather(list, 0, copy), number); break;
      case 6: return expect_same(memory.scatter(list, 0, data), other.scatter(list, 0, data), number);
      default:
        if (below(32) != 0) return;
        return expect_same(memory.invalidate({stag}), other.invalidate({stag}), number);
    }
    ASSERT_EQ(data, copy) << number;
  }
};

TEST_F(MemoryAgreement, OfEveryAccess) {
  for (int round = 0; round < 200 && !HasFatalFailure(); ++round) {
    rdmap::RegionTable other({.domain = domain->number, .stream = kStream});
    memory.drop_leases();
    regions.clear();
    stags.clear();
    octets.fill({});
    for (int i = 0; i < 4; ++i) add(other);
    for (unsigned number = 0; number < 200 && !HasFatalFailure(); ++number) step(other, number);
    for (std::size_t i = 0; i < stags.size(); ++i) {
      const auto& copy = other.regions().at(stags[i]).octets;
      ASSERT_TRUE(std::ranges::equal(copy, std::span(octets).subspan(16 * i, 16))) << round;
    }
  }
}

}  // namespace
}  // namespace weft::verbs::detail
