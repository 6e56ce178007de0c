// SPDX-License-Identifier: Apache-2.0
// One end of one connection, with blocking calls: enough for tools that talk to one peer per thread. Where
// interruptions are caught (tools/cli/interruption.hpp) they end the waits, with ExitCode::kInterrupted.
//
//   client   Link::towards(server)          register memory, post receives   connect()   ...   disconnect()
//   server   Link::for_request(a request)   register memory, post receives   accept()    ...   disconnect()
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "tools/link/completions.hpp"
#include "verbs/connection.hpp"

namespace weft::tools {

// What links to the same device may have in common.
struct LinkResources {
  verbs::ProtectionDomain domain;
  Completions completions;
};

struct LinkAttributes {
  std::uint32_t send_depth = 16;
  std::uint32_t receive_depth = 16;
  std::uint32_t links = 1;  // that will share the resources, if they are made: the completion queue is to hold them all
  std::shared_ptr<LinkResources> resources{};  // another link's; none: its own are made
};

class Link {
 public:
  // Resolves the way to `server`; no packet is sent yet.
  static Outcome<Link> towards(const verbs::Endpoint& server, const std::optional<verbs::Endpoint>& source,
                               const verbs::Policy& policy, const LinkAttributes& attributes);
  // Takes over a connect request of a listener.
  static Outcome<Link> for_request(verbs::ConnectionId request, const LinkAttributes& attributes);

  [[nodiscard]] verbs::ProtectionDomain& domain() noexcept { return resources_->domain; }
  [[nodiscard]] verbs::QueuePair& queue_pair() noexcept { return queue_pair_; }
  [[nodiscard]] Completions& completions() noexcept { return resources_->completions; }
  // For LinkAttributes::resources of another link to the same device.
  [[nodiscard]] const std::shared_ptr<LinkResources>& resources() const noexcept { return resources_; }
  [[nodiscard]] verbs::ConnectionId& id() noexcept { return id_; }

  // Both wait until the connection is established; connect returns the server's private data.
  Outcome<std::vector<std::byte>> connect(const verbs::ConnectionParameters& parameters);
  Outcome<void> accept(const verbs::ConnectionParameters& parameters);
  // Finishes what is posted and closes; returns when both directions are closed.
  Outcome<void> disconnect();

  Outcome<verbs::MemoryRegion> register_memory(MutableBytes memory, verbs::Access access);
  Outcome<void> post_receive(const verbs::Sge& segment, std::uint64_t wr_id = 0);
  Outcome<void> post_send(const verbs::SendRequest& request);

 private:
  Link(verbs::EventChannel events, verbs::ConnectionId id, std::shared_ptr<LinkResources> resources,
       verbs::QueuePair queue_pair);
  static Outcome<Link> assemble(verbs::EventChannel events, verbs::ConnectionId id, const LinkAttributes& attributes);

  verbs::EventChannel events_;
  verbs::ConnectionId id_;
  std::shared_ptr<LinkResources> resources_;
  verbs::QueuePair queue_pair_;  // declared last: it goes first
};

class Listener {
 public:
  static Outcome<Listener> open(const verbs::Endpoint& local, const verbs::Policy& policy);

  [[nodiscard]] verbs::Endpoint local() const { return id_.local_address(); }
  // Waits for the next client.
  Outcome<verbs::ConnectionEvent> next_request();

 private:
  Listener(verbs::EventChannel events, verbs::ConnectionId id) : events_(std::move(events)), id_(std::move(id)) {}

  verbs::EventChannel events_;
  verbs::ConnectionId id_;
};

}  // namespace weft::tools
