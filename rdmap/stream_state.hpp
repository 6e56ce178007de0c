// SPDX-License-Identifier: Apache-2.0
// The life of an RDMAP Stream (RFC 5040 section 6) as one table. The engine feeds events in; what a state permits is
// asked of it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace weft::rdmap {

enum class StreamState : std::uint8_t {
  kStartup,      // MPA is still talking; to send a Terminate about that (RFC 6581 section 9) RDMA mode is entered first
  kOperational,  // RDMA mode in both directions
  kHalfClosed,   // the peer sends nothing more; we may
  kClosing,      // our user asked for the end; what was posted still goes out, what arrives is still taken
  kTerminating,  // a Terminate was sent or is to be sent, or was received; what arrives is dropped
  kClosed,
};

enum class StreamEvent : std::uint8_t {
  kEstablished,  // the MPA startup succeeded
  kStartupFailed,
  kPeerFinished,    // FIN at an FPDU boundary
  kCloseRequested,  // by our user
  kErrorFound,      // by us, in any layer: the Terminate is ours to send
  kTerminateReceived,
  kLlpClosed,       // both directions are closed, or we waited long enough for it
  kConnectionLost,  // RST, timeout, abort by our user: no Terminate
};

struct Transition {
  StreamState from{};
  StreamEvent event{};
  StreamState to{};
};

inline constexpr auto kTransitions = [] {
  using enum StreamState;
  using enum StreamEvent;
  return std::array{
      Transition{kStartup, kEstablished, kOperational},  // RDMAP-6.1-01
      Transition{kStartup, kStartupFailed, kClosed},
      Transition{kStartup, kCloseRequested, kClosed},
      Transition{kStartup, kPeerFinished, kClosed},
      Transition{kStartup, kConnectionLost, kClosed},
      Transition{kOperational, kPeerFinished, kHalfClosed},        // DDP-6.2.1-05
      Transition{kOperational, kCloseRequested, kClosing},         // RDMAP-6.2-02
      Transition{kOperational, kErrorFound, kTerminating},         // RDMAP-6.2.1-01
      Transition{kOperational, kTerminateReceived, kTerminating},  // RDMAP-6.2.1-04
      Transition{kOperational, kConnectionLost, kClosed},          // RDMAP-6.2-03
      Transition{kHalfClosed, kCloseRequested, kClosing},          // DDP-6.2.1-07
      Transition{kHalfClosed, kErrorFound, kTerminating},
      Transition{kHalfClosed, kConnectionLost, kClosed},
      Transition{kClosing, kPeerFinished, kClosing},  // DDP-6.2.1-08: both orders of FIN
      Transition{kClosing, kErrorFound, kTerminating},
      Transition{kClosing, kTerminateReceived, kTerminating},
      Transition{kClosing, kLlpClosed, kClosed},
      Transition{kClosing, kConnectionLost, kClosed},
      Transition{kTerminating, kPeerFinished, kTerminating},
      Transition{kTerminating, kErrorFound, kTerminating},  // RDMAP-7.1-05: the first error is the one reported
      Transition{kTerminating, kCloseRequested, kTerminating},
      Transition{kTerminating, kLlpClosed, kClosed},  // RDMAP-6.2.1-05
      Transition{kTerminating, kConnectionLost, kClosed},
  };
}();

// Where an event leads, or nothing when it means nothing in that state; the caller then ignores it.
[[nodiscard]] constexpr std::optional<StreamState> next(StreamState from, StreamEvent event) noexcept {
  for (const Transition& transition : kTransitions) {
    if (transition.from == from && transition.event == event) return transition.to;
  }
  return std::nullopt;
}

// After graceful close was asked for, posting is refused (DDP-6.2.1-03).
[[nodiscard]] constexpr bool may_post(StreamState state) noexcept {
  return state == StreamState::kOperational || state == StreamState::kHalfClosed;
}
// Segments that arrive are looked at. After an error all later ones are dropped silently (DDP-7.1-20).
[[nodiscard]] constexpr bool takes_segments(StreamState state) noexcept {
  return state == StreamState::kOperational || state == StreamState::kClosing;
}
// Messages other than a Terminate may be started (RDMAP-5.4-10).
[[nodiscard]] constexpr bool may_send(StreamState state) noexcept {
  return may_post(state) || state == StreamState::kClosing;
}

[[nodiscard]] std::string_view name(StreamState state) noexcept;
[[nodiscard]] std::string_view name(StreamEvent event) noexcept;

// The table as a Mermaid state diagram, for the docs.
[[nodiscard]] std::string diagram();

}  // namespace weft::rdmap
