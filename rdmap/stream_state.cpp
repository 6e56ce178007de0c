// SPDX-License-Identifier: Apache-2.0
#include "rdmap/stream_state.hpp"

#include <utility>

namespace weft::rdmap {

std::string_view name(StreamState state) noexcept {
  switch (state) {
    case StreamState::kStartup: return "Startup";
    case StreamState::kOperational: return "Operational";
    case StreamState::kHalfClosed: return "HalfClosed";
    case StreamState::kClosing: return "Closing";
    case StreamState::kTerminating: return "Terminating";
    case StreamState::kClosed: return "Closed";
  }
  std::unreachable();
}

std::string_view name(StreamEvent event) noexcept {
  switch (event) {
    case StreamEvent::kEstablished: return "established";
    case StreamEvent::kStartupFailed: return "startup failed";
    case StreamEvent::kPeerFinished: return "peer finished";
    case StreamEvent::kCloseRequested: return "close requested";
    case StreamEvent::kErrorFound: return "error found";
    case StreamEvent::kTerminateReceived: return "Terminate received";
    case StreamEvent::kLlpClosed: return "LLP closed";
    case StreamEvent::kConnectionLost: return "connection lost";
  }
  std::unreachable();
}

std::string diagram() {
  std::string text = "stateDiagram-v2\n  [*] --> Startup\n";
  for (const Transition& t : kTransitions) {
    text.append("  ").append(name(t.from)).append(" --> ").append(name(t.to));
    text.append(": ").append(name(t.event)).append("\n");
  }
  return text.append("  Closed --> [*]\n");
}

}  // namespace weft::rdmap
