// SPDX-License-Identifier: Apache-2.0
/// @file
/// Rules of the RFCs whose violation a capture can show. Each file in rules/ defines the rules that it checks;
/// all_rules() returns the table.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace weft::conformance {

/// Identifies the severity of a violation.
enum class Severity : std::uint8_t {
  kNote,       ///< information: nothing is violated
  kWarning,    ///< a SHOULD, or a configuration that gives up a protection
  kViolation,  ///< a MUST, or the structure of a message
};
/// Identifies the protocol layer of a rule.
enum class Layer : std::uint8_t {
  kConnection,  ///< no single protocol: how the connection was made
  kMpa,         ///< MPA: RFC 5044 and RFC 6581
  kDdp,         ///< DDP: RFC 5041
  kRdmap,       ///< RDMAP: RFC 5040 and RFC 7306
};

/// Describes one rule of the auditor.
struct Rule {
  std::string_view clause{};    ///< id of the clause in docs/clauses/*.csv
  Severity severity{};          ///< severity of a violation
  Layer layer{};                ///< protocol layer
  std::string_view section{};   ///< section: "RFC 5044 4.1"
  std::string_view sentence{};  ///< requirement, for people
};

/// Returns "note", "warning" or "violation"; static storage.
[[nodiscard]] std::string_view name(Severity severity) noexcept;
/// Returns "connection", "mpa", "ddp" or "rdmap"; static storage.
[[nodiscard]] std::string_view name(Layer layer) noexcept;

/// Returns all rules in the order of the RFCs: MPA, DDP, RDMAP, RFC 7306. Static storage.
[[nodiscard]] std::span<const Rule* const> all_rules() noexcept;

}  // namespace weft::conformance
