// SPDX-License-Identifier: Apache-2.0
// What the leader's process tells the follower's, over the pair of sockets between them; never during a measurement.
#pragma once

#include <cstdint>

#include "tools/bench/endpoint.hpp"

namespace weft::tools::bench {

enum class Transport : std::uint8_t { kWeft, kTcp };

// As what a thread is placed: perftest's are left to the scheduler.
[[nodiscard]] constexpr Waiting seating(const Options& options, Transport transport, Waiting waiting) noexcept {
  return transport == Transport::kWeft && options.pattern == Pattern::kPerftest ? Waiting::kSleep : waiting;
}

enum class Verb : std::uint8_t { kRun, kCheck, kQuit };

struct Command {
  Verb verb{};
  Transport transport{};
  Waiting waiting{};
  std::uint8_t seed{};       // kCheck
  std::uint64_t messages{};  // kRun
};

// The follower's answers: kReady when it is prepared, kDone when the run or check went well. When one goes wrong the
// follower says why on stderr and leaves, so its end of the pair closes.
enum class Answer : std::uint8_t { kReady, kDone };

// The answer to kQuit.
struct LastWord {
  std::uint64_t allocations{};
};

struct Ports {
  std::uint16_t weft{};
  std::uint16_t tcp{};
};

}  // namespace weft::tools::bench
