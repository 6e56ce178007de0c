// SPDX-License-Identifier: Apache-2.0
#include "tests/interop/run_files.hpp"

#include <signal.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <regex>
#include <string>
#include <vector>

namespace weft::interop {
namespace {

namespace fs = std::filesystem;

struct Run {
  fs::file_time_type last_written = fs::file_time_type::min();
  std::vector<fs::path> files{};
};

std::map<pid_t, Run> find_runs(const fs::path& directory) {
  static const std::regex kName("interop-([0-9]{1,9})\\.(log|pcap|pid)");
  std::map<pid_t, Run> runs;
  std::error_code ignored;  // another process may tidy up, too
  for (const fs::directory_entry& entry : fs::directory_iterator(directory, ignored)) {
    std::smatch match;
    const std::string name = entry.path().filename().string();
    if (!std::regex_match(name, match, kName)) continue;
    Run& run = runs[std::stoi(match[1])];
    run.files.push_back(entry.path());
    const auto written = entry.last_write_time(ignored);
    if (!ignored) run.last_written = std::max(run.last_written, written);
  }
  return runs;
}

bool under_way(pid_t process) { return ::kill(process, 0) == 0 || errno == EPERM; }

}  // namespace

void remove_earlier_runs(const fs::path& directory) {
  const auto runs = find_runs(directory);
  auto latest = fs::file_time_type::min();
  for (const auto& [process, run] : runs) latest = std::max(latest, run.last_written);
  for (const auto& [process, run] : runs) {
    if (run.last_written == latest || under_way(process)) continue;
    std::error_code ignored;
    for (const fs::path& file : run.files) fs::remove(file, ignored);
  }
}

}  // namespace weft::interop
