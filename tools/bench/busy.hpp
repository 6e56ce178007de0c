// SPDX-License-Identifier: Apache-2.0
// Whether other work disturbed a measurement: the processor time of other processes, and the time that a hypervisor
// took.
#pragma once

#include <optional>
#include <string>

namespace weft::tools::bench {

// Processor time of the whole machine since it started, and of this process with the children that it has waited for,
// in seconds of one processor.
struct ProcessorTime {
  double worked{};  // by all processes and interrupts
  double stolen{};  // by the hypervisor, for other guests
  double own{};     // user and system time
  double at{};      // seconds of the clock
};

// The first line of /proc/stat; without `own` and `at`. None where `text` does not begin with one.
[[nodiscard]] std::optional<ProcessorTime> read_stat(const std::string& text, double ticks_per_second);
// None where there is no /proc/stat.
[[nodiscard]] std::optional<ProcessorTime> processor_time_now();

// Averages between two moments, in processors: 1 is one processor all the time.
struct Busy {
  double others{};
  double stolen{};
  [[nodiscard]] bool disturbing() const noexcept;  // a tenth of a processor or more
};
[[nodiscard]] Busy busy_between(const ProcessorTime& before, const ProcessorTime& after) noexcept;

// "the machine was busy: ...", with the figures; empty where the measurement was not disturbed. `load`: of the last
// minute before it began.
[[nodiscard]] std::string busy_text(const Busy& busy, unsigned processors, double load);

}  // namespace weft::tools::bench
