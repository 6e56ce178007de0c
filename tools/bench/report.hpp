// SPDX-License-Identifier: Apache-2.0
// What `weft bench` prints.
#pragma once

#include <string>

#include "tools/bench/schedule.hpp"

namespace weft::tools::bench {

// A test of another stack's, or why there is no figure.
struct RivalSeries {
  std::string name{};
  Series series{};
  std::string reason{};
};

struct Report {
  Options options{};
  bool complete = true;  // false: ended by ^C; the series have the repetitions that were done by then
  bool pinned{};         // each polling thread has a processor of its own
  bool tcp_sleeps{};     // which way of waiting served raw TCP better
  Series weft{};
  Series tcp{};
  std::uint64_t allocations{};  // with Options::count: of both processes, from their first moment to the last message
  std::vector<RivalSeries> rivals{};
};

[[nodiscard]] std::string as_text(const Report& report);
// One object with at least the numbers "weft", "tcp" and "ratio" (weft divided by tcp; null without raw TCP), and
// "unit" and "better" to read them by.
[[nodiscard]] std::string as_json(const Report& report);

}  // namespace weft::tools::bench
