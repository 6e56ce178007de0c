// SPDX-License-Identifier: Apache-2.0
// From the first octet of a packet to the header behind the link layer's. Every octet is hostile: nothing is read that
// was not captured.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>

#include "conformance/capture/header_path.hpp"
#include "conformance/packet.hpp"

namespace weft::conformance::capture {

// Why a packet is not looked into any further.
enum class Unread : std::uint8_t {
  kNotTcp,
  kMalformed,  // a length or a version in its headers makes no sense, or the snap length cut them
  kFragment,   // its datagram is not complete, or never will be
};

// Where a walk over the headers of a packet is: the next one begins at `at`.
struct HeaderCursor {
  Bytes captured{};
  std::size_t original{};  // size of the packet as sent; at least that of `captured`
  std::size_t at{};        // at most the size of `captured`
  HeaderPath path{};       // of the encapsulations before `at`

  [[nodiscard]] Bytes rest() const noexcept { return captured.subspan(at); }
  [[nodiscard]] bool has(std::size_t size) const noexcept { return captured.size() - at >= size; }
};

// What the next header is.
struct NextHeader {
  enum What : std::uint8_t {
    kEthernet,
    kEtherType,   // what this EtherType says
    kPpp,         // PPP's protocol field
    kIp,          // IP of either version, which it says itself
    kIpProtocol,  // what this protocol number of IP says
  };
  What what{};
  std::uint16_t value{};
};
using Stepped = std::expected<NextHeader, Unread>;

// Steps over the header of the link layer.
[[nodiscard]] Stepped step_link(LinkType link, HeaderCursor& cursor) noexcept;
// Steps over an Ethernet header (also inside an encapsulation).
[[nodiscard]] Stepped step_ethernet(HeaderCursor& cursor) noexcept;

}  // namespace weft::conformance::capture
