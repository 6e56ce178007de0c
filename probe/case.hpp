// SPDX-License-Identifier: Apache-2.0
// A test case: an exchange with the peer up to a point, a violation of one rule there, and the reaction that the RFC
// requires.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "probe/exchange.hpp"
#include "probe/verdict.hpp"

namespace weft::probe {

class Scene;

// Requirements of a case. If the profile lacks one, the case is not applicable.
enum Need : std::uint32_t {
  kNoNeed = 0,
  kListens = 1U << 0U,    // the peer is the MPA responder; the prober sends the Request
  kConnects = 1U << 1U,   // the peer is the initiator
  kStream = 1U << 2U,     // an established connection, of any profile
  kRegions = 1U << 3U,    // the peer advertises regions
  kReceives = 1U << 4U,   // the peer accepts any Send, and continues
  kReport = 1U << 5U,     // the peer reports completions
  kOrders = 1U << 6U,     // the peer executes commands: peer_protocol.hpp
  kSessions = 1U << 7U,   // a second connection shows what the first one did
  kAtomics = 1U << 8U,    // RFC 7306
  kReads = 1U << 9U,      // the peer can be made to read memory of the prober
  kEnhanced = 1U << 10U,  // the peer uses the enhanced startup of RFC 6581, which MPA revision 1 lacks
};

struct Case {
  std::string_view name{};               // unique, for --only and --skip: "crc-wrong-in-payload"
  std::string_view clause{};             // clause that a failure is reported for
  std::string_view what{};               // one sentence for people: what the prober does, and what the RFC requires
  std::uint32_t needs{};                 // requirements, of Need
  std::vector<std::string_view> also{};  // other clauses that the same reaction shows
  bool slow{};                           // waits for a timeout of the peer: runs concurrently with the others
  bool last{};                           // may end a peer that does not check: begins when the others are over
  bool planned{};                        // a combination of the plan (probe/plan/plan.hpp)
  std::function<void(Scene&)> run{};     // passes if it returns; throws Judgement otherwise
};

// The seed of one case, or of one rule's sample, whatever else runs: reruns give the same.
[[nodiscard]] constexpr std::uint64_t seed_for(std::string_view name, std::uint64_t seed) noexcept {
  for (const char letter : name) seed = (seed ^ static_cast<unsigned char>(letter)) * 0x100000001B3ULL;
  return seed;
}

// All cases but for the combinations of the plan: from MPA up to RDMAP, then RFC 7306 and RFC 5042. Static storage.
[[nodiscard]] std::span<const Case> all_cases();

// How often each verdict came in several runs, by its number.
using Verdicts = std::array<unsigned, 4>;
// More than one verdict came.
[[nodiscard]] constexpr bool is_flaky(const Verdicts& verdicts) noexcept {
  return std::ranges::count_if(verdicts, [](unsigned count) { return count != 0; }) > 1;
}

struct CaseResult {
  const Case* what{};
  Verdict verdict{};
  std::string reason{};               // what was observed; empty for a pass without details
  std::vector<Exchange> exchanges{};  // exchanges, one per connection, in the order of opening
  std::chrono::milliseconds took{};
  bool peer_ended{};                   // the peer went away during the case: what it sent proves nothing about a rule
  bool out_of_time{};                  // a combination that did not begin within the time of its depth: not applicable
  bool ran{};                          // false: the run ended before the case began, and the verdict is meaningless
  Verdicts verdicts{};                 // of several runs (merge()); all 0 after one
  std::optional<std::string> known{};  // a failure or warning that is expected: why; may be empty
};

}  // namespace weft::probe
