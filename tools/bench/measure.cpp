// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/measure.hpp"

#include <cstdio>

#include "tools/bench/allocations.hpp"
#include "tools/bench/follower.hpp"
#include "tools/bench/leader.hpp"
#include "tools/bench/pinning.hpp"
#include "tools/bench/report_channel.hpp"
#include "tools/cli/checks.hpp"
#include "tools/cli/child_process.hpp"
#include "tools/cli/interruption.hpp"
#include "tools/cli/standard_output.hpp"

namespace weft::tools::bench {
namespace {

// Before there is any other thread: those to come inherit it.
void settle(const Options& options, Seat seat) {
  if (options.output.count) count_allocations();
  if (options.pinned) Placement(seat).place(Waiting::kPoll);
}

ExitCode follower_process(const Options& options, int channel) {
  leave_interruptions_to_parent();
  settle(options, Seat::kFollower);
  const auto done = follow_commands(options, channel);
  if (done) return ExitCode::kSuccess;
  print_error("weft bench, second process: " + done.error().sentence);
  return done.error().code;
}

ExitCode measuring_process(const Options& options, const GlobalOptions& global, const std::string& title, int channel) {
  leave_interruptions_to_parent();
  const auto report = measure(options, global, {.title = title});
  const auto told = report ? tell_report(channel, *report) : std::unexpected(report.error());
  if (told) return ExitCode::kSuccess;
  print_error("weft bench: " + told.error().sentence);
  return told.error().code;
}

}  // namespace

Outcome<Report> measure(const Options& options, const GlobalOptions& global, const Onlooker& onlooker) {
  auto follower = ChildProcess::start([&](int channel) { return follower_process(options, channel); });
  if (!follower) return std::unexpected(follower.error());
  settle(options, Seat::kLeader);
  if (auto capturing = start_capture(global); !capturing) return std::unexpected(capturing.error());
  auto report = lead_measurement(options, onlooker, follower->channel());
  if (!report) return report;
  if (auto left = follower->wait(); !left) return std::unexpected(left.error());
  return report;
}

Outcome<Report> measure_apart(const Options& options, const GlobalOptions& global, const std::string& title) {
  auto child = ChildProcess::start([&](int channel) { return measuring_process(options, global, title, channel); });
  if (!child) return std::unexpected(child.error());
  if (auto ready = wait_readable(child->channel()); !ready) return std::unexpected(ready.error());
  auto report = hear_report(child->channel(), options);
  if (auto left = child->wait(); !left) return std::unexpected(left.error());
  return report;
}

}  // namespace weft::tools::bench
