// SPDX-License-Identifier: Apache-2.0
// Runs cases against a peer, concurrently if the peer permits, and reports the results.
#pragma once

#include <atomic>
#include <expected>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "probe/plan/plan.hpp"
#include "probe/report.hpp"
#include "probe/way.hpp"

namespace weft::probe {

// Selects cases by prefixes of their names or clauses; empty: all. A word with a dot selects combinations of the plan,
// whatever the depth.
struct CaseFilter {
  std::vector<std::string> only{};
  std::vector<std::string> skip{};
  [[nodiscard]] bool allows(const Case& one) const;
};
// Returns whether the word selects combinations by name: "crc.first" for all that begin so.
[[nodiscard]] bool names_combinations(std::string_view word) noexcept;

// The cases of a run: what the filter allows of all_cases(), then of the plan.
struct RunOptions;
[[nodiscard]] std::vector<const Case*> selected_cases(const Way& way, const RunOptions& options);

struct RunOptions {
  CaseFilter filter{};
  Depth depth = Depth::kQuick;
  std::optional<Duration> planned_time{};  // in which combinations may begin; else time_of(depth)
  bool keeps_all = false;                  // the exchanges of combinations that passed, too
  std::uint64_t seed = 1;
  unsigned at_a_time = 0;  // conversations; 0: what the way allows
  std::function<void(const CaseResult&, std::size_t done, std::size_t all)> on_result{};  // one call at a time
  const std::atomic<bool>* stop{};                                                        // set: no further case begins
};

// Checks that there is an iWARP peer, which answers something like an MPA frame; else returns a sentence. Determines
// the MPA revision of the peer's startups.
[[nodiscard]] std::expected<void, std::string> meet(Way& way);
// Checks that the peer is still reachable.
[[nodiscard]] std::expected<void, std::string> check_reachable(Way& way);

// Runs the cases. Results are in the order of all_cases(), whatever order they ran in.
[[nodiscard]] Report run(Way& way, const RunOptions& options);

// Applies the rules of conformance/ to the octets of the peer in all exchanges.
[[nodiscard]] std::vector<RuleResult> judge(const std::vector<CaseResult>& cases);

}  // namespace weft::probe
