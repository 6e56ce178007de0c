// SPDX-License-Identifier: Apache-2.0
/// @file
/// IP addresses and TCP endpoints as packets contain them.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>

namespace weft::packet {

/// Holds an IPv4 or IPv6 address.
struct Address {
  std::array<std::byte, 16> octets{};  ///< octets in network order; IPv4 uses the first four, the others are zero
  std::uint8_t version{};              ///< 4 or 6
  /// Compares the octets, then the version.
  auto operator<=>(const Address&) const = default;
};

/// Returns the address as text: "192.0.2.1", "2001:db8::1".
[[nodiscard]] std::string in_words(const Address& address);

/// Identifies one end of a TCP connection.
struct Endpoint {
  Address address{};     ///< address of the host
  std::uint16_t port{};  ///< TCP port in host order
  /// Compares the address, then the port.
  auto operator<=>(const Endpoint&) const = default;
};

}  // namespace weft::packet
