// SPDX-License-Identifier: Apache-2.0
// The fast masked addition against the bit-by-bit pseudocode of RFC 7306 section 5.1.1.
#include "rdmap/atomics.hpp"

#include <gtest/gtest.h>

#include <random>

namespace weft::rdmap {
namespace {

// RFC 7306: a ripple adder whose carry is dropped after each bit that the mask names.
std::uint64_t ripple(std::uint64_t a, std::uint64_t b, std::uint64_t mask) {
  std::uint64_t sum = 0;
  std::uint64_t carry = 0;
  for (unsigned i = 0; i < 64; ++i) {
    const std::uint64_t bit = (a >> i & 1) + (b >> i & 1) + carry;
    sum |= (bit & 1) << i;
    carry = (mask >> i & 1) != 0 ? 0 : bit >> 1;
  }
  return sum;
}

TEST(MaskedAdd, AgreesWithThePseudocode) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 20000; ++i) {
    const std::uint64_t a = random();
    const std::uint64_t b = random();
    const std::uint64_t mask = i % 4 == 0 ? random() & random() & random() : random();
    ASSERT_EQ(masked_add(a, b, mask), ripple(a, b, mask)) << a << ' ' << b << ' ' << mask;
  }
}

TEST(MaskedAdd, EveryMaskOfOneBit) {
  std::mt19937_64 random(8);
  for (unsigned bit = 0; bit < 64; ++bit) {
    const std::uint64_t mask = std::uint64_t{1} << bit;
    for (int i = 0; i < 50; ++i) {
      const std::uint64_t a = random();
      const std::uint64_t b = random();
      ASSERT_EQ(masked_add(a, b, mask), ripple(a, b, mask));
    }
  }
}

TEST(MaskedCompareSwap, WithoutMasksItIsAPlainSwap) {
  EXPECT_EQ(masked_compare_swap(1, 99, 0, 7, ~std::uint64_t{0}), 7U);
}

}  // namespace
}  // namespace weft::rdmap
