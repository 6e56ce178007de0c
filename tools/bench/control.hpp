// SPDX-License-Identifier: Apache-2.0
// What the leader's process tells the follower's, over the pair of sockets between them; never during a measurement.
#pragma once

#include <array>
#include <cstdint>

#include "tools/bench/endpoint.hpp"

namespace weft::tools::bench {

// kPlain is weft without TLS. The last two are raw TCP with OpenSSL, without and with sessions that are resumed.
enum class Transport : std::uint8_t { kWeft, kTcp, kPlain, kOpenSsl, kOpenSslResumed };
inline constexpr std::array kTransports{Transport::kWeft, Transport::kTcp, Transport::kPlain, Transport::kOpenSsl,
                                        Transport::kOpenSslResumed};

// Raw TCP is connected and checked even where it is not measured. A new process has no session to resume.
[[nodiscard]] constexpr bool takes_part(const Options& options, Transport transport) noexcept {
  const bool repeats = options.kind == Kind::kSetup && options.caller == Caller::kSame;
  switch (transport) {
    case Transport::kWeft:
    case Transport::kTcp: return true;
    case Transport::kPlain: return options.against.plain;
    case Transport::kOpenSsl: return options.against.openssl;
    case Transport::kOpenSslResumed: return options.against.openssl && repeats;
  }
  return false;
}

[[nodiscard]] constexpr bool is_weft(Transport transport) noexcept {
  return transport == Transport::kWeft || transport == Transport::kPlain;
}

// As what a thread is placed: perftest's are left to the scheduler.
[[nodiscard]] constexpr Waiting seating(const Options& options, Transport transport, Waiting waiting) noexcept {
  return is_weft(transport) && options.pattern == Pattern::kPerftest ? Waiting::kSleep : waiting;
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
  std::array<std::uint16_t, kTransports.size()> of{};  // 0: it takes no part
};

}  // namespace weft::tools::bench
