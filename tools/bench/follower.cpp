// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/follower.hpp"

#include "tools/bench/allocations.hpp"
#include "tools/bench/control.hpp"
#include "tools/bench/ends.hpp"
#include "tools/bench/pinning.hpp"
#include "tools/cli/child_process.hpp"

namespace weft::tools::bench {
namespace {

Outcome<void> carry_out(const Command& command, Endpoint& endpoint, int channel) {
  const std::uint64_t messages = command.verb == Verb::kRun ? command.messages : 1;
  if (auto done = endpoint.prepare(command.waiting); !done) return done;
  if (auto told = tell(channel, Answer::kReady); !told) return told;
  const auto done = command.verb == Verb::kRun ? endpoint.follow(messages) : endpoint.follow_check(command.seed);
  if (!done) return done;
  return tell(channel, Answer::kDone);
}

Outcome<void> serve(const Options& options, Ends& ends, int channel) {
  const Placement placement(Seat::kFollower);
  for (;;) {
    const auto command = hear<Command>(channel);
    if (!command) return std::unexpected(command.error());
    if (command->verb == Verb::kQuit) return tell(channel, LastWord{allocations()});
    placement.place(seating(options, command->transport, command->waiting));
    if (auto done = carry_out(*command, ends.of(command->transport), channel); !done) return done;
  }
}

}  // namespace

Outcome<void> follow_commands(const Options& options, int channel) {
  auto listeners = Listeners::open(options);
  if (!listeners) return std::unexpected(listeners.error());
  if (auto told = tell(channel, listeners->ports()); !told) return told;
  auto ends = listeners->accept_all();
  if (!ends) return std::unexpected(ends.error());
  return serve(options, *ends, channel);
}

}  // namespace weft::tools::bench
