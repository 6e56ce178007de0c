// SPDX-License-Identifier: Apache-2.0
// What `weft audit` found in one capture, and the ways to write it down.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "conformance/capture_audit.hpp"

namespace weft::tools::audit {

struct Report {
  std::string file{};
  std::uint64_t packets{};
  std::size_t tcp_connections{};
  std::string damage{};  // why reading ended before the end of the capture; empty: it did not
  std::vector<conformance::ConnectionReport> connections{};  // those that speak iWARP, in the order of their numbers

  [[nodiscard]] std::size_t count(conformance::Severity severity) const noexcept;
};

// For people.
[[nodiscard]] std::string text_of(const Report& report);
// docs/audit.schema.json describes it.
[[nodiscard]] std::string json_of(const Report& report);
// One test suite per connection; a finding is a failed test case, a warning only when `strict`.
[[nodiscard]] std::string junit_of(const Report& report, bool strict);

// "initiator" or "responder"; "both" when there is none.
[[nodiscard]] std::string_view who(const std::optional<conformance::Direction>& direction) noexcept;

}  // namespace weft::tools::audit
