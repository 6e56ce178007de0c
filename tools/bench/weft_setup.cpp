// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/weft_setup.hpp"

#include "tools/bench/weft_endpoint.hpp"

namespace weft::tools::bench {
namespace {

verbs::Policy policy_of(const Options& options) {
  verbs::Policy policy;
  policy.crc = options.crc;
  policy.markers = options.markers;
  policy.max_ulpdu = options.mtu;
  return policy;
}

LinkAttributes attributes_of(const Options& options) {
  return {.send_depth = 2 * effective_depth(options) + 64, .receive_depth = receive_depth(options)};
}

verbs::Endpoint loopback(std::uint16_t port) {
  return {.address = verbs::Address::loopback(transport::Family::kIpv4), .port = port};
}

}  // namespace

Outcome<WeftListener> WeftListener::open(const Options& options) {
  auto listener = Listener::open(loopback(0), policy_of(options));
  if (!listener) return std::unexpected(listener.error());
  return WeftListener(std::move(*listener), options);
}

Outcome<std::unique_ptr<Endpoint>> WeftListener::accept() {
  auto event = listener_.next_request();
  if (!event) return std::unexpected(event.error());
  auto link = Link::for_request(std::move(*event->request), attributes_of(options_));
  if (!link) return std::unexpected(link.error());
  WeftPort port(std::move(*link), options_);
  if (auto ready = port.set_up(); !ready) return std::unexpected(ready.error());
  if (auto known = port.learn(event->private_data); !known) return std::unexpected(known.error());
  if (auto accepted = port.link().accept({.private_data = port.description()}); !accepted) {
    return std::unexpected(accepted.error());
  }
  if (auto good = port.check_negotiated(); !good) return std::unexpected(good.error());
  return std::make_unique<WeftEndpoint>(std::move(port), options_);
}

Outcome<std::unique_ptr<Endpoint>> weft_connect(const Options& options, std::uint16_t port_number) {
  auto link = Link::towards(loopback(port_number), {}, policy_of(options), attributes_of(options));
  if (!link) return std::unexpected(link.error());
  WeftPort port(std::move(*link), options);
  if (auto ready = port.set_up(); !ready) return std::unexpected(ready.error());
  const auto answer = port.link().connect({.private_data = port.description()});
  if (!answer) return std::unexpected(answer.error());
  if (auto known = port.learn(*answer); !known) return std::unexpected(known.error());
  if (auto good = port.check_negotiated(); !good) return std::unexpected(good.error());
  return std::make_unique<WeftEndpoint>(std::move(port), options);
}

}  // namespace weft::tools::bench
