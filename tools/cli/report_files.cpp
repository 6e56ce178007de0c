// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/report_files.hpp"

#include <CLI/App.hpp>
#include <algorithm>
#include <vector>

#include "common/json.hpp"
#include "tools/cli/markup.hpp"
#include "tools/cli/whole_file.hpp"

namespace weft::tools {
namespace {

struct RegisteredReport {
  const CLI::Option* option{};
  ReportFormat format{};
};

std::vector<RegisteredReport>& registered_reports() {
  static std::vector<RegisteredReport> all;
  return all;
}

// As it stands on the command line: the parser may have failed before it gave the value to the command. A flag without
// a value is "true" there.
std::string file_of(const CLI::Option& option) {
  if (option.results().empty()) return {};
  const std::string& value = option.results().back();
  const bool flag = option.get_items_expected_min() == 0;
  return value == "-" || (flag && (value == "true" || value.empty())) ? std::string() : value;
}

std::string json_of_error(const Failure& why) {
  return JsonWriter().put("error", why.sentence).put("exit_code", std::to_underlying(why.code)).finish();
}

std::string junit_of_error(const std::string& name, const Failure& why) {
  const std::string whose = '"' + attribute(name) + '"';
  return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=" + whose + ">\n  <testsuite name=" + whose +
         " tests=\"1\" failures=\"0\" errors=\"1\">\n    <testcase classname=" + whose +
         " name=\"run\">\n      <error message=\"" + attribute(why.sentence) +
         "\"/>\n    </testcase>\n  </testsuite>\n</testsuites>\n";
}

void put_error(const std::string& file, ReportFormat format, const std::string& name, const Failure& why) {
  Outcome<void> written = failure("");
  if (format == ReportFormat::kJson) written = write_file(file, json_of_error(why));
  if (format == ReportFormat::kJunit) written = write_file(file, junit_of_error(name, why));
  if (!written) remove_file(file);
}

}  // namespace

void register_report(const CLI::Option* option, ReportFormat format) {
  registered_reports().push_back({option, format});
}

bool report_is_wanted() {
  return std::ranges::any_of(registered_reports(), [](const auto& one) { return !file_of(*one.option).empty(); });
}

Outcome<void> settle_reports(const std::string& name, Outcome<void> outcome) {
  for (const auto& [option, format] : registered_reports()) {
    const std::string file = file_of(*option);
    if (file.empty() || was_written(file)) continue;
    if (outcome)
      outcome = usage_error(option->get_name() + ": no report was written: this command line produces none.");
    put_error(file, format, name, outcome.error());
  }
  return outcome;
}

}  // namespace weft::tools
