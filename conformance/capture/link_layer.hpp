// SPDX-License-Identifier: Apache-2.0
// From the link-layer header to the IP header. Every octet is hostile: nothing is read that was not captured.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>

#include "conformance/packet.hpp"

namespace weft::conformance::capture {

// Why a packet is not looked into any further.
enum class Unread : std::uint8_t {
  kNotTcp,
  kMalformed,  // a length or a version in its headers makes no sense, or the snap length cut them
  kFragment,   // its datagram is not complete, or never will be
};

struct IpAt {
  std::uint8_t version{};  // 4 or 6
  std::size_t offset{};    // in the captured packet
};

[[nodiscard]] std::expected<IpAt, Unread> find_ip(LinkType link, Bytes captured) noexcept;

}  // namespace weft::conformance::capture
