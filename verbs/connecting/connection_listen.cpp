// SPDX-License-Identifier: Apache-2.0
// The passive side: a listener, its backlog, and what becomes of a TCP connection until the application has its
// request.
#include <malloc.h>

#include <algorithm>
#include <new>
#include <utility>

#include "verbs/connecting/connection_state.hpp"
#include "verbs/log/log.hpp"
#include "verbs/objects/tls_setup.hpp"

namespace weft::verbs::detail {

namespace {

void tell_dropped(Backlog& backlog, std::uint64_t listener, std::size_t count) {
  const auto line = backlog.dropped(count, now());
  if (line) log_warning("listener " + std::to_string(listener), *line);
}

void tell_refused(Admission& admission, std::uint64_t listener) {
  const auto line = admission.line(now());
  if (line) log_warning("listener " + std::to_string(listener), *line);
}

}  // namespace

// Makes the place for requests, and takes the socket that bind() has reserved.
transport::ListenOptions ConnectionState::begin_listening(int backlog, transport::BoundSocket& at) {
  const std::lock_guard lock(mutex_);
  at = addresses_.take_reserved();
  const auto half_open = HalfOpen::limits_of(backlog, policy_->admission.half_open_per_peer, policy_->timeouts.startup,
                                             policy_->tls.mode != Tls::kOff);
  auto admission = std::make_shared<Admission>(Admission::limits_of(*policy_));
  const auto places = std::make_shared<Backlog>(backlog, half_open, std::move(admission), weak_from_this(), channel_);
  listening_ = std::make_unique<Listening>(nullptr, places);
  transport::ListenOptions options{.backlog = std::max(backlog, ConnectionId::kKernelBacklog)};
  options.room = [places, id = number] {
    const int room = places->room();
    if (room == 0) log_connection(LogLevel::kInfo, id, "its backlog is full: new connections wait in the kernel");
    return room;
  };
  options.make_room = [weak = weak_from_this()] {
    const auto self = weak.lock();
    return self && self->drop_oldest();
  };
  options.socket = socket_options();
  return options;
}

Result<void> ConnectionState::listen(int backlog) {
  if (backlog <= 0) return fail(Errc::kInvalidArgument, "backlog", "not positive");
  if (const auto able = can_listen(policy()); !able) return able;
  if (const auto left = leave(Phase::kBound, Phase::kListening, "not bound to an address"); !left) return left;
  transport::BoundSocket at;
  const auto options = begin_listening(backlog, at);
  const Endpoint local = at.local();
  const auto undo = [&] {
    const std::lock_guard lock(mutex_);
    addresses_.give_back(std::move(at));
    listening_.reset();
    if (phase_ == Phase::kListening) phase_ = Phase::kBound;
  };
  // The system listens before there are threads: they take longer to start than a peer that knows the port to connect.
  auto listener =
      transport::Listener::create(runtime_.resting_reactor(), runtime_.progress_threads().of(number), at, options,
                                  [weak = weak_from_this()](std::expected<transport::Socket, std::error_code> socket) {
                                    if (const auto self = weak.lock()) self->on_accept(std::move(socket));
                                  });
  if (!listener) {
    undo();
    const bool in_use = listener.error() == std::errc::address_in_use;
    return fail(in_use ? Errc::kAddressInUse : Errc::kSystem, "connection", "cannot listen at its address",
                listener.error().value());
  }
  log_connection(LogLevel::kInfo, number,
                 "listening on " + local.to_string() + " with a backlog of " + std::to_string(backlog));
  listen_for_offers(options.backlog, listener->takes_ipv4());
  if (const auto started = runtime_.start(); !started) {
    if (const auto offers = this->offers()) offers->close();
    listener = std::unexpected(std::error_code());  // closes it, so that the port can be reserved again
    if (auto bound = transport::BoundSocket::bind(local)) at = std::move(*bound);
    return undo(), started;
  }
  auto shared = std::make_shared<transport::Listener>(std::move(*listener));
  runtime_.add(number, shared);
  const std::lock_guard lock(mutex_);
  listening_->listener = std::move(shared);
  listening_->listener->resume();  // a place that became free before this
  return {};
}

std::shared_ptr<Backlog> ConnectionState::backlog() const {
  const std::lock_guard lock(mutex_);
  return listening_ ? listening_->backlog : nullptr;
}

Result<ListenCounts> ConnectionState::listen_counts() const {
  const auto backlog = this->backlog();
  if (!backlog) return fail(Errc::kInvalidState, "connection", "does not listen");
  return backlog->counts();
}

Result<void> ConnectionState::hold_requests(bool on) {
  const auto backlog = this->backlog();
  if (!backlog) return fail(Errc::kInvalidState, "connection", "does not listen");
  backlog->hold_requests(on);
  if (!on) resume_listening();
  return {};
}

void ConnectionState::resume_listening() {
  const std::lock_guard lock(mutex_);
  if (listening_ && listening_->listener) listening_->listener->resume();
}

void ConnectionState::on_accept(std::expected<transport::Socket, std::error_code> socket) {
  const auto backlog = this->backlog();
  if (!socket) {
    if (backlog && backlog->tell_failure(now())) {
      log_warning("listener " + std::to_string(number),
                  "cannot accept a connection, tries again ten times a second: " + socket.error().message());
    }
    return;
  }
  std::shared_ptr<EventChannelState> channel;
  {
    const std::lock_guard lock(mutex_);
    channel = channel_;
  }
  if (!channel || !backlog) {
    log_connection(LogLevel::kInfo, number, "a client is reset: the listener closes");
    return socket->reset();
  }
  const auto peer = socket->peer();
  if (!lets_in(*backlog->admission, peer)) {
    const auto local = socket->local();
    if (const auto offers = this->offers(); offers && peer && local) offers->refuse({*peer, local->address});
    return socket->reset();
  }
  const auto child = std::make_shared<ConnectionState>(runtime_, std::move(channel), context_);
  child->incoming_.place = backlog;
  try {
    child->begin_incoming(*this, std::move(*socket), peer.value_or(Endpoint{}));
  } catch (const std::bad_alloc&) {  // costs this connection, and no more
    if (child->stream_) std::exchange(child->stream_, nullptr)->abandon();
    child->leave_backlog();
    throw;
  }
  if (const auto offers = this->offers()) offers->look();
}

void ConnectionState::begin_incoming(const ConnectionState& listener, transport::Socket socket, const Endpoint& peer) {
  phase_ = Phase::kIncoming;
  incoming_.listener = listener.number;
  {
    const std::lock_guard lock(listener.mutex_);
    policy_ = listener.policy_;
  }
  if (const auto end = socket.local()) addresses_.set_local(*end);
  addresses_.set_remote(peer);
  mark(socket);
  log_connection(LogLevel::kInfo, number,
                 [this] { return "comes from connection " + std::to_string(incoming_.listener) + ", which listens"; });
  auto tls = begin_tls(*policy_, mpa::Role::kResponder);
  if (!tls) {
    log_warning("listener " + std::to_string(listener.number), "a client is reset: " + tls.error().message());
    return socket.reset();
  }
  const auto stream = Stream::make(runtime_, {.socket = std::move(socket),
                                              .tls = std::move(*tls),
                                              .link = {.role = mpa::Role::kResponder,
                                                       .policy = *policy_,
                                                       .ird = static_cast<std::uint16_t>(Device::limits().max_ird),
                                                       .ord = static_cast<std::uint16_t>(Device::limits().max_ord),
                                                       .send_depth = Device::limits().max_qp_wr + 1,
                                                       .peer = addresses_.remote(),
                                                       .observer = shared_from_this(),
                                                       .connection = number},
                                              .listener = incoming_.listener});
  stream_ = stream;
  const auto place = incoming_.place;
  // From here on an offer finds it.
  const auto others = place->enter({number, weak_from_this(), peer.address, now(), path()});
  make_room(*place, others);
  // The Request may be here already, and is not looked for: one that came earlier may still have to be read.
  stream->start();
}

// --- Which connections come in

// Asked before an octet is read.
bool ConnectionState::lets_in(Admission& admission, const std::expected<Endpoint, std::error_code>& peer) const {
  if (!admission.refuses(peer ? std::optional(peer->address) : std::nullopt, now())) return true;
  tell_refused(admission, number);
  return false;
}

// For a Request that has come. It was let in when there were fewer.
bool ConnectionState::take_seat(const std::shared_ptr<Admission>& at) {
  auto seat = Admission::take_seat(at, addresses_.remote().address);
  const bool taken = seat.has_value();
  if (!taken) tell_refused(*at, incoming_.listener);
  const std::lock_guard lock(mutex_);
  incoming_.asked = taken;
  if (taken) incoming_.seat = std::move(*seat);
  return taken;
}

// --- Connections without a Request yet

void ConnectionState::make_room(Backlog& place, const std::vector<HalfOpen::Entry>& others) {
  std::size_t dropped = 0;
  for (const auto& other : others) {
    const auto connection = other.connection.lock();
    if (connection && connection->make_way()) ++dropped;
  }
  if (dropped != 0) tell_dropped(place, incoming_.listener, dropped);
}

// Null if it was read, or the connection has ended.
std::shared_ptr<Stream> ConnectionState::look_for_request() {
  std::shared_ptr<Stream> stream;
  {
    const std::lock_guard lock(mutex_);
    stream = stream_;
  }
  if (stream) stream->drive(false);
  return is_incoming() ? stream : nullptr;
}

// True when it had to go. Its Request may lie unread in the socket: a peer that has asked stays.
bool ConnectionState::make_way() {
  const auto stream = look_for_request();
  if (!stream) return false;
  log_connection(LogLevel::kInfo, number,
                 "reset: no MPA Request yet, and the limit of half-open connections is reached");
  refuse_offer();
  stream->abort();
  return true;
}

// The listener's, when there are no descriptors left.
bool ConnectionState::drop_oldest() {
  const auto backlog = this->backlog();
  while (const auto oldest = backlog ? backlog->take_oldest() : std::nullopt) {
    const auto connection = oldest->connection.lock();
    if (!connection || !connection->make_way()) continue;
    tell_dropped(*backlog, number, 1);
    return true;
  }
  return false;
}

// --- Requests

void ConnectionState::on_requested(engine::ConnectionRequested request) {
  std::shared_ptr<Backlog> backlog;
  {
    const std::lock_guard lock(mutex_);
    if (phase_ != Phase::kIncoming) return;
    phase_ = Phase::kRequested;
    backlog = incoming_.place;
    incoming_.lacks_rtr = request.peer_to_peer && !policy_->startup.rtr.any();
  }
  const bool goes_by = policy_->startup.same_host != SameHost::kRequire || incoming_.shared;
  if (!goes_by) log_connection(LogLevel::kInfo, number, "rejected: not through shared memory (same-host=require)");
  const bool seated = goes_by && take_seat(backlog->admission);
  ConnectionEvent event{.type = ConnectionEventType::kConnectRequest,
                        .id = incoming_.listener,
                        .context = context_,
                        .private_data = std::move(request.private_data),
                        .ird = request.peer_ord ? *request.peer_ord : Device::limits().max_ird,
                        .ord = request.peer_ird ? *request.peer_ird : Device::limits().max_ord};
  QueuedEvent asked{std::move(event), Offer(shared_from_this())};
  if (!seated) leave_backlog();
  auto refused = seated ? backlog->ask(number, std::move(asked)) : std::optional(std::move(asked));
  if (refused) refuse_later(std::move(*refused));
}

// The listener is gone, or has too many. Not now: the stream's lock is held.
void ConnectionState::refuse_later(QueuedEvent request) {
  runtime_.reactor().post([dropped = std::move(request)] {});
}

void ConnectionState::leave_backlog() {
  std::shared_ptr<Backlog> backlog;
  bool asked{};
  {
    const std::lock_guard lock(mutex_);
    backlog = std::exchange(incoming_.place, nullptr);
    asked = incoming_.asked;
  }
  if (!backlog) return;
  if (HalfOpen::have_left_memory()) runtime_.reactor().post([] { ::malloc_trim(0); });
  if (!asked) return backlog->leave_half_open(number);
  if (!backlog->leave_requests()) return;
  runtime_.reactor().post([weak = backlog->listener] {
    if (const auto self = weak.lock()) self->resume_listening();
  });
}

}  // namespace weft::verbs::detail
