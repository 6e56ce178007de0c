// SPDX-License-Identifier: Apache-2.0
// Other stacks' own benchmarks over TCP sockets on loopback, run as users run them: which test of which tool has our
// pattern, and what its output says. Nothing here starts a process: see rival_run.hpp.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tools/bench/options.hpp"
#include "tools/cli/outcome.hpp"

namespace weft::tools::bench {

struct RivalFigure {
  double figure{};   // in the unit of the kind
  double seconds{};  // that the measurement took
};

struct RivalTest {
  std::string name{};                      // "ucx tag_lat"
  std::string program{};                   // looked for in PATH
  std::vector<std::string> environment{};  // "NAME=value", besides our own
  using Arguments = std::function<std::vector<std::string>(std::uint16_t port, std::uint64_t messages)>;
  Arguments server{};
  Arguments client{};
  std::function<Outcome<RivalFigure>(const std::string& output, std::uint64_t messages)> read{};  // the client's output
};

// Either tests, or why there are none.
struct RivalPlan {
  std::string name{};
  std::vector<RivalTest> tests{};
  std::string reason{};
};

[[nodiscard]] RivalPlan plan_ucx(const Options& options);
[[nodiscard]] RivalPlan plan_libfabric(const Options& options);

// What the client of ucx_perftest -v printed, with its log at level info: fails unless it says that it went over TCP.
[[nodiscard]] Outcome<RivalFigure> read_ucx(const Options& options, const std::string& output, std::uint64_t messages);
[[nodiscard]] Outcome<RivalFigure> read_libfabric(const std::string& output, std::uint64_t messages);

// Returns the rivals that options.against names, except raw TCP.
[[nodiscard]] std::vector<RivalPlan> plan_rivals(const Options& options);

}  // namespace weft::tools::bench
