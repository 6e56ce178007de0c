// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/follower.hpp"

#include <memory>

#include "tools/bench/allocations.hpp"
#include "tools/bench/control.hpp"
#include "tools/bench/pinning.hpp"
#include "tools/bench/tcp_setup.hpp"
#include "tools/bench/weft_setup.hpp"
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

Outcome<void> serve(const Options& options, Endpoint& weft, Endpoint& tcp, int channel) {
  const Placement placement(Seat::kFollower);
  for (;;) {
    const auto command = hear<Command>(channel);
    if (!command) return std::unexpected(command.error());
    if (command->verb == Verb::kQuit) return tell(channel, LastWord{allocations()});
    placement.place(seating(options, command->transport, command->waiting));
    Endpoint& endpoint = command->transport == Transport::kWeft ? weft : tcp;
    if (auto done = carry_out(*command, endpoint, channel); !done) return done;
  }
}

}  // namespace

Outcome<void> follow_commands(const Options& options, int channel) {
  auto tcp_listener = tcp_listen_on_loopback(options.segments.emss);
  if (!tcp_listener) return std::unexpected(tcp_listener.error());
  auto weft_listener = WeftListener::open(options);
  if (!weft_listener) return std::unexpected(weft_listener.error());
  if (auto told = tell(channel, Ports{weft_listener->port(), tcp_listener->port}); !told) return told;
  auto tcp = tcp_accept_all(*tcp_listener, options);
  if (!tcp) return std::unexpected(tcp.error());
  auto weft = weft_listener->accept();
  if (!weft) return std::unexpected(weft.error());
  return serve(options, **weft, **tcp, channel);
}

}  // namespace weft::tools::bench
