// SPDX-License-Identifier: Apache-2.0
// Work request identifiers of a stream: a receive's number, or how many octets of the ring a send gives back.
#pragma once

#include <cstdint>

namespace weft::compat::rsockets {

inline constexpr std::uint64_t kSendBit = 1ULL << 63;

constexpr std::uint64_t send_id(std::uint32_t octets) { return kSendBit | octets; }
constexpr bool is_send(std::uint64_t id) { return (id & kSendBit) != 0; }
constexpr std::uint32_t octets_left(std::uint64_t id) { return static_cast<std::uint32_t>(id); }

}  // namespace weft::compat::rsockets
