// SPDX-License-Identifier: Apache-2.0
// What a connection waits for, and until when; how long its end may take is known to Ending.
#pragma once

#include <algorithm>
#include <optional>

#include "common/instant.hpp"

namespace weft::engine {

inline constexpr Instant kNever{Duration::max()};

// A time-out of 0 is none.
[[nodiscard]] constexpr Instant behind(Instant now, Duration timeout) noexcept {
  return timeout == Duration{} ? kNever : now + timeout;
}

struct Deadlines {
  std::optional<Instant> startup{};     // the peer's start-up frame or ready-to-receive message
  std::optional<Instant> receive{};     // a receive for the Send that found none
  std::optional<Instant> first_fpdu{};  // initiator: FPDUs wait until then (Config::first_fpdu_delay)
  // For a peer in RDMA mode; kNever: none of these is waited for.
  Instant frame = kNever;   // the rest of an FPDU that has begun
  Instant window = kNever;  // room for octets that the socket does not take
  Instant idle = kNever;    // an octet in either direction

  void clear() noexcept { *this = {}; }
  // Of these and of `end`.
  [[nodiscard]] std::optional<Instant> earliest(std::optional<Instant> end) const noexcept {
    for (const auto* deadline : {&startup, &first_fpdu, &receive}) {
      if (*deadline) end = end ? std::min(*end, **deadline) : *deadline;
    }
    const Instant peers = std::min({frame, window, idle});
    if (peers != kNever) end = end ? std::min(*end, peers) : peers;
    return end;
  }
};

}  // namespace weft::engine
