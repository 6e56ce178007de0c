// SPDX-License-Identifier: Apache-2.0
// IP addresses and TCP endpoints as plain values: compared, printed, parsed, never resolved.
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

// The kind of an address.
enum class Family : std::uint8_t {
  kIpv4,  // four octets
  kIpv6,  // sixteen
};

// What is wrong with the text of an address or endpoint.
enum class ParseError : std::uint8_t {
  kBadAddress,   // neither IPv4 nor IPv6
  kBadScope,     // no interface has the name or number behind the %
  kMissingPort,  // an address alone
  kBadPort,      // no number from 0 to 65535
};
[[nodiscard]] std::string_view describe(ParseError error) noexcept;  // a sentence; static storage

// An IP address, as a value. An IPv4 address that arrives mapped into IPv6 (::ffff:192.0.2.1) is stored as IPv4, so that one host has one
// spelling.
struct Address {
  Family family = Family::kIpv4;       // what the octets are an address of
  std::array<std::byte, 16> octets{};  // network order; IPv4 uses the first four, the others are zero
  std::uint32_t scope = 0;             // IPv6 link-local: index of the interface

  auto operator<=>(const Address&) const = default;

  // The wildcard: 0.0.0.0 or ::.
  [[nodiscard]] static Address any(Family family) noexcept { return {.family = family}; }
  [[nodiscard]] static Address loopback(Family family) noexcept;  // 127.0.0.1 or ::1
  // "192.0.2.1", "2001:db8::1", "fe80::1%eth0". No names, no brackets.
  [[nodiscard]] static std::expected<Address, ParseError> parse(std::string_view text);

  // Whether it is the wildcard.
  [[nodiscard]] bool is_any() const noexcept { return octets == std::array<std::byte, 16>{}; }
  [[nodiscard]] bool is_loopback() const noexcept;  // 127.0.0.0/8 or ::1
  [[nodiscard]] std::string to_string() const;      // as parse() takes it
};

// An address and a TCP port.
struct Endpoint {
  Address address{};       // of the host, or the wildcard
  std::uint16_t port = 0;  // host order

  auto operator<=>(const Endpoint&) const = default;

  // "192.0.2.1:4420", "[2001:db8::1]:4420", "[fe80::1%eth0]:4420".
  [[nodiscard]] static std::expected<Endpoint, ParseError> parse(std::string_view text);
  [[nodiscard]] std::string to_string() const;  // as parse() takes it

  // Fails with address_family_not_supported, or with invalid_argument when `length` is too short for the family.
  [[nodiscard]] static std::expected<Endpoint, std::error_code> from_sockaddr(const sockaddr* from, std::size_t length);
  // Fills `to` and returns how many octets of it are meaningful (the socklen_t of bind and connect).
  unsigned int to_sockaddr(sockaddr_storage& to) const noexcept;
};

}  // namespace weft::transport
