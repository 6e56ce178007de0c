// SPDX-License-Identifier: Apache-2.0
// What one step of the laboratory showed, and its JSON. The keys are those of the members.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/event.hpp"
#include "explain/laboratory/frames.hpp"
#include "explain/laboratory/memory.hpp"

namespace weft::explain::laboratory {

enum class State : std::uint8_t { kStartup, kRdmaMode, kTerminating, kClosed };

struct Told {  // by the engine to its user
  std::string_view what{};
  std::string words{};
};

struct Arrived {         // something that the engine has taken off the stream
  std::uint64_t at{};    // in the peer's stream
  std::size_t size{};    // octets
  bool accepted = true;  // false: it was refused, or not looked at
  std::string words{};
  std::vector<conformance::Field> fields{};  // offsets count from `at`
};

struct Refused {  // what went wrong, and whether the peer says so (its Terminate) or we
  engine::ErrorReport report{};
  bool remote{};
};

// The current state of this end's untagged queues and requests.
struct Queues {
  std::array<std::uint32_t, 4> msn{1, 1, 1, 1};  // due next on each queue
  std::array<std::uint32_t, 4> mo{};             // due next on each, inside a message
  std::uint32_t ird = 0;                         // the peer's requests that are not answered
  std::uint32_t ord = 0;                         // our own
};

struct Step {
  std::size_t consumed = 0;  // octets that the engine has taken
  std::size_t held = 0;      // octets that wait for more, or for a receive
  State state{};
  std::string waiting{};
  std::vector<Told> events{};
  std::vector<Arrived> in{};
  std::vector<Placed> placed{};
  std::optional<Refused> error{};
  std::vector<Frame> out{};
  bool more = false;  // there is more to send: it comes with the next step
  Queues queues{};
  std::string refused{};  // the laboratory itself did not do it, and why
};

[[nodiscard]] std::string_view name(State state) noexcept;
[[nodiscard]] std::string to_json(const Step& step);

}  // namespace weft::explain::laboratory
