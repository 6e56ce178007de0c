// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/busy.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <sstream>

namespace weft::tools::bench {
namespace {

constexpr double kDisturbing = 0.1;  // processors

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

double own_time() {
  double all = 0;
  for (const auto who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage usage{};
    ::getrusage(who, &usage);
    all += seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
  }
  return all;
}

}  // namespace

std::optional<ProcessorTime> read_stat(const std::string& text, double ticks_per_second) {
  std::istringstream line(text);
  std::string name;
  double user = 0, nice = 0, system = 0, idle = 0, waiting = 0, interrupts = 0, soft = 0, stolen = 0;
  if (!(line >> name >> user >> nice >> system >> idle >> waiting >> interrupts >> soft >> stolen) || name != "cpu")
    return std::nullopt;
  return ProcessorTime{.worked = (user + nice + system + interrupts + soft) / ticks_per_second,
                       .stolen = stolen / ticks_per_second};
}

std::optional<ProcessorTime> processor_time_now() {
  std::ifstream file("/proc/stat");
  std::string line;
  std::getline(file, line);
  auto time = read_stat(line, static_cast<double>(::sysconf(_SC_CLK_TCK)));
  if (!time) return time;
  time->own = own_time();
  time->at = std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  return time;
}

bool Busy::disturbing() const noexcept { return others + stolen >= kDisturbing; }

Busy busy_between(const ProcessorTime& before, const ProcessorTime& after) noexcept {
  const double seconds = after.at - before.at;
  if (seconds <= 0) return {};
  const double others = (after.worked - before.worked) - (after.own - before.own);
  return {.others = std::max(0.0, others / seconds), .stolen = std::max(0.0, (after.stolen - before.stolen) / seconds)};
}

std::string busy_text(const Busy& busy, unsigned processors, double load) {
  if (!busy.disturbing()) return {};
  char text[320];
  std::snprintf(
      text, sizeof text,
      "The machine was busy during the measurement: other processes used %.2f of %u processors, the hypervisor "
      "took %.2f (steal); the load before was %.2f. Repeat the measurement on an idle machine.",
      busy.others, processors, busy.stolen, load);
  return text;
}

}  // namespace weft::tools::bench
