// SPDX-License-Identifier: Apache-2.0
#include "weft/listener.hpp"

#include <utility>

#include "weft/detail/link.hpp"

namespace weft {

namespace detail {

struct Listening {
  verbs::EventChannel events;
  verbs::ConnectionId id;
};

}  // namespace detail

Listener::Listener(std::unique_ptr<detail::Listening> state) noexcept : state_(std::move(state)) {}
Listener::Listener(Listener&&) noexcept = default;
Listener& Listener::operator=(Listener&&) noexcept = default;
Listener::~Listener() = default;

Result<Listener> Listener::listen(const Endpoint& at, int backlog) { return listen(at, verbs::Policy{}, backlog); }

Result<Listener> Listener::listen(const Endpoint& at, const verbs::Policy& policy, int backlog) {
  const auto address = detail::lift(verbs::lookup(at.host, at.port), "listen");
  if (!address) return std::unexpected(address.error());
  auto events = detail::lift(verbs::EventChannel::create(), "listen");
  if (!events) return std::unexpected(events.error());
  auto id = detail::lift(verbs::ConnectionId::create(*events), "listen");
  if (!id) return std::unexpected(id.error());
  auto done = id->set_policy(policy);
  if (done) done = id->bind_address(*address);
  if (done) done = id->listen(backlog);
  if (!done) return std::unexpected(detail::to_error(done.error(), "listen"));
  return Listener(std::make_unique<detail::Listening>(std::move(*events), std::move(*id)));
}

Endpoint Listener::local() const {
  const auto local = state_->id.local_address();
  return {local.address.to_string(), local.port};
}

verbs::ConnectionId& Listener::id() noexcept { return state_->id; }

Result<Connection> Listener::next(Deadline deadline) {
  for (;;) {
    auto event = state_->events.get_event(deadline.left());
    if (event && event->request) {
      auto link = detail::Link::from(std::move(*event));
      if (!link) return std::unexpected(link.error());
      return Connection(std::move(*link));
    }
    if (event || event.error().code == Errc::kInterrupted) continue;
    if (event.error().code != Errc::kTimedOut || deadline.expired())
      return std::unexpected(detail::to_error(event.error(), "next"));
  }
}

Result<Connection> Listener::accept(Deadline deadline, std::span<const std::byte> private_data) {
  auto request = next(deadline);
  if (!request) return request;
  if (const auto done = request->establish(deadline, private_data); !done) return std::unexpected(done.error());
  return request;
}

std::optional<Result<Connection>> Listener::try_next() {
  auto request = next(Deadline::Clock::now());
  if (!request && request.error().code == Errc::kTimedOut) return std::nullopt;
  return request;
}

int Listener::event_descriptor() const noexcept { return state_->events.descriptor(); }

}  // namespace weft
