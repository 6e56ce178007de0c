// SPDX-License-Identifier: Apache-2.0
// A rule of the RFCs that a capture can show broken. Each file in rules/ owns the rules that it judges; all_rules() is
// the table of them.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace weft::conformance {

// How much a broken rule matters.
enum class Severity : std::uint8_t {
  kNote,       // worth knowing, nothing is broken
  kWarning,    // a SHOULD, or a configuration that gives something up
  kViolation,  // a MUST, or the structure itself
};
// Whose rule it is.
enum class Layer : std::uint8_t {
  kConnection,  // of none alone: how the connection was made
  kMpa,         // RFC 5044 and 6581
  kDdp,         // RFC 5041
  kRdmap,       // RFC 5040 and 7306
};

// One rule of the auditor.
struct Rule {
  std::string_view clause{};    // id in docs/clauses/*.csv
  Severity severity{};          // of a breach
  Layer layer{};                // whose rule it is
  std::string_view section{};   // "RFC 5044 4.1"
  std::string_view sentence{};  // what the RFC asks for, for people
};

[[nodiscard]] std::string_view name(Severity severity) noexcept;  // "note", "warning", "violation"
[[nodiscard]] std::string_view name(Layer layer) noexcept;        // "connection", "mpa", "ddp", "rdmap"

// In the order of the RFCs: MPA, DDP, RDMAP, RFC 7306. Static storage.
[[nodiscard]] std::span<const Rule* const> all_rules() noexcept;

}  // namespace weft::conformance
