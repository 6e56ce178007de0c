// SPDX-License-Identifier: Apache-2.0
// Runs cases against a peer, side by side where it can take that, and tells what each found.
#pragma once

#include <atomic>
#include <expected>
#include <functional>
#include <string>
#include <vector>

#include "probe/report.hpp"
#include "probe/way.hpp"

namespace weft::probe {

// Which cases: by the beginnings of their names or of their clauses; empty: all.
struct CaseFilter {
  std::vector<std::string> only{};
  std::vector<std::string> skip{};
  [[nodiscard]] bool allows(const Case& one) const;
};

struct RunOptions {
  CaseFilter filter{};
  std::uint64_t seed = 1;
  unsigned at_a_time = 0;  // conversations; 0: what the way allows
  std::function<void(const CaseResult&, std::size_t done, std::size_t all)> on_result{};  // one call at a time
  const std::atomic<bool>* stop{};                                                        // set: no further case begins
};

// The first contact: whether there is an iWARP peer to be probed, which answers something like an MPA frame; else a sentence.
// The way knows then of which revision the peer's start-ups are.
[[nodiscard]] std::expected<void, std::string> meet(Way& way);
// Whether it is still there.
[[nodiscard]] std::expected<void, std::string> knock(Way& way);

// The results stand in the order of all_cases(), whatever order they ran in.
[[nodiscard]] Report run(Way& way, const RunOptions& options);

// The peer's octets in all exchanges, held against the rules of conformance/.
[[nodiscard]] std::vector<RuleResult> judge(const std::vector<CaseResult>& cases);

}  // namespace weft::probe
