// SPDX-License-Identifier: Apache-2.0
// A case: a conversation that is led to a point, one rule that is broken there, and the reaction that the RFC asks for.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "probe/exchange.hpp"
#include "probe/verdict.hpp"

namespace weft::probe {

class Scene;

// What a case needs of the peer. One that the profile does not have makes the case not applicable.
enum Need : std::uint32_t {
  kNoNeed = 0,
  kListens = 1U << 0U,    // the peer is the MPA responder; the prober sends the Request
  kConnects = 1U << 1U,   // the peer is the initiator
  kStream = 1U << 2U,     // an established connection, of any profile
  kRegions = 1U << 3U,    // regions whose place the peer tells
  kReceives = 1U << 4U,   // it takes any Send, and goes on
  kReport = 1U << 5U,     // it tells what completed
  kOrders = 1U << 6U,     // it does what it is told: peer_protocol.hpp
  kSessions = 1U << 7U,   // a second connection sees what the first one did
  kAtomics = 1U << 8U,    // RFC 7306
  kReads = 1U << 9U,      // it can be brought to read the prober's memory
  kEnhanced = 1U << 10U,  // its start-up is the enhanced one of RFC 6581, which MPA's revision 1 does not have
};

struct Case {
  std::string_view name{};               // unique, for --only and --skip: "crc-wrong-in-payload"
  std::string_view clause{};             // the clause that a failure is reported under
  std::string_view what{};               // one sentence for people: what the prober does, and what the RFC wants then
  std::uint32_t needs{};                 // of Need
  void (*run)(Scene&){};                 // returns: pass. Throws Judgement
  std::vector<std::string_view> also{};  // other clauses that the same reaction shows
  bool slow{};                           // waits for a time-out of the peer: runs beside the others
};

// All cases, in the order of the RFCs. Static storage.
[[nodiscard]] std::span<const Case> all_cases();

struct CaseResult {
  const Case* what{};
  Verdict verdict{};
  std::string reason{};               // what was seen; empty for a pass that says it all
  std::vector<Exchange> exchanges{};  // of each connection, in the order of opening
  std::chrono::milliseconds took{};
  bool peer_ended{};  // the peer went away during it: what it sent says nothing of a rule
  bool ran{};         // false: the run was over before it began, and the verdict says nothing
};

}  // namespace weft::probe
