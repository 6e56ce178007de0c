// SPDX-License-Identifier: Apache-2.0
// The octets of one connection of a case in their order: for the auditor, the reports and the captures.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "common/instant.hpp"
#include "common/wire.hpp"
#include "transport/endpoint.hpp"

namespace weft::probe {

// One part of an exchange.
struct Part {
  enum Kind : std::uint8_t { kOctets, kFin, kReset };
  Kind kind{};
  bool from_peer{};
  std::vector<std::byte> octets{};  // octets as passed to send() or returned by recv()
  Duration at{};                    // since the connection was opened
};

// What of the prober's stream a verdict is about.
struct Subject {
  std::uint64_t fpdu{};           // its number in the stream, from 1; 0: the startup frame
  std::uint64_t stream_offset{};  // of its first octet, from the first octet of the stream
};

struct Exchange {
  transport::Endpoint prober{};
  transport::Endpoint peer{};
  bool peer_opened{};            // sent the SYN, and is the MPA initiator
  bool prober_breaks_startup{};  // the prober's own startup frame was wrong on purpose
  std::vector<Part> parts{};     // bounded by Learned::most_kept(): then `cut` is true
  bool cut{};
  bool reset{};                      // the peer's direction ended by a reset
  std::optional<Subject> subject{};  // where the case has named it
};

}  // namespace weft::probe
