// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/perftest_endpoint.hpp"

#include <chrono>

namespace weft::tools::bench {

Outcome<RunResult> PerftestEndpoint::lead(std::uint64_t messages) {
  if (options().kind == Kind::kLatency) return WeftEndpoint::lead(messages);
  const auto begin = std::chrono::steady_clock::now();
  if (auto posted = post_stream(messages); !posted) return std::unexpected(posted.error());
  if (auto done = await_completions(); !done) return std::unexpected(done.error());
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
  if (auto told = side_.send_word(); !told) return std::unexpected(told.error());
  if (auto over = say_and_hear(); !over) return std::unexpected(over.error());  // the next run finds empty sockets
  return RunResult{.seconds = taken.count()};
}

Outcome<void> PerftestEndpoint::follow(std::uint64_t messages) {
  if (options().kind == Kind::kLatency) return WeftEndpoint::follow(messages);
  if (auto told = side_.await_receive(); !told) return told;
  return hear_and_say();
}

Outcome<void> PerftestEndpoint::post_message() {
  if (auto posted = port().post_messages(1, true); !posted) return posted;
  return await_completions();
}

Outcome<void> PerftestEndpoint::await_completions() {
  return port().poll_until([this] { return port().outstanding() == 0; });
}

Outcome<void> PerftestEndpoint::await_write() {
  begin_round();
  return port().spin_until([this] { return round_came(); });
}

}  // namespace weft::tools::bench
