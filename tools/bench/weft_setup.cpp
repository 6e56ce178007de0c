// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/weft_setup.hpp"

#include "tools/bench/perftest_endpoint.hpp"
#include "tools/bench/policy.hpp"
#include "tools/bench/weft_calls.hpp"
#include "tools/bench/weft_crowd.hpp"

namespace weft::tools::bench {
namespace {

using Shared = std::shared_ptr<LinkResources>;

LinkAttributes attributes_of(const Options& options, const Shared& shared) {
  return {.send_depth = 2 * effective_depth(options) + 64,
          .receive_depth = receive_depth(options),
          .links = options.connections,
          .resources = shared};
}

verbs::Endpoint weft_loopback(std::uint16_t port) {
  return {.address = verbs::Address::loopback(transport::Family::kIpv4), .port = port};
}

Outcome<WeftPort> connect_port(const Options& options, std::uint16_t port_number, const Shared& shared) {
  const auto policy = policy_of(options);
  if (!policy) return std::unexpected(policy.error());
  auto link = Link::towards(weft_loopback(port_number), {}, *policy, attributes_of(options, shared));
  if (!link) return std::unexpected(link.error());
  WeftPort port(std::move(*link), options);
  if (auto ready = port.set_up(); !ready) return std::unexpected(ready.error());
  const auto answer = port.link().connect({.private_data = port.description()});
  if (!answer) return std::unexpected(answer.error());
  if (auto known = port.learn(*answer); !known) return std::unexpected(known.error());
  if (auto good = port.check_negotiated(); !good) return std::unexpected(good.error());
  return port;
}

// All share the first one's completion queue.
template <typename Next>
Outcome<std::unique_ptr<Endpoint>> assemble_crowd(const Options& options, Next next) {
  std::vector<std::unique_ptr<WeftEndpoint>> members;
  for (std::uint32_t i = 0; i < options.connections; ++i) {
    auto port = next(options, i == 0 ? nullptr : members.front()->port().link().resources());
    if (!port) return std::unexpected(port.error());
    members.push_back(std::make_unique<WeftEndpoint>(std::move(*port), options));
  }
  return std::make_unique<WeftCrowd>(std::move(members), options);
}

// `next` makes one connection, with the peer's next one; perftest's pattern has a second one, for words only.
template <typename Next>
Outcome<std::unique_ptr<Endpoint>> assemble_weft(const Options& options, Next next) {
  if (options.connections > 1) return assemble_crowd(options, next);
  auto port = next(options, nullptr);
  if (!port) return std::unexpected(port.error());
  if (options.pattern == Pattern::kOwn) return std::make_unique<WeftEndpoint>(std::move(*port), options);
  Options words = options;
  words.size = 1;
  auto side = next(words, nullptr);
  if (!side) return std::unexpected(side.error());
  return std::make_unique<PerftestEndpoint>(std::move(*port), std::move(*side), options);
}

}  // namespace

Outcome<WeftListener> WeftListener::open(const Options& options) {
  const auto policy = policy_of(options);
  if (!policy) return std::unexpected(policy.error());
  auto listener = Listener::open(weft_loopback(0), *policy);
  if (!listener) return std::unexpected(listener.error());
  return WeftListener(std::move(*listener), options);
}

Outcome<WeftPort> WeftListener::accept_port(const Options& options, const Shared& shared) {
  auto event = listener_.next_request();
  if (!event) return std::unexpected(event.error());
  auto link = Link::for_request(std::move(*event->request), attributes_of(options, shared));
  if (!link) return std::unexpected(link.error());
  WeftPort port(std::move(*link), options);
  if (auto ready = port.set_up(); !ready) return std::unexpected(ready.error());
  if (auto known = port.learn(event->private_data); !known) return std::unexpected(known.error());
  if (auto accepted = port.link().accept({.private_data = port.description()}); !accepted) {
    return std::unexpected(accepted.error());
  }
  if (auto good = port.check_negotiated(); !good) return std::unexpected(good.error());
  return port;
}

Outcome<std::unique_ptr<Endpoint>> WeftListener::accept() {
  if (options_.kind == Kind::kSetup) return std::make_unique<WeftAnswers>(std::move(listener_));
  return assemble_weft(options_,
                       [this](const Options& options, const Shared& shared) { return accept_port(options, shared); });
}

Outcome<std::unique_ptr<Endpoint>> weft_connect(const Options& options, std::uint16_t port_number) {
  if (options.kind == Kind::kSetup) return WeftCalls::create(options, weft_loopback(port_number));
  return assemble_weft(options, [port_number](const Options& each, const Shared& shared) {
    return connect_port(each, port_number, shared);
  });
}

}  // namespace weft::tools::bench
