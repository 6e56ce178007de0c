// SPDX-License-Identifier: Apache-2.0
#include "tools/link/link.hpp"

#include <string>
#include <utility>

#include "tools/cli/interruption.hpp"

namespace weft::tools {
namespace {

using verbs::ConnectionEventType;

// An event other than the one hoped for, as a sentence.
Failure unexpected_event(std::string_view doing, const verbs::ConnectionEvent& event) {
  std::string sentence = std::string(doing) + ": ";
  sentence += event.error ? event.error->message() : "unexpected event " + std::string(to_string(event.type));
  return Failure{sentence + "."};
}

Outcome<verbs::ConnectionEvent> wait_on(verbs::EventChannel& events, ConnectionEventType type, std::string_view doing,
                                        std::chrono::milliseconds grace = std::chrono::milliseconds(0)) {
  for (;;) {
    if (interruptions_are_caught()) {
      if (auto ready = wait_readable(events.descriptor(), grace); !ready) return std::unexpected(ready.error());
    }
    auto event = events.get_event();
    if (!event && event.error().code == verbs::Errc::kInterrupted) continue;
    if (!event) return std::unexpected(to_failure(doing, event.error()));
    if (event->type != type) return std::unexpected(unexpected_event(doing, *event));
    return std::move(*event);
  }
}

Outcome<std::shared_ptr<LinkResources>> resources_for(const verbs::ConnectionId& id, const LinkAttributes& attributes) {
  if (attributes.resources) return attributes.resources;
  auto device = id.device();
  if (!device) return std::unexpected(to_failure("device", device.error()));
  auto domain = device->allocate_protection_domain();
  if (!domain) return std::unexpected(to_failure("protection domain", domain.error()));
  const std::uint32_t capacity = attributes.links * (attributes.send_depth + attributes.receive_depth);
  auto completions = Completions::create(*device, capacity);
  if (!completions) return std::unexpected(completions.error());
  return std::make_shared<LinkResources>(std::move(*domain), std::move(*completions));
}

}  // namespace

Link::Link(verbs::EventChannel events, verbs::ConnectionId id, std::shared_ptr<LinkResources> resources,
           verbs::QueuePair queue_pair)
    : events_(std::move(events)),
      id_(std::move(id)),
      resources_(std::move(resources)),
      queue_pair_(std::move(queue_pair)) {}

Outcome<Link> Link::assemble(verbs::EventChannel events, verbs::ConnectionId id, const LinkAttributes& attributes) {
  auto resources = resources_for(id, attributes);
  if (!resources) return std::unexpected(resources.error());
  LinkResources& shared = **resources;
  auto queue_pair = shared.domain.create_queue_pair({.send_cq = &shared.completions.queue(),
                                                     .receive_cq = &shared.completions.queue(),
                                                     .max_send_wr = attributes.send_depth,
                                                     .max_receive_wr = attributes.receive_depth,
                                                     .max_send_sge = 1,
                                                     .max_receive_sge = 1});
  if (!queue_pair) return std::unexpected(to_failure("queue pair", queue_pair.error()));
  if (auto init = queue_pair->modify(verbs::QpState::kInit); !init) {  // receives may be posted from INIT on
    return std::unexpected(to_failure("queue pair", init.error()));
  }
  return Link(std::move(events), std::move(id), std::move(*resources), std::move(*queue_pair));
}

Outcome<Link> Link::towards(const verbs::Endpoint& server, const std::optional<verbs::Endpoint>& source,
                            const verbs::Policy& policy, const LinkAttributes& attributes) {
  auto events = verbs::EventChannel::create();
  if (!events) return std::unexpected(to_failure("event channel", events.error()));
  auto id = verbs::ConnectionId::create(*events);
  if (!id) return std::unexpected(to_failure("connection", id.error()));
  if (auto set = id->set_policy(policy); !set) return std::unexpected(to_failure("policy", set.error()));
  const std::string to = "address " + server.to_string();
  if (auto asked = id->resolve_address(server, source); !asked) return std::unexpected(to_failure(to, asked.error()));
  if (auto event = wait_on(*events, ConnectionEventType::kAddressResolved, to); !event) {
    return std::unexpected(event.error());
  }
  if (auto asked = id->resolve_route(); !asked) return std::unexpected(to_failure("route", asked.error()));
  if (auto event = wait_on(*events, ConnectionEventType::kRouteResolved, "route"); !event) {
    return std::unexpected(event.error());
  }
  return assemble(std::move(*events), std::move(*id), attributes);
}

Outcome<Link> Link::for_request(verbs::ConnectionId request, const LinkAttributes& attributes) {
  auto events = verbs::EventChannel::create();
  if (!events) return std::unexpected(to_failure("event channel", events.error()));
  if (auto moved = request.migrate(*events); !moved) return std::unexpected(to_failure("migrate", moved.error()));
  return assemble(std::move(*events), std::move(request), attributes);
}

Outcome<std::vector<std::byte>> Link::connect(const verbs::ConnectionParameters& parameters) {
  if (auto asked = id_.connect(queue_pair_, parameters); !asked) {
    return std::unexpected(to_failure("connect", asked.error()));
  }
  auto event = wait_on(events_, ConnectionEventType::kEstablished, "connect to " + id_.remote_address().to_string());
  if (!event) return std::unexpected(event.error());
  return std::move(event->private_data);
}

Outcome<void> Link::accept(const verbs::ConnectionParameters& parameters) {
  if (auto asked = id_.accept(queue_pair_, parameters); !asked) {
    return std::unexpected(to_failure("accept", asked.error()));
  }
  auto event = wait_on(events_, ConnectionEventType::kEstablished, "accept");
  if (!event) return std::unexpected(event.error());
  return {};
}

Outcome<void> Link::disconnect() {
  if (auto asked = id_.disconnect(); !asked) return std::unexpected(to_failure("disconnect", asked.error()));
  auto event = wait_on(events_, ConnectionEventType::kDisconnected, "disconnect", kGrace);
  if (!event) return std::unexpected(event.error());
  return {};
}

Outcome<verbs::MemoryRegion> Link::register_memory(MutableBytes memory, verbs::Access access) {
  auto region = domain().register_memory(memory.data(), memory.size(), access);
  if (!region) return std::unexpected(to_failure("register memory", region.error()));
  return std::move(*region);
}

Outcome<void> Link::post_receive(const verbs::Sge& segment, std::uint64_t wr_id) {
  const auto posted = queue_pair_.post_receive(verbs::ReceiveRequest{.wr_id = wr_id, .segments = {&segment, 1}});
  if (!posted) return std::unexpected(to_failure("post a receive", posted.error()));
  return {};
}

Outcome<void> Link::post_send(const verbs::SendRequest& request) {
  const auto posted = queue_pair_.post_send(request);
  if (!posted) return std::unexpected(to_failure("post a work request", posted.error()));
  return {};
}

Outcome<Listener> Listener::open(const verbs::Endpoint& local, const verbs::Policy& policy) {
  auto events = verbs::EventChannel::create();
  if (!events) return std::unexpected(to_failure("event channel", events.error()));
  auto id = verbs::ConnectionId::create(*events);
  if (!id) return std::unexpected(to_failure("listener", id.error()));
  if (auto set = id->set_policy(policy); !set) return std::unexpected(to_failure("policy", set.error()));
  const std::string at = "listen on " + local.to_string();
  if (auto bound = id->bind_address(local); !bound) return std::unexpected(to_failure(at, bound.error()));
  if (auto listening = id->listen(); !listening) return std::unexpected(to_failure(at, listening.error()));
  return Listener(std::move(*events), std::move(*id));
}

Outcome<verbs::ConnectionEvent> Listener::next_request() {
  return wait_on(events_, ConnectionEventType::kConnectRequest, "listener");
}

}  // namespace weft::tools
