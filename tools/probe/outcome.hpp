// SPDX-License-Identifier: Apache-2.0
// What a run of the prober came to: one word, and an exit code as `weft audit` has them.
#pragma once

#include <cstdint>
#include <string>

#include "probe/report.hpp"
#include "tools/cli/colour.hpp"
#include "tools/cli/outcome.hpp"
#include "tools/probe/names.hpp"

namespace weft::tools::probing {

// There is no peer, it does not speak iWARP, or it went away.
inline constexpr auto kNoPeer = static_cast<ExitCode>(3);
[[nodiscard]] inline std::unexpected<Failure> no_peer(std::string sentence) {
  return std::unexpected(Failure{std::move(sentence), kNoPeer});
}

enum class Overall : std::uint8_t {
  kNoFailure,
  kNothing,   // no case and no rule says anything of this peer
  kWarnings,  // with --strict only
  kPeerGone,  // and nothing worse before
  kFailures,
};
// Failures and warnings of cases, and of the auditor's rules on what the peer sent.
[[nodiscard]] Overall overall_of(const Report& report, bool strict);

// The last line of a report: the word in its color, and the counts.
[[nodiscard]] std::string overall_line(const Report& report, bool strict, const Palette& palette);

// "the peer stopped accepting connections after case 17 ('crc-wrong-write'): connection refused". Empty where it did
// not.
[[nodiscard]] std::string gone_text(const Report& report);

// For the exit code, and the line on stderr: 0, 1, or kNoPeer where the peer went away. An interrupted run counts as
// far as it came.
[[nodiscard]] Outcome<void> outcome_of(const Report& report, bool strict);

}  // namespace weft::tools::probing
