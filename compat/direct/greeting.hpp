// SPDX-License-Identifier: Apache-2.0
// What two queue pairs that were connected by ibv_modify_qp say to each other in the private data of the MPA Request
// and Reply: which two they are, as their programs named them to each other.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "verbs/endpoint.hpp"

namespace weft::compat::direct {

// 24 bits: the TCP port that the queue pair's process listens on, and the index of the queue pair there.
constexpr std::uint16_t port_of(std::uint32_t number) noexcept { return static_cast<std::uint16_t>(number >> 8); }
constexpr std::uint8_t index_of(std::uint32_t number) noexcept { return static_cast<std::uint8_t>(number); }
constexpr std::uint32_t number_of(std::uint16_t port, std::uint8_t index) noexcept {
  return std::uint32_t{port} << 8 | index;
}

// One of the two ends. Compared to decide which end connects: the lesser one.
struct End {
  verbs::Address address{};
  std::uint32_t number = 0;
  auto operator<=>(const End&) const = default;
};

struct Greeting {
  End from{};
  End to{};
  // Packet sequence numbers, 24 bits. Unknown until the program has set them.
  std::optional<std::uint32_t> sq_psn{};
  std::optional<std::uint32_t> rq_psn{};
  bool operator==(const Greeting&) const = default;
};

// version 1, 64 octets in network order: "weft-qp" and the version; from.number, to.number, sq_psn, rq_psn, each 4
// octets, all ones: unknown; from.address, to.address, each 16 octets as a GID; 8 octets for later versions, sent as
// zero.
inline constexpr std::size_t kGreetingSize = 64;
using EncodedGreeting = std::array<std::byte, kGreetingSize>;
[[nodiscard]] EncodedGreeting encode(const Greeting& greeting) noexcept;
// Decodes a greeting of version 1. Returns nothing for other octets.
[[nodiscard]] std::optional<Greeting> decode(std::span<const std::byte> octets) noexcept;

}  // namespace weft::compat::direct
