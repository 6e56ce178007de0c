// SPDX-License-Identifier: Apache-2.0
// What each clause of the RFCs asks for, as docs/clauses/ has it.
#pragma once

#include <compare>
#include <string>
#include <string_view>

#include "tools/probe/names.hpp"

namespace weft::tools::probing {

struct ClauseText {
  std::string id{};        // "MPA-4.4-08"
  std::string rfc{};       // "5044"
  std::string section{};   // "4.4"
  std::string level{};     // "MUST", "SHOULD", ..., "FACT"
  std::string sentence{};  // what the RFC asks for, for people
};

// Returns null where the catalogue has no such clause. Static storage.
[[nodiscard]] const ClauseText* find_clause(std::string_view id);

// "RFC 5044 section 4.4, MUST"; of a clause that the catalogue does not have, "no clause of the catalogue".
[[nodiscard]] std::string place_of_clause(std::string_view id);
// The sentence; empty for a clause that the catalogue does not have.
[[nodiscard]] std::string_view demand_of(std::string_view id);

// Clauses of one RFC and one of its sections: what a table has a line for. In the order of the stack, MPA first.
struct SectionGroup {
  unsigned layer{};  // its place in the order
  unsigned section{};
  auto operator<=>(const SectionGroup&) const = default;
};
[[nodiscard]] SectionGroup group_of(std::string_view clause);
[[nodiscard]] std::string name_of(const SectionGroup& group);  // "MPA, RFC 5044 section 4"

}  // namespace weft::tools::probing
