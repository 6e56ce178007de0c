// SPDX-License-Identifier: Apache-2.0
// The results of a run of the prober, for the writers of text, JSON, JUnit XML, HTML and captures.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "conformance/finding.hpp"
#include "probe/case.hpp"
#include "probe/plan/plan.hpp"

namespace weft::probe {

// A rule of the auditor, applied to everything that the peer sent in the run.
struct RuleResult {
  const conformance::Rule* rule{};
  Verdict verdict{};  // pass, fail (violation), warn (warning), or not applicable: nothing to judge was seen
  std::uint64_t breaches{};
  // The first one: in which case and in which of its exchanges.
  std::optional<conformance::Finding> first{};
  std::size_t case_index{};  // in Report::cases
  std::size_t exchange_index{};
  Verdicts verdicts{};                 // as in CaseResult
  std::optional<std::string> known{};  // as in CaseResult
};

// The peer accepted no further connection while cases were still to run: its process ended, or it hangs.
struct PeerGone {
  const Case* after{};     // the case at whose end that was seen; null: before the first one
  std::size_t finished{};  // cases that had ended before it was seen, that one included
  std::string reason{};    // what the next connection met
};

// An expected finding that did not occur, though what shows it ran.
struct AbsentFinding {
  std::string id{};   // of a clause, or the name of a case
  std::string end{};  // "initiator", "responder", "both"; empty: any
  std::string reason{};
  std::size_t line{};   // of the file, from 1
  std::string words{};  // all of it for people
};

struct Report {
  std::string title{};        // of the user's; may be empty
  std::string target{};       // "192.0.2.7:4420", or where the prober listens
  std::string profile{};      // "weft"
  bool listens{};             // the prober listened: the peer is the initiator
  std::uint8_t revision = 2;  // of MPA, in ordinary startups with the peer
  bool enhanced = true;       // and whether they are those of RFC 6581
  bool one_at_a_time{};       // the peer serves one connection at a time
  std::uint64_t seed{};
  Depth depth{};
  unsigned runs = 1;
  std::chrono::system_clock::time_point started{};
  std::chrono::milliseconds took{};
  std::vector<CaseResult> cases{};
  std::vector<RuleResult> rules{};
  std::chrono::microseconds round_trip{};  // the longest time that the peer took for an answer it owed at once
  std::chrono::milliseconds quiet{};       // how long silence had to last, by that
  bool interrupted{};
  std::optional<PeerGone> gone{};
  std::vector<AbsentFinding> known_absent{};
};

// The report of several runs of the same cases: of each case and rule the worst verdict, with what the first run that
// came to it saw, and how often each verdict came. Not empty. All have their cases in one order, and the first has
// every case of the others: only the last run of several may have been interrupted. A case that it lacks counts for
// those that have it.
[[nodiscard]] Report merge(std::vector<Report> runs);

}  // namespace weft::probe
