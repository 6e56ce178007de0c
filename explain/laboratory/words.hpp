// SPDX-License-Identifier: Apache-2.0
// What the engine tells, and what it waits for, in words.
#pragma once

#include "engine/engine.hpp"
#include "explain/laboratory/step.hpp"

namespace weft::explain::laboratory {

[[nodiscard]] Told told(const engine::Event& event);

// What the laboratory knows of a connection when it is asked what happens next.
struct Situation {
  mpa::Role role{};
  State state{};
  engine::ReceiveResult last{};
  bool fin_sent{};
  bool peer_finished{};
};
[[nodiscard]] std::string waiting(const Situation& now);

}  // namespace weft::explain::laboratory
