// SPDX-License-Identifier: Apache-2.0
// The deadlines of a connection, except that of its end (Ending).
#pragma once

#include <algorithm>
#include <optional>

#include "common/instant.hpp"

namespace weft::engine {

inline constexpr Instant kNever{Duration::max()};

// Returns the deadline of a timeout. A timeout of 0 means that there is no deadline.
[[nodiscard]] constexpr Instant behind(Instant now, Duration timeout) noexcept {
  return timeout == Duration{} ? kNever : now + timeout;
}

struct Deadlines {
  std::optional<Instant> startup{};     // for the startup frame or ready-to-receive message of the peer
  std::optional<Instant> receive{};     // for a receive, needed by a Send that found none
  std::optional<Instant> first_fpdu{};  // initiator: FPDUs wait until then (Config::first_fpdu_delay)
  // For a peer in RDMA mode. kNever: no such deadline.
  Instant frame = kNever;   // for the rest of an incomplete FPDU
  Instant window = kNever;  // for the socket to accept octets that wait
  Instant idle = kNever;    // for an octet in either direction

  void clear() noexcept { *this = {}; }
  // Returns the earliest of these and `end`.
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
