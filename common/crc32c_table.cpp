// SPDX-License-Identifier: Apache-2.0
#include "common/crc32c_table.hpp"

#include <array>

namespace weft {

namespace {

constexpr std::uint32_t kPolynomial = 0x82f63b78;  // Castagnoli's, 0x1EDC6F41, with the bits the other way round
constexpr std::size_t kSlices = 8;

using Slice = std::array<std::uint32_t, 256>;
using Slices = std::array<Slice, kSlices>;

constexpr std::uint32_t shifted_by_octet(std::uint32_t state) noexcept {
  for (int bit = 0; bit < 8; ++bit) state = (state >> 1) ^ ((state & 1) != 0 ? kPolynomial : 0);
  return state;
}

// Slice n: what an octet does to the register once n more octets of zero have followed it.
constexpr Slices make_slices() noexcept {
  Slices slices{};
  for (std::uint32_t octet = 0; octet < 256; ++octet) slices[0][octet] = shifted_by_octet(octet);
  for (std::size_t n = 1; n < kSlices; ++n) {
    for (std::size_t octet = 0; octet < 256; ++octet) {
      const std::uint32_t before = slices[n - 1][octet];
      slices[n][octet] = (before >> 8) ^ slices[0][before & 0xff];
    }
  }
  return slices;
}

constexpr Slices kTable = make_slices();

}  // namespace

std::uint32_t advance_crc32c_by_table(std::uint32_t state, Bytes octets) noexcept {
  const auto slice = [](std::size_t n, std::uint64_t octet) { return kTable[n][octet & 0xff]; };
  for (; octets.size() >= kSlices; octets = octets.subspan(kSlices)) {
    const std::uint64_t eight = Le<0, std::uint64_t>::get(octets) ^ state;
    state = slice(7, eight) ^ slice(6, eight >> 8) ^ slice(5, eight >> 16) ^ slice(4, eight >> 24) ^
            slice(3, eight >> 32) ^ slice(2, eight >> 40) ^ slice(1, eight >> 48) ^ slice(0, eight >> 56);
  }
  for (const std::byte octet : octets) state = (state >> 8) ^ slice(0, state ^ std::to_integer<std::uint32_t>(octet));
  return state;
}

}  // namespace weft
