// SPDX-License-Identifier: Apache-2.0
/// @file
/// IP addresses and TCP endpoints as plain values, which are compared, printed and parsed, but never resolved.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <system_error>

struct sockaddr;
struct sockaddr_storage;

namespace weft::transport {

/// Identifies the family of an address.
enum class Family : std::uint8_t {
  kIpv4,  ///< IPv4: 4 octets
  kIpv6,  ///< IPv6: 16 octets
};

/// Identifies why the text of an address or endpoint is invalid.
enum class ParseError : std::uint8_t {
  kBadAddress,   ///< neither an IPv4 nor an IPv6 address
  kBadScope,     ///< no interface has the name or index that follows the percent sign
  kMissingPort,  ///< an address without a port
  kBadPort,      ///< not a number from 0 to 65535
};
/// Returns a sentence that describes the error; static storage.
[[nodiscard]] std::string_view describe(ParseError error) noexcept;

/// Represents an IP address.
/// An IPv4 address mapped into IPv6 ("::ffff:192.0.2.1") is stored as IPv4, so that each host has one representation.
struct Address {
  Family family = Family::kIpv4;       ///< family of the address
  std::array<std::byte, 16> octets{};  ///< octets in network order; IPv4 uses the first four, the others are zero
  std::uint32_t scope = 0;             ///< IPv6 link-local: index of the interface; else 0

  /// Compares all members, in their order.
  auto operator<=>(const Address&) const = default;

  /// Returns the wildcard address: `0.0.0.0` or `::`.
  [[nodiscard]] static Address any(Family family) noexcept { return {.family = family}; }
  /// Returns the loopback address: `127.0.0.1` or `::1`.
  [[nodiscard]] static Address loopback(Family family) noexcept;
  /// Parses "192.0.2.1", "2001:db8::1" or `fe80::1%eth0`. Accepts neither host names nor brackets.
  [[nodiscard]] static std::expected<Address, ParseError> parse(std::string_view text);

  /// Returns the address with these octets of IPv6, a mapped IPv4 address as IPv4. `scope` is ignored for IPv4.
  [[nodiscard]] static Address from_ipv6(const std::array<std::byte, 16>& octets, std::uint32_t scope = 0) noexcept;
  /// Returns the octets of this address in IPv6, an IPv4 address mapped.
  [[nodiscard]] std::array<std::byte, 16> to_ipv6() const noexcept;

  /// Returns whether this is an IPv6 link-local unicast address: fe80::/10 (RFC 4291 section 2.4).
  [[nodiscard]] bool is_link_local() const noexcept {
    return family == Family::kIpv6 && octets[0] == std::byte{0xfe} && (octets[1] & std::byte{0xc0}) == std::byte{0x80};
  }
  /// Returns whether this is the wildcard address.
  [[nodiscard]] bool is_any() const noexcept { return octets == std::array<std::byte, 16>{}; }
  /// Returns whether this is a loopback address: `127.0.0.0/8` or `::1`.
  [[nodiscard]] bool is_loopback() const noexcept;
  /// Returns whether this is a multicast group: `224.0.0.0/4` (RFC 1112) or `ff00::/8` (RFC 4291 section 2.7).
  [[nodiscard]] bool is_multicast() const noexcept;
  /// Returns the text that parse() accepts.
  [[nodiscard]] std::string to_string() const;
};

/// Represents an address and a TCP port.
struct Endpoint {
  Address address{};       ///< address of the host, or the wildcard
  std::uint16_t port = 0;  ///< port in host order

  /// Compares the address, then the port.
  auto operator<=>(const Endpoint&) const = default;

  /// Parses "192.0.2.1:4420", "[2001:db8::1]:4420" or `[fe80::1%eth0]:4420`.
  [[nodiscard]] static std::expected<Endpoint, ParseError> parse(std::string_view text);
  /// Returns the text that parse() accepts.
  [[nodiscard]] std::string to_string() const;

  /// Converts a socket address of `length` octets.
  /// Fails with address_family_not_supported, or with invalid_argument when `length` is too short for the family.
  [[nodiscard]] static std::expected<Endpoint, std::error_code> from_sockaddr(const sockaddr* from, std::size_t length);
  /// Fills `to` and returns the number of octets used, which is the `socklen_t` of bind() and connect().
  unsigned int to_sockaddr(sockaddr_storage& to) const noexcept;
};

}  // namespace weft::transport
