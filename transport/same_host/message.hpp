// SPDX-License-Identifier: Apache-2.0
// The one message of an initiator, which carries the descriptor of the rings:
//
//     0        8         12             16           38         60
//     +--------+---------+--------------+------------+----------+
//     | magic  | version | ring octets  | from       | to       |      each end: address 16, scope 4, port 2
//     +--------+---------+--------------+------------+----------+
//
// All numbers are big-endian. Addresses are those of IPv6, an IPv4 address mapped.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <system_error>

#include "common/wire.hpp"
#include "transport/endpoint.hpp"

namespace weft::transport::same_host {

inline constexpr std::size_t kMessageOctets = 60;
inline constexpr std::uint32_t kVersion = 1;

struct Message {
  Endpoint from{};  // the initiator's end of the TCP connection
  Endpoint to{};    // the acceptor's
  std::uint32_t ring_octets = 0;

  bool operator==(const Message&) const = default;
};

[[nodiscard]] std::array<std::byte, kMessageOctets> serialize(const Message& message) noexcept;
// Fails with protocol_error for octets that are not such a message, and with protocol_not_supported for another
// version. The size of the rings is not checked here: Memory::map.
[[nodiscard]] std::expected<Message, std::error_code> parse_message(Bytes octets) noexcept;

}  // namespace weft::transport::same_host
