// SPDX-License-Identifier: Apache-2.0
// What a connection waits for, and until when; how long its end may take is known to Ending.
#pragma once

#include <algorithm>
#include <optional>

#include "common/instant.hpp"

namespace weft::engine {

struct Deadlines {
  std::optional<Instant> startup{};     // the peer's start-up frame or ready-to-receive message
  std::optional<Instant> receive{};     // a receive for the Send that found none
  std::optional<Instant> first_fpdu{};  // initiator: FPDUs wait until then (Config::first_fpdu_delay)

  void clear() noexcept { *this = {}; }
  // Of these and of `end`.
  [[nodiscard]] std::optional<Instant> earliest(std::optional<Instant> end) const noexcept {
    for (const auto* deadline : {&startup, &first_fpdu, &receive}) {
      if (*deadline) end = end ? std::min(*end, **deadline) : *deadline;
    }
    return end;
  }
};

}  // namespace weft::engine
