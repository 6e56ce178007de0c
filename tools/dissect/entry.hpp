// SPDX-License-Identifier: Apache-2.0
// One rung of a connection's ladder: a message, or what else happened.
#pragma once

#include <cstdint>
#include <variant>

#include "conformance/messages.hpp"
#include "tools/dissect/part.hpp"

namespace weft::tools::dissect {

struct Note {
  conformance::Direction from{};
  std::uint64_t packet{};
  bool sent{};  // by that end, to the other; else it is something to know of that direction
  Parts parts{};
};

struct Entry {
  std::variant<conformance::Message, Note> what{};
  std::int64_t time{};  // nanoseconds since the capture's first packet, of `packet()`

  [[nodiscard]] const conformance::Message* message() const noexcept {
    return std::get_if<conformance::Message>(&what);
  }
  [[nodiscard]] conformance::Direction from() const noexcept {
    return std::visit([](const auto& one) { return one.from; }, what);
  }
  // In which it was complete.
  [[nodiscard]] std::uint64_t packet() const noexcept {
    return message() != nullptr ? message()->last_packet : std::get<Note>(what).packet;
  }
};

}  // namespace weft::tools::dissect
