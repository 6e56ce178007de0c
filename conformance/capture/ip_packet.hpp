// SPDX-License-Identifier: Apache-2.0
// The IP headers, RFC 791 and RFC 8200: who, to whom, and where the payload lies.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>

#include "conformance/capture/encapsulation.hpp"

namespace weft::conformance::capture {

struct Address {
  std::array<std::byte, 16> octets{};  // of IPv4 the first four
  std::uint8_t version{};
  auto operator<=>(const Address&) const = default;
};
[[nodiscard]] std::string in_words(const Address& address);

struct Fragment {
  std::uint32_t id{};
  std::uint32_t offset{};  // of the payload, in the datagram's
  bool more{};
};

struct IpPacket {
  Address source{};
  Address destination{};
  std::uint8_t protocol{};
  std::size_t payload_at{};            // in the captured packet, behind all headers. Perhaps not captured any more
  std::size_t payload_size{};          // as sent
  std::optional<Fragment> fragment{};  // absent when the packet is a whole datagram
};

struct IpAt {
  std::uint8_t version{};  // 4 or 6
  std::size_t offset{};    // in the captured packet
};

// `original_size`: of the packet, as sent. Whatever the headers claim, a payload ends where the packet did.
[[nodiscard]] std::expected<IpPacket, Unread> parse_ip(IpAt at, Bytes captured, std::size_t original_size) noexcept;

}  // namespace weft::conformance::capture
