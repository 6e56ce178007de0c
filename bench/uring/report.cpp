// SPDX-License-Identifier: Apache-2.0
#include "bench/uring/report.hpp"

#include <sys/utsname.h>

#include <algorithm>
#include <fstream>
#include <thread>

namespace weft::uring {
namespace {

constexpr double kMebi = 1024 * 1024;

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

template <typename Of>
std::vector<double> each(const std::vector<Run>& runs, Of of) {
  std::vector<double> values;
  std::ranges::transform(runs, std::back_inserter(values), [&](const Run& run) { return of(run); });
  return values;
}

double median_ratio(const std::vector<Run>& ours, const std::vector<Run>& first, double Meter::* what) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < ours.size(); ++i) ratios.push_back(ours[i].used.*what / first[i].used.*what);
  return median(ratios);
}

std::string processor() {
  std::ifstream lines("/proc/cpuinfo");
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  }
  return "unknown";
}

std::string date() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

void write_machine(std::FILE* out) {
  utsname system{};
  uname(&system);
  double load = 0;
  if (getloadavg(&load, 1) != 1) load = -1;
  std::fprintf(out,
               R"(  "machine": {"processor": "%s", "processors": %u, "kernel": "%s", "load": %.2f},)"
               "\n",
               processor().c_str(), std::thread::hardware_concurrency(), system.release, load);
}

}  // namespace

void Report::measure(const Group& group, int repeats) {
  std::vector<std::vector<Run>> runs(group.contestants.size());
  for (std::size_t turn = 0; turn < static_cast<std::size_t>(repeats); ++turn) {
    for (std::size_t i = 0; i < runs.size(); ++i) {
      const std::size_t at = (turn + i) % runs.size();  // nobody is always the first
      const Contestant& contestant = group.contestants[at];
      if (contestant.refused == 0) runs[at].push_back(run(group.task, contestant.make));
    }
  }
  Table table{.group = group};
  for (std::size_t i = 0; i < runs.size(); ++i) {
    table.rows.push_back(row_of(group, group.contestants[i], runs[i], runs.front()));
  }
  print(table);
  tables_.push_back(std::move(table));
}

Report::Row Report::row_of(const Group& group, const Contestant& contestant, const std::vector<Run>& runs,
                           const std::vector<Run>& first) {
  Row row{.name = contestant.name, .refused = contestant.refused};
  if (row.refused != 0) return row;
  const auto amount = static_cast<double>(group.task.measured);
  const double units = group.stream ? amount / kMebi : amount;
  const auto values = each(runs, [&](const Run& one) {
    return group.stream ? amount / one.used.seconds / 1e9 : one.used.seconds / amount * 1e6;
  });
  row.value = median(values);
  row.least = std::ranges::min(values);
  row.most = std::ranges::max(values);
  row.time_ratio = median_ratio(runs, first, &Meter::seconds);
  row.cpu = median(each(runs, [&](const Run& one) { return one.used.cpu / units * 1e6; }));
  row.cpu_ratio = median_ratio(runs, first, &Meter::cpu);
  row.both_ratio = median_ratio(runs, first, &Meter::cpu_both);
  row.calls = median(each(runs, [&](const Run& one) { return one.used.calls / units; }));
  row.sleeps = median(each(runs, [&](const Run& one) { return one.used.sleeps / units; }));
  row.copied = median(each(runs, [](const Run& one) { return one.copied; }));
  return row;
}

void Report::print(const Table& table) {
  const char* const unit = table.group.stream ? "GB/s" : "us";
  const char* const per = table.group.stream ? "MiB" : "request";
  std::printf("\n%s; processor time, system calls and sleeps of the measured thread for each %s\n",
              table.group.name.c_str(), per);
  std::printf("%-52s %8s %17s %7s %8s %7s %7s %8s %7s %7s\n", "", unit, "least..most", "time x", "cpu us", "cpu x",
              "both x", "calls", "sleeps", "copied");
  for (const Row& row : table.rows) {
    if (row.refused != 0) {
      std::printf("%-52s refused by this kernel: %s\n", row.name.c_str(), std::strerror(row.refused));
      continue;
    }
    std::printf("%-52s %8.2f %8.2f %8.2f %7.2f %8.2f %7.2f %7.2f %8.2f %7.2f", row.name.c_str(), row.value, row.least,
                row.most, row.time_ratio, row.cpu, row.cpu_ratio, row.both_ratio, row.calls, row.sleeps);
    if (row.copied >= 0) std::printf(" %5.0f %%", row.copied * 100);
    std::printf("\n");
  }
  std::fflush(stdout);
}

void Report::write(const std::string& path, int repeats) const {
  std::FILE* out = std::fopen(path.c_str(), "w");
  need(out != nullptr, path.c_str());
  std::fprintf(out, "{\n  \"program\": \"bench/uring\",\n  \"date\": \"%s\",\n", date().c_str());
  write_machine(out);
  std::fprintf(out, "  \"repeats\": %d,\n  \"rows\": [", repeats);
  const char* comma = "\n";
  for (const Table& table : tables_) {
    for (const Row& row : table.rows) {
      std::fprintf(out, R"(%s    {"group": "%s", "name": "%s", )", comma, table.group.name.c_str(), row.name.c_str());
      comma = ",\n";
      if (row.refused != 0) {
        std::fprintf(out, R"("refused": "%s"})", std::strerror(row.refused));
        continue;
      }
      std::fprintf(out,
                   R"("unit": "%s", "per": "%s", "median": %.4g, "least": %.4g, "most": %.4g, "time_ratio": %.3f, )",
                   table.group.stream ? "GB/s" : "us", table.group.stream ? "MiB" : "request", row.value, row.least,
                   row.most, row.time_ratio);
      std::fprintf(out, R"("cpu_us": %.4g, "cpu_ratio": %.3f, "cpu_both_ratio": %.3f, "calls": %.4g, "sleeps": %.3f)",
                   row.cpu, row.cpu_ratio, row.both_ratio, row.calls, row.sleeps);
      if (row.copied >= 0) std::fprintf(out, R"(, "copied": %.3f)", row.copied);
      std::fprintf(out, "}");
    }
  }
  std::fprintf(out, "\n  ]\n}\n");
  std::fclose(out);
}

}  // namespace weft::uring
