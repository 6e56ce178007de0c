// SPDX-License-Identifier: Apache-2.0
// Contestants in turns, and what came of it: a table for people, JSON for the rest.
#pragma once

#include <string>
#include <vector>

#include "bench/uring/contest.hpp"

namespace weft::uring {

struct Contestant {
  std::string name{};
  MakeEnd make{};
  int refused = 0;  // errno: this kernel has no such ring
};

// The first contestant is the one that weft has now.
struct Group {
  std::string name{};
  bool stream = false;  // octets a second, counts per MiB; else time and counts per request
  Task task{};
  std::vector<Contestant> contestants{};
};

class Report {
 public:
  // Runs each contestant so many times, in turns, and prints medians. Ratios are medians of the turns' ratios.
  void measure(const Group& group, int repeats);
  void write(const std::string& path, int repeats) const;

 private:
  struct Row {
    std::string name{};
    int refused = 0;
    double value{}, least{}, most{};          // us or GB/s
    double time_ratio{};                      // to the first contestant; less than 1 is faster
    double cpu{}, cpu_ratio{}, both_ratio{};  // us of the measured thread, of a request or MiB
    double calls{}, sleeps{};
    double copied = -1;
  };
  struct Table {
    Group group{};
    std::vector<Row> rows{};
  };
  static Row row_of(const Group& group, const Contestant& contestant, const std::vector<Run>& runs,
                    const std::vector<Run>& first);
  static void print(const Table& table);

  std::vector<Table> tables_{};
};

}  // namespace weft::uring
