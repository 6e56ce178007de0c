// SPDX-License-Identifier: Apache-2.0
// probe_sample_report FOLDER: writes the sample report there in every form, for probe_reports.py.
#include <cstdio>
#include <filesystem>

#include "sample_report.hpp"
#include "tools/cli/whole_file.hpp"
#include "tools/probe/captures.hpp"
#include "tools/probe/html_report.hpp"
#include "tools/probe/json_report.hpp"
#include "tools/probe/junit_report.hpp"

int main(int count, char** words) {
  using namespace weft::tools;
  if (count != 2) return 2;
  const std::filesystem::path folder = words[1];
  const auto report = weft::test::sample_report();
  for (const auto& written : {write_file(folder / "report.json", probing::json_of(report, false)),
                              write_file(folder / "report.xml", probing::junit_of(report, false)),
                              write_file(folder / "strict.xml", probing::junit_of(report, true)),
                              write_file(folder / "report.html", probing::html_of(report, false)),
                              probing::write_captures(report, folder / "captures")}) {
    if (written) continue;
    std::fprintf(stderr, "%s\n", written.error().sentence.c_str());
    return 1;
  }
  return 0;
}
