// SPDX-License-Identifier: Apache-2.0
#include "compat/direct/numbers.hpp"

#include <algorithm>
#include <utility>

#include "compat/objects/settings.hpp"
#include "verbs/error.hpp"

namespace weft::compat::direct {

namespace {

constexpr int kBacklog = 256;
// Below it, a number would be one that weft assigns to queue pairs without a port.
constexpr std::uint16_t kLowestPort = verbs::QueuePairAttributes::kHighestAssignedNumber / 256 + 1;

}  // namespace

verbs::Result<std::uint32_t> Numbers::take(const verbs::EventChannel& channel, const verbs::Address& local) {
  auto found = std::ranges::find_if(ports_, [&](const auto& port) {  //
    return port.second.local == local && !port.second.taken.all();
  });
  if (found == ports_.end()) {
    const auto reserved = reserve(channel, local);
    if (!reserved) return std::unexpected(reserved.error());
    found = ports_.find(*reserved);
  }
  Port& port = found->second;
  while (port.taken[port.next]) ++port.next;
  port.taken.set(port.next);
  return number_of(found->first, port.next++);
}

Numbers::Ports Numbers::release() noexcept { return std::exchange(ports_, {}); }

// Its port stays open, for a peer may still try to reach it, and hears a reason then.
void Numbers::give_back(std::uint32_t number) noexcept {
  const auto found = ports_.find(port_of(number));
  if (found != ports_.end()) found->second.taken.reset(index_of(number));
}

verbs::Result<void> Numbers::listen(std::uint32_t number, const verbs::Policy& policy) {
  const auto found = ports_.find(port_of(number));
  if (found == ports_.end()) return verbs::fail(verbs::Errc::kInvalidState, "qp_num", "has no port");
  Port& port = found->second;
  if (port.listens) return {};
  if (const auto set = port.listener.set_policy(policy); !set) return set;
  const auto done = port.listener.listen(kBacklog);
  port.listens = done.has_value();
  return done;
}

verbs::Result<std::uint16_t> Numbers::reserve(const verbs::EventChannel& channel, const verbs::Address& local) {
  const auto open = [&](std::uint16_t port) -> verbs::Result<std::uint16_t> {
    if (ports_.contains(port)) return verbs::fail(verbs::Errc::kAddressInUse, "ports", "has queue pairs already");
    return bind(channel, {.address = local, .port = port});
  };
  return at_free_port(range_, "all TCP ports of WEFT_PORTS are in use", open);
}

verbs::Result<std::uint16_t> Numbers::bind(const verbs::EventChannel& channel, const verbs::Endpoint& local) {
  auto listener = verbs::ConnectionId::create(channel);
  if (!listener) return std::unexpected(listener.error());
  if (const auto bound = listener->bind_address(local); !bound) return std::unexpected(bound.error());
  const std::uint16_t port = listener->local_address().port;
  if (port < kLowestPort) return verbs::fail(verbs::Errc::kNoResources, "ports", "the TCP port is below 1024");
  Port& made = ports_.emplace(port, Port{.listener = std::move(*listener), .local = local.address}).first->second;
  made.taken.set(
      index_of(verbs::DatagramQueuePair::number_at(port)));  // of a queue pair for datagrams at the same UDP port
  return port;
}

}  // namespace weft::compat::direct
