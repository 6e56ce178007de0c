// SPDX-License-Identifier: Apache-2.0
// RFC 7306 section 5.1: what the atomic operations compute.
#include <catch2/catch.hpp>

#include "rdmap/atomics.hpp"

namespace weft::rdmap {
namespace {

AtomicOperation fetch_add(std::uint64_t addend, std::uint64_t mask = 0) {
  return {AtomicOperation::Kind::kFetchAdd, addend, mask, 0, ~std::uint64_t{0}};
}
AtomicOperation cmp_swap(std::uint64_t compare, std::uint64_t compare_mask, std::uint64_t swap,
                         std::uint64_t swap_mask) {
  return {AtomicOperation::Kind::kCmpSwap, swap, swap_mask, compare, compare_mask};
}
constexpr std::uint64_t kAll = 0xffffffffffffffff;

TEST_CASE("Mask 0 is a plain 64-bit addition", "[RDMAPX-5.1.1-01][RDMAPX-5.1.1-03][RDMAPX-5.1.1-08][RFC7306-5.1.1]") {
  CHECK(apply(fetch_add(1), 41) == 42);
  CHECK(apply(fetch_add(1), kAll) == 0);
  CHECK(apply(fetch_add(1, 0x8000000000000000), kAll) == 0);
}

TEST_CASE("A mask bit ends a field: its carry is dropped", "[RDMAPX-5.1.1-01][RDMAPX-5.1.1-02][RFC7306-5.1.1]") {
  constexpr std::uint64_t kTwoWords = 0x8000000080000000;
  CHECK(apply(fetch_add(0x0000000100000001, kTwoWords), 0x00000001ffffffff) == 0x0000000200000000);
  CHECK(apply(fetch_add(kAll, kAll), 0x00ff00ff00ff00ff) == 0xff00ff00ff00ff00);  // 64 fields of one bit
}

TEST_CASE("Adding 0 changes nothing: a probe", "[RDMAPX-1.1-04][RFC7306-1.1]") {
  for (const std::uint64_t mask : {std::uint64_t{0}, std::uint64_t{0x8080808080808080}, kAll}) {
    CHECK(apply(fetch_add(0, mask), 0x123456789abcdef0) == 0x123456789abcdef0);
  }
}

TEST_CASE("CmpSwap compares under one mask and swaps under the other",
          "[RDMAPX-5.1.2-01][RDMAPX-5.1.2-02][RDMAPX-5.1.2-05][RFC7306-5.1.2]") {
  constexpr std::uint64_t kOld = 0x1111222233334444;
  CHECK(apply(cmp_swap(kOld, kAll, 0xaaaabbbbccccdddd, kAll), kOld) == 0xaaaabbbbccccdddd);
  CHECK(apply(cmp_swap(kOld + 1, kAll, 0xaaaabbbbccccdddd, kAll), kOld) == kOld);
  CHECK(apply(cmp_swap(0x4444, 0xffff, 0xaaaabbbbccccdddd, 0xffff0000), kOld) == 0x11112222cccc4444);
  CHECK(apply(cmp_swap(0x9999000000004444, 0xffff, 7, kAll), kOld) == 7);
}

TEST_CASE("Both operations are there", "[RDMAPX-1.1-01][RDMAPX-5-03][RFC7306-5]") {
  CHECK(apply(fetch_add(2), 1) == 3);
  CHECK(apply(cmp_swap(1, kAll, 2, kAll), 1) == 2);
}

}  // namespace
}  // namespace weft::rdmap
