// SPDX-License-Identifier: Apache-2.0
// The combinations of the plan as cases, and the sample of them that a run tries.
#pragma once

#include <chrono>
#include <functional>
#include <vector>

#include "probe/plan/combination.hpp"

namespace weft::probe {

// How many combinations of each rule a run tries.
enum class Depth : std::uint8_t {
  kQuick,   // each value of each axis at least once
  kNormal,  // each pair of values of two axes at least once
  kDeep,    // each triple of values of three axes at least once
};

// Returns how long combinations of that depth may begin: the others are reported as not applicable, and counted. Unlike
// the waits it does not grow with the round trip: a run of a minute stays one.
[[nodiscard]] std::chrono::seconds time_of(Depth depth) noexcept;
[[nodiscard]] std::string_view name(Depth depth) noexcept;  // "quick", "normal", "deep"

// Thread-safe. The cases live as long as the program.

// The sample of all rules: the same for the same depth and seed. `offered` says whether the peer has what a combination
// needs; a rule of which it can have none is represented by one combination.
[[nodiscard]] std::vector<const Case*> planned_cases(Depth depth, std::uint64_t seed,
                                                     const std::function<bool(std::uint32_t needs)>& offered);
// All combinations whose names begin with these labels ("crc.first"), whether or not a sample has them. All labels of a
// name select one.
[[nodiscard]] std::vector<const Case*> planned_cases_of(std::string_view prefix);
// The rule of a combination by its name, for summaries: "crc" of "crc.first.send". Empty for an ordinary case.
[[nodiscard]] std::string_view rule_of(const Case& one) noexcept;

}  // namespace weft::probe
