// SPDX-License-Identifier: Apache-2.0
// What `weft audit` found in one capture, and the ways to write it down.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "conformance/capture_audit.hpp"

namespace weft::tools::audit {

// Connections beyond those that a report describes: memory does not grow with them.
struct LeftOut {
  struct Broken {
    const conformance::Rule* rule{};
    std::uint64_t count{};
    std::size_t connection{};  // the first that broke it
    std::uint64_t packet{};
  };
  std::size_t connections{};
  std::vector<Broken> broken{};  // each rule once

  void take(const conformance::ConnectionReport& connection);

 private:
  void add(const conformance::Finding& finding);
};

struct Report {
  std::string file{};
  std::uint64_t packets{};
  std::size_t tcp_connections{};
  std::string damage{};  // why reading ended before the end of the capture; empty: it did not
  std::vector<conformance::ConnectionReport> connections{};  // those that speak iWARP, in the order of their numbers

  LeftOut left_out{};

  // A connection that is over: described where fewer than `most` are, else counted.
  void take(conformance::ConnectionReport connection, std::size_t most);
  [[nodiscard]] std::size_t count(conformance::Severity severity) const noexcept;
};

// For people.
[[nodiscard]] std::string text_of(const Report& report);
// docs/audit.schema.json describes it.
[[nodiscard]] std::string json_of(const Report& report);
// One test suite per connection, and one for those that are not described, with a case for each rule; a finding is a
// failed test case, a warning only when `strict`.
[[nodiscard]] std::string junit_of(const Report& report, bool strict);

// "initiator" or "responder"; "both" when there is none.
[[nodiscard]] std::string_view who(const std::optional<conformance::Direction>& direction) noexcept;

}  // namespace weft::tools::audit
