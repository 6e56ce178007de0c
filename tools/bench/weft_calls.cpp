// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/weft_calls.hpp"

#include <chrono>

#include "tools/bench/patience.hpp"
#include "tools/bench/policy.hpp"

namespace weft::tools::bench {

Outcome<std::unique_ptr<Endpoint>> WeftCalls::create(const Options& options, const verbs::Endpoint& listener) {
  const auto policy = policy_of(options);
  if (!policy) return std::unexpected(policy.error());
  return std::make_unique<WeftCalls>(options.caller, *policy, listener);
}

// From the first call of a program that has its protection domain and completion queue.
Outcome<double> WeftCalls::call() {
  const auto begin = std::chrono::steady_clock::now();
  auto link = Link::towards(listener_, {}, policy_, {.resources = resources_});
  if (!link) return std::unexpected(link.error());
  if (auto done = link->connect({}); !done) return std::unexpected(done.error());
  const double taken = seconds_since(begin);
  resources_ = link->resources();
  if (auto closed = link->disconnect(); !closed) return std::unexpected(closed.error());
  return taken;
}

Outcome<void> WeftAnswers::answer() {
  auto event = listener_.next_request();
  if (!event) return std::unexpected(event.error());
  auto link = Link::for_request(std::move(*event->request), {.resources = resources_});
  if (!link) return std::unexpected(link.error());
  if (auto accepted = link->accept({}); !accepted) return accepted;
  resources_ = link->resources();
  return link->disconnect();  // waits for the caller to close
}

}  // namespace weft::tools::bench
