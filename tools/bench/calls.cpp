// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/calls.hpp"

#include <chrono>
#include <cstdio>

#include "tools/bench/patience.hpp"
#include "tools/cli/child_process.hpp"
#include "tools/cli/interruption.hpp"
#include "tools/cli/standard_output.hpp"

namespace weft::tools::bench {

Outcome<void> Calls::prepare(Waiting) { return {}; }

Outcome<RunResult> Calls::lead(std::uint64_t messages) {
  RunResult result;
  result.latency_us.reserve(messages);
  const auto begin = std::chrono::steady_clock::now();
  for (std::uint64_t i = 0; i < messages; ++i) {
    const auto taken = is_fresh() ? call_from_new_process() : call();
    if (!taken) return std::unexpected(taken.error());
    result.latency_us.push_back(*taken * 1e6);
  }
  result.seconds = seconds_since(begin);
  return result;
}

// A thread that waits for ^C may live beside this one: it holds nothing that the child needs.
Outcome<double> Calls::call_from_new_process() {
  auto child = ChildProcess::start([this](int channel) {
    leave_interruptions_to_parent();
    const auto taken = call();
    if (taken && tell(channel, *taken)) return ExitCode::kSuccess;
    if (!taken) print_error("weft bench, new process: " + taken.error().sentence);
    return ExitCode::kFailure;
  });
  if (!child) return std::unexpected(child.error());
  const auto taken = hear<double>(child->channel());
  if (auto left = child->wait(); !left) return std::unexpected(left.error());
  return taken;
}

Outcome<void> Calls::follow(std::uint64_t messages) {
  for (std::uint64_t i = 0; i < messages; ++i) {
    if (auto done = answer(); !done) return done;
  }
  return {};
}

// There is no content to compare: that it can be set up is what is checked.
Outcome<void> Calls::lead_check(std::uint8_t) {
  const auto done = lead(1);
  return done ? Outcome<void>() : std::unexpected(done.error());
}

Outcome<void> Calls::follow_check(std::uint8_t) { return follow(1); }

}  // namespace weft::tools::bench
