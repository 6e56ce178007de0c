// SPDX-License-Identifier: Apache-2.0
// The TCP header, RFC 9293 section 3.1.
#pragma once

#include <cstdint>
#include <expected>
#include <optional>

#include "conformance/capture/link_layer.hpp"

namespace weft::conformance::capture {

struct TcpHeader {
  std::uint16_t source_port{};
  std::uint16_t destination_port{};
  std::uint32_t sequence{};
  std::uint32_t acknowledgement{};  // meaningless without `ack`
  bool syn{}, ack{}, fin{}, rst{};
  std::size_t size{};                  // options included
  std::optional<std::uint16_t> mss{};  // of the option in a SYN
};

// `octets`: what was captured of the segment, whose size was `original_size`. The options may be cut, the rest not.
[[nodiscard]] std::expected<TcpHeader, Unread> parse_tcp(Bytes octets, std::size_t original_size) noexcept;

}  // namespace weft::conformance::capture
