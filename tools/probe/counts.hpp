// SPDX-License-Identifier: Apache-2.0
// What the reports count, and in what order they tell.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "probe/report.hpp"
#include "tools/probe/clause_table.hpp"
#include "tools/probe/names.hpp"

namespace weft::tools::probing {

struct Counts {
  std::array<std::size_t, 4> by_verdict{};

  void add(Verdict verdict) noexcept { ++by_verdict[std::to_underlying(verdict)]; }
  [[nodiscard]] std::size_t of(Verdict verdict) const noexcept { return by_verdict[std::to_underlying(verdict)]; }
  [[nodiscard]] std::size_t all() const noexcept;
};

[[nodiscard]] constexpr bool is_trouble(Verdict verdict) noexcept {
  return verdict == Verdict::kFail || verdict == Verdict::kWarn;
}
// Combinations of one rule of the plan that are told in full: of a peer that fails thousands a few tell all.
inline constexpr std::size_t kOfRule = 3;

inline constexpr std::array kVerdicts{Verdict::kPass, Verdict::kWarn, Verdict::kFail, Verdict::kNotApplicable};

[[nodiscard]] Counts cases_of(const Report& report);
[[nodiscard]] Counts rules_of(const Report& report);
// Counts the cases by the section of their clause.
[[nodiscard]] std::map<SectionGroup, Counts> by_section(const Report& report);

// A rule of the plan of which combinations did not begin within the time of the depth.
struct OutOfTime {
  std::string_view rule{};
  std::size_t combinations{};  // of the sample
  std::size_t not_run{};       // of these
};
// Returns those rules, in the order of the cases.
[[nodiscard]] std::vector<OutOfTime> out_of_time(const Report& report);

// What a clause is to a peer: a SHOULD, SHOULD NOT or MAY of the RFCs, or anything that is stronger (MUST, MUST NOT,
// facts of the protocol).
enum class Level : std::uint8_t { kMust, kShould };
inline constexpr std::array kLevels{Level::kMust, Level::kShould};
[[nodiscard]] Level level_of(std::string_view clause);
[[nodiscard]] std::string_view name(Level level) noexcept;      // "MUST", "SHOULD"
[[nodiscard]] std::string_view words_of(Level level) noexcept;  // "MUST, MUST NOT and facts"
// Counts the cases and rules whose clause has this level.
[[nodiscard]] Counts of_level(const Report& report, Level level);
// Failures or warnings that are known, of cases and rules.
[[nodiscard]] std::size_t known_of(const Report& report, Verdict verdict);
// Cases and rules whose verdict differs between runs.
[[nodiscard]] std::size_t flaky_of(const Report& report);
// "flaky: fail in 2 of 5 runs, pass in 3"; empty where it is not.
[[nodiscard]] std::string flaky_text(const Verdicts& verdicts);

// The case and the exchange that showed a rule broken; null where the report does not have them.
[[nodiscard]] const CaseResult* case_of(const Report& report, const RuleResult& rule);
[[nodiscard]] const Exchange* exchange_of(const Report& report, const RuleResult& rule);

// "311 cases: 290 pass, 3 warn, 0 fail, 18 not applicable". `noun` in the singular.
[[nodiscard]] std::string in_words(const Counts& counts, std::string_view noun);
// What the peer is: "responder" where it listens, else "initiator".
[[nodiscard]] std::string_view role_of(const Report& report) noexcept;
// How it starts up: "MPA revision 1, not enhanced".
[[nodiscard]] std::string startup_of(const Report& report);
// The command line that repeats a case by itself.
[[nodiscard]] std::string again(const Report& report, std::string_view name);
// "2026-11-26T00:21:43Z"
[[nodiscard]] std::string time_text(std::chrono::system_clock::time_point time);

}  // namespace weft::tools::probing
