// SPDX-License-Identifier: Apache-2.0
// The passive side: a listener, its backlog, and what becomes of a TCP connection until the application has its
// request.
#include <algorithm>
#include <utility>

#include "verbs/detail/connection_state.hpp"
#include "verbs/detail/log.hpp"

namespace weft::verbs::detail {

Result<void> ConnectionState::listen(int backlog) {
  if (backlog <= 0) return fail(Errc::kInvalidArgument, "backlog", "not positive");
  if (const auto left = leave(Phase::kBound, Phase::kListening, "not bound to an address"); !left) return left;
  auto& reactor = runtime_.reactor();
  transport::ListenOptions options{.backlog = std::max(backlog, ConnectionId::kKernelBacklog)};
  transport::BoundSocket at;
  {
    const std::lock_guard lock(mutex_);
    at = std::move(reserved_);
    const auto places = std::make_shared<Backlog>(backlog, weak_from_this());
    places->channel = channel_;
    listening_ = std::make_unique<Listening>(nullptr, places);
    options.has_room = [places, id = number] {
      if (places->has_room()) return true;
      log_connection(LogLevel::kInfo, id, "its backlog is full: further clients wait");
      return false;
    };
    options.socket = socket_options();
  }
  const Endpoint local = at.local();
  auto listener =
      transport::Listener::create(reactor, runtime_.progress(number), at, options,
                                  [weak = weak_from_this()](std::expected<transport::Socket, std::error_code> socket) {
                                    if (const auto self = weak.lock()) self->on_accept(std::move(socket));
                                  });
  if (!listener) {
    const std::lock_guard lock(mutex_);
    reserved_ = std::move(at);
    if (phase_ == Phase::kListening) phase_ = Phase::kBound;
    const bool in_use = listener.error() == std::errc::address_in_use;
    return fail(in_use ? Errc::kAddressInUse : Errc::kSystem, "connection", "cannot listen at its address",
                listener.error().value());
  }
  log_connection(LogLevel::kInfo, number,
                 "listening on " + local.to_string() + " with a backlog of " + std::to_string(backlog));
  auto shared = std::make_shared<transport::Listener>(std::move(*listener));
  runtime_.add(number, shared);
  const std::lock_guard lock(mutex_);
  listening_->listener = std::move(shared);
  listening_->listener->resume();  // a place that became free before this
  return {};
}

// Peers that have not sent their request, and requests that the application has not taken, are bounded by the backlog:
// else peers that ask and go, again and again, would fill our memory (RFC 5042 section 6.4). What comes beyond stays in
// the kernel's queue: its TCP connects, and its request waits in the socket.
bool ConnectionState::Backlog::has_room() {
  if (waiting < limit) return true;
  awaited = true;
  return waiting < limit && awaited.exchange(false);  // else who left just now has seen it, and wakes the listener
}

void ConnectionState::resume_listening() {
  const std::lock_guard lock(mutex_);
  if (listening_ && listening_->listener) listening_->listener->resume();
}

void ConnectionState::on_accept(std::expected<transport::Socket, std::error_code> socket) {
  if (!socket) return log_warning("listener", "cannot accept a connection: out of descriptors");
  std::shared_ptr<Backlog> backlog;
  std::shared_ptr<EventChannelState> channel;
  {
    const std::lock_guard lock(mutex_);
    if (listening_) backlog = listening_->backlog;
    channel = channel_;
  }
  if (!channel || !backlog) {
    log_connection(LogLevel::kInfo, number, "a client is reset: the listener closes");
    return socket->reset();
  }
  ++backlog->waiting;
  const auto child = std::make_shared<ConnectionState>(runtime_, std::move(channel), context_);
  child->place_ = std::move(backlog);
  child->begin_incoming(*this, std::move(*socket));
}

void ConnectionState::begin_incoming(const ConnectionState& listener, transport::Socket socket) {
  phase_ = Phase::kIncoming;
  listener_number_ = listener.number;
  {
    const std::lock_guard lock(listener.mutex_);
    policy_ = listener.policy_;
  }
  if (const auto end = socket.local()) local_ = *end;
  if (const auto end = socket.peer()) remote_ = *end;
  mark(socket);
  log_connection(LogLevel::kInfo, number,
                 [this] { return "comes from connection " + std::to_string(listener_number_) + ", which listens"; });
  stream_ = Stream::make(runtime_, {.socket = std::move(socket),
                                    .peer = remote_,
                                    .role = mpa::Role::kResponder,
                                    .policy = *policy_,
                                    .ird = static_cast<std::uint16_t>(Device::limits().max_ird),
                                    .ord = static_cast<std::uint16_t>(Device::limits().max_ord),
                                    .send_depth = Device::limits().max_qp_wr,
                                    .observer = shared_from_this(),
                                    .connection = number,
                                    .listener = listener_number_});
  // The Request may be here already, and is not looked for: one that came earlier may still have to be read.
  std::shared_ptr(stream_)->start();
}

void ConnectionState::on_requested(engine::ConnectionRequested request) {
  std::shared_ptr<Backlog> backlog;
  {
    const std::lock_guard lock(mutex_);
    if (phase_ != Phase::kIncoming) return;
    phase_ = Phase::kRequested;
    backlog = place_;
    lacks_rtr_ = request.peer_to_peer && !policy_->rtr.any();
  }
  Offer offer(shared_from_this());
  ConnectionEvent event{.type = ConnectionEventType::kConnectRequest,
                        .id = listener_number_,
                        .context = context_,
                        .private_data = std::move(request.private_data),
                        .ird = request.peer_ord ? *request.peer_ord : Device::limits().max_ird,
                        .ord = request.peer_ird ? *request.peer_ird : Device::limits().max_ord};
  const std::lock_guard lock(backlog->mutex);
  if (!backlog->channel) return refuse_later(std::move(offer));
  backlog->channel->post({std::move(event), std::move(offer)});
}

// The listener is gone. Not now: the stream's lock is held.
void ConnectionState::refuse_later(Offer offer) {
  runtime_.reactor().post([dropped = std::move(offer)] {});
}

void ConnectionState::leave_backlog() {
  std::shared_ptr<Backlog> backlog;
  {
    const std::lock_guard lock(mutex_);
    backlog = std::exchange(place_, nullptr);
  }
  if (!backlog) return;
  --backlog->waiting;
  if (!backlog->awaited.exchange(false)) return;
  runtime_.reactor().post([weak = backlog->listener] {
    if (const auto self = weak.lock()) self->resume_listening();
  });
}

}  // namespace weft::verbs::detail
