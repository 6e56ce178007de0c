// SPDX-License-Identifier: Apache-2.0
// Files that options name for reports (--json, --junit, --html, -o ...). After a run, each of them is of that run: the
// report, or an error in the same format, or it is absent. A report of an earlier run never stays as if it were new,
// whatever the exit code.
#pragma once

#include <cstdint>
#include <string>

#include "tools/cli/outcome.hpp"

namespace CLI {
class Option;
}

namespace weft::tools {

enum class ReportFormat : std::uint8_t {
  kJson,   // an error is {"error": "...", "exit_code": 2}
  kJunit,  // an error is a suite with one case that has an error
  kOther,  // the file is removed
};

// Registers an option whose value is a file; to be called when the option is added. It must live until the process
// ends.
void register_report(const CLI::Option* option, ReportFormat format);

// Returns whether a registered option of the command line names a file.
[[nodiscard]] bool report_is_wanted();

// Ends the command `name` ("weft audit"): each file that a registered option of the command line names, and that this
// process has not written, gets the error, or is removed. Standard output ("-"), devices and files without write
// permission are left alone. Returns `outcome`, or a failure if it is none and a file was not written: the command
// line asked for a report that it does not produce.
[[nodiscard]] Outcome<void> settle_reports(const std::string& name, Outcome<void> outcome);

}  // namespace weft::tools
