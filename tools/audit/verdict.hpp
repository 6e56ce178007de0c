// SPDX-License-Identifier: Apache-2.0
// What a capture, or several of them, came to: one word, and an exit code.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "tools/audit/report.hpp"
#include "tools/cli/colour.hpp"
#include "tools/cli/outcome.hpp"

namespace weft::tools::audit {

// From the best to the worst. What was not read cannot be cleared by what was, so kIncomplete and kUnread come last.
enum class Verdict : std::uint8_t {
  kNoViolation,
  kNoIwarp,
  kWarnings,  // with --strict only
  kViolations,
  kIncomplete,  // most of it was not checked, because octets are missing
  kUnread,      // not at all, or not to its end
};

[[nodiscard]] Verdict verdict_of(const Report& report, bool strict);
[[nodiscard]] Verdict verdict_of(const conformance::ConnectionReport& connection, bool strict);
// The worst. A capture without iWARP counts only where no other has any: of a series of files, some may have none.
[[nodiscard]] Verdict verdict_of(std::span<const Report> reports, bool strict);

// "VIOLATIONS", in its color.
[[nodiscard]] std::string painted(Verdict verdict, const Palette& palette);
// "3 violations, 1 warning, 0 notes"; with known findings ", 2 known" follows
[[nodiscard]] std::string in_words(const Counts& counts);
// "31856 octets missing, 31900 not checked"
[[nodiscard]] std::string in_words(const Coverage& coverage);
// "initiator: 31856 octets missing, 31900 not checked; responder: ...", of the ends of which some are.
[[nodiscard]] std::string gaps_of(const conformance::ConnectionReport& connection);
// "31856 octets missing, 31900 not checked"; empty where none are.
[[nodiscard]] std::string gaps_of(const LeftOut& left_out);
// The last line of a report: the verdict, the counts, and where they are from.
[[nodiscard]] std::string verdict_line(const Report& report, bool strict, const Palette& palette);
// Returns the verdict on several captures, after a line for each.
[[nodiscard]] std::string verdict_lines(std::span<const Report> reports, bool strict, const Palette& palette);

// For the exit code, and the line on stderr.
[[nodiscard]] Outcome<void> outcome_of(std::span<const Report> reports, bool strict);

// " (all known)", " (2 known)"; empty where none is.
[[nodiscard]] std::string known_part_of(const Broken& one);

// "s" where there is not one.
[[nodiscard]] constexpr std::string_view plural(std::uint64_t count) noexcept { return count == 1 ? "" : "s"; }

}  // namespace weft::tools::audit
