// SPDX-License-Identifier: Apache-2.0
/// @file
/// The Internet checksum (RFC 1071) of IPv4, TCP and UDP.
#pragma once

#include <cstdint>

#include "common/wire.hpp"
#include "packet/address.hpp"

namespace weft::packet {

/// Returns the sum of the 16-bit words of `octets`, which fold() makes a checksum. An odd last octet is padded with
/// zero. Sums of several pieces may be added if all pieces but the last have an even size.
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

/// Returns the checksum of a TCP segment or UDP datagram with its pseudo header: addresses, protocol and length (RFC
/// 9293 section 3.1, RFC 768). It is 0 if `part` contains its own valid checksum.
[[nodiscard]] constexpr std::uint16_t transport_checksum(const Address& source, const Address& destination,
                                                         std::uint8_t protocol, Bytes part) noexcept {
  // Octets that are zero add nothing, so the pseudo headers of IPv4 and IPv6 have the same sum.
  const std::uint64_t pseudo = sum_words(source.octets) + sum_words(destination.octets) + protocol + part.size();
  return fold(pseudo + sum_words(part));
}

}  // namespace weft::packet
