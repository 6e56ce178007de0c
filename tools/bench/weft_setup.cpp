// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/weft_setup.hpp"

#include "tools/bench/perftest_endpoint.hpp"

namespace weft::tools::bench {
namespace {

verbs::Policy policy_of(const Options& options) {
  verbs::Policy policy;
  policy.crc = options.crc;
  policy.markers = options.markers;
  policy.max_ulpdu = options.mtu;
  policy.peer_to_peer = options.pattern == Pattern::kPerftest;  // as the drop-in libraries have it
  return policy;
}

LinkAttributes attributes_of(const Options& options) {
  return {.send_depth = 2 * effective_depth(options) + 64, .receive_depth = receive_depth(options)};
}

verbs::Endpoint loopback(std::uint16_t port) {
  return {.address = verbs::Address::loopback(transport::Family::kIpv4), .port = port};
}

Outcome<WeftPort> connect_port(const Options& options, std::uint16_t port_number) {
  auto link = Link::towards(loopback(port_number), {}, policy_of(options), attributes_of(options));
  if (!link) return std::unexpected(link.error());
  WeftPort port(std::move(*link), options);
  if (auto ready = port.set_up(); !ready) return std::unexpected(ready.error());
  const auto answer = port.link().connect({.private_data = port.description()});
  if (!answer) return std::unexpected(answer.error());
  if (auto known = port.learn(*answer); !known) return std::unexpected(known.error());
  if (auto good = port.check_negotiated(); !good) return std::unexpected(good.error());
  return port;
}

// `next` makes one connection, with the peer's next one; perftest's pattern has a second one, for words only.
template <typename Next>
Outcome<std::unique_ptr<Endpoint>> assemble(const Options& options, Next next) {
  auto port = next(options);
  if (!port) return std::unexpected(port.error());
  if (options.pattern == Pattern::kOwn) return std::make_unique<WeftEndpoint>(std::move(*port), options);
  Options words = options;
  words.size = 1;
  auto side = next(words);
  if (!side) return std::unexpected(side.error());
  return std::make_unique<PerftestEndpoint>(std::move(*port), std::move(*side), options);
}

}  // namespace

Outcome<WeftListener> WeftListener::open(const Options& options) {
  auto listener = Listener::open(loopback(0), policy_of(options));
  if (!listener) return std::unexpected(listener.error());
  return WeftListener(std::move(*listener), options);
}

Outcome<WeftPort> WeftListener::accept_port(const Options& options) {
  auto event = listener_.next_request();
  if (!event) return std::unexpected(event.error());
  auto link = Link::for_request(std::move(*event->request), attributes_of(options));
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
  return assemble(options_, [this](const Options& options) { return accept_port(options); });
}

Outcome<std::unique_ptr<Endpoint>> weft_connect(const Options& options, std::uint16_t port_number) {
  return assemble(options, [port_number](const Options& each) { return connect_port(each, port_number); });
}

}  // namespace weft::tools::bench
