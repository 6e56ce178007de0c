// SPDX-License-Identifier: Apache-2.0
/// @file
/// The Internet checksum (RFC 1071) of IPv4 and TCP.
#pragma once

#include <cstdint>

#include "common/wire.hpp"

namespace weft::packet {

/// Returns the sum of the 16-bit words of `octets`, which fold() makes a checksum. An odd last octet is padded with zero.
/// Sums of several pieces may be added if all pieces but the last have an even size.
[[nodiscard]] constexpr std::uint64_t sum_words(Bytes octets) noexcept {
  std::uint64_t sum = 0;
  std::size_t i = 0;
  for (; i + 1 < octets.size(); i += 2) {
    sum += std::to_integer<std::uint64_t>(octets[i]) << 8 | std::to_integer<std::uint64_t>(octets[i + 1]);
  }
  if (i < octets.size()) sum += std::to_integer<std::uint64_t>(octets[i]) << 8;
  return sum;
}

/// Returns the checksum of a sum of words. It is 0 for octets that contain their own valid checksum.
[[nodiscard]] constexpr std::uint16_t fold(std::uint64_t sum) noexcept {
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<std::uint16_t>(~sum);
}

}  // namespace weft::packet
