// SPDX-License-Identifier: Apache-2.0
// The ways to write down what was found: for people, for programs and for CI systems.
#pragma once

#include <span>
#include <string>

#include "tools/audit/report.hpp"
#include "tools/cli/colour.hpp"

namespace weft::tools::audit {

// "trace.pcap: 40 packets, 2 TCP connections, 1 of iWARP"
[[nodiscard]] std::string head_of(const Report& report);
// All of a capture, up to the verdict.
[[nodiscard]] std::string text_of(const Report& report, const Palette& palette);
// As it goes: a finding when it is known, and a connection that is over, without the findings that were told.
[[nodiscard]] std::string text_of_connection(const conformance::ConnectionReport& report, const Palette& palette);
[[nodiscard]] std::string text_of_finding(const conformance::Finding& finding, const conformance::ConnectionInfo& info,
                                          const Palette& palette);
// A line for each connection and a line for each broken rule.
[[nodiscard]] std::string summary_of(const Report& report, bool strict, const Palette& palette);

// docs/audit.schema.json describes it: one capture is an object, several are an array of such objects in an object.
[[nodiscard]] std::string json_of(std::span<const Report> reports, const Known& known);
// One test suite per connection, and one for those that are not described, with a case for each rule; a finding is a
// failed test case, a warning only when `strict`, a known one is skipped. Of several captures, the names begin with the
// file's.
[[nodiscard]] std::string junit_of(std::span<const Report> reports, bool strict, const Known& known);
// A line for each known finding that did not occur; empty where there is none.
[[nodiscard]] std::string text_of_absent(const Known& known);

}  // namespace weft::tools::audit
