// SPDX-License-Identifier: Apache-2.0
// What happens to a connection identifier: TCP connections made and accepted, and the stream's reports.
#include <algorithm>
#include <cerrno>
#include <utility>

#include "verbs/detail/connection_state.hpp"
#include "verbs/detail/log.hpp"

namespace weft::verbs::detail {

namespace {

// As rdma_cm spells the failures of a TCP connection.
ConnectionEvent to_event(const std::error_code& error) {
  const int code = error.value();
  if (code == ECONNREFUSED || code == ECONNRESET) {
    return {.type = ConnectionEventType::kRejected,
            .error = Error{Errc::kRefused, "destination", "nobody listens there", code}};
  }
  if (code == ETIMEDOUT || code == EHOSTUNREACH || code == ENETUNREACH) {
    const Errc kind = code == ETIMEDOUT ? Errc::kTimedOut : Errc::kUnreachable;
    return {.type = ConnectionEventType::kUnreachable,
            .error = Error{kind, "destination", "no answer from this address", code}};
  }
  return {.type = ConnectionEventType::kConnectError,
          .error = Error{Errc::kSystem, "connection", "TCP cannot connect", code}};
}

constexpr std::uint8_t kConnectionLost = 0x01;  // LLP error code of RFC 5044 section 8
constexpr std::string_view kTimeoutClause = "MPA-7.1.2-31";

ConnectionEvent to_event(const engine::ErrorReport& report) {
  if (report.clause == kTimeoutClause) {
    return {.type = ConnectionEventType::kUnreachable,
            .error = Error{Errc::kTimedOut, "peer", report.sentence, ETIMEDOUT}};
  }
  if (report.layer == engine::Layer::kLlp && report.code == kConnectionLost) {
    return {.type = ConnectionEventType::kRejected,
            .error = Error{Errc::kRefused, "peer", report.sentence, ECONNRESET}};
  }
  return {.type = ConnectionEventType::kConnectError, .error = Error{Errc::kProtocol, "peer", report.sentence, EPROTO}};
}

}  // namespace

// --- Active side

void ConnectionState::start_connector() {
  transport::ConnectOptions options;
  Endpoint remote;
  std::optional<PortReservation> reservation;  // ends before the connector binds the same port
  {
    const std::lock_guard lock(mutex_);
    if (phase_ != Phase::kConnecting) return;
    reservation_.swap(reservation);
    remote = remote_;
    options.local = Endpoint{local_.address, reservation ? local_.port : std::uint16_t{0}};
    options.timeout = policy_.connect_timeout;
    options.socket = socket_options();
  }
  reservation.reset();
  log_connection(LogLevel::kInfo, number, "connecting to " + remote.to_string());
  transport::Connector connector(runtime_.reactor(), remote, options,
                                 [weak = weak_from_this()](std::expected<transport::Socket, std::error_code> socket) {
                                   if (const auto self = weak.lock()) self->on_tcp(std::move(socket));
                                 });
  std::optional<transport::Connector> old(std::move(connector));
  const std::unique_lock lock(mutex_);
  if (phase_ == Phase::kConnecting) old.swap(connector_);
}

void ConnectionState::on_tcp(std::expected<transport::Socket, std::error_code> socket) {
  if (!socket) return fail_connection(to_event(socket.error()));
  Stream::Setup setup{.role = mpa::Role::kInitiator, .observer = shared_from_this(), .connection = number};
  std::shared_ptr<QueuePairState> qp;
  std::vector<std::byte> private_data;
  std::optional<transport::Connector> done;  // has done its work; destroyed without our lock
  {
    const std::lock_guard lock(mutex_);
    if (phase_ != Phase::kConnecting) return;
    done.swap(connector_);
    if (const auto local = socket->local()) local_ = *local;
    setup.policy = policy_;
    if (revision_1_) setup.policy.mpa_revision = 1;
    setup.ird = ird_;
    setup.ord = ord_;
    qp = qp_;
    private_data = private_data_;
  }
  setup.send_depth = qp->attributes.max_send_wr + 1;  // and the ready-to-receive message
  setup.socket = std::move(*socket);
  const auto stream = Stream::start(runtime_, std::move(setup));
  {
    const std::lock_guard lock(mutex_);
    stream_ = stream;
  }
  const auto begun = stream->connect(qp, private_data);
  if (!begun) fail_connection({.type = ConnectionEventType::kConnectError, .error = begun.error()});
  if (!begun || in(Phase::kClosed)) stream->abort();  // destroyed in the meantime
}

// Flushes come before the event: who hears of the failure finds all work completed.
void ConnectionState::fail_connection(ConnectionEvent event) {
  std::shared_ptr<QueuePairState> qp;
  {
    const std::lock_guard lock(mutex_);
    if (phase_ != Phase::kConnecting) return;
    phase_ = Phase::kClosed;
    qp = std::exchange(qp_, nullptr);
  }
  if (qp) qp->connection_failed(weak_from_this());
  if (event.error) log_connection(LogLevel::kInfo, number, "failed: " + event.error->message());
  post(std::move(event));
}

void ConnectionState::on_queue_pair_lost() {
  std::optional<transport::Connector> connector;
  {
    const std::lock_guard lock(mutex_);
    if (phase_ != Phase::kConnecting) return;
    connector.swap(connector_);
  }
  connector.reset();  // waits for its callback, so it is done without our lock
  fail_connection({.type = ConnectionEventType::kConnectError,
                   .error = Error{Errc::kInvalidState, "queue_pair",
                                  "it was put to ERROR or destroyed while the connection was made"}});
}

// --- Passive side

Result<void> ConnectionState::listen(int backlog) {
  if (backlog <= 0) return fail(Errc::kInvalidArgument, "backlog", "not positive");
  if (const auto left = leave(Phase::kBound, Phase::kListening, "not bound to an address"); !left) return left;
  auto& reactor = runtime_.reactor();
  transport::ListenOptions options{.backlog = backlog};
  Endpoint at;
  {
    const std::lock_guard lock(mutex_);
    backlog_ = std::make_shared<Backlog>();
    backlog_->limit = backlog;
    options.socket = socket_options();
    at = local_;
  }
  auto listener = transport::Listener::create(
      reactor, at, options, [weak = weak_from_this()](std::expected<transport::Socket, std::error_code> socket) {
        if (const auto self = weak.lock()) self->on_accept(std::move(socket));
      });
  if (!listener) {
    static_cast<void>(leave(Phase::kListening, Phase::kBound, {}));
    const bool in_use = listener.error() == std::errc::address_in_use;
    return fail(in_use ? Errc::kAddressInUse : Errc::kSystem, "connection", "cannot listen at its address",
                listener.error().value());
  }
  log_connection(LogLevel::kInfo, number,
                 "listening on " + at.to_string() + " with a backlog of " + std::to_string(backlog));
  const std::lock_guard lock(mutex_);
  listener_.emplace(std::move(*listener));
  reservation_.reset();
  return {};
}

// Peers that have not sent their request, and requests that the application has not answered, are bounded by the
// backlog: what comes beyond is reset. A request whose peer has gone keeps its place, as in TCP's own queue, for it
// still waits in the event channel; else a peer that asks and goes, again and again, would fill our memory (RFC 5042
// section 6.4).
void ConnectionState::on_accept(std::expected<transport::Socket, std::error_code> socket) {
  if (!socket) return log_warning("listener", "cannot accept a connection: out of descriptors");
  std::shared_ptr<Backlog> backlog;
  std::shared_ptr<EventChannelState> channel;
  {
    const std::lock_guard lock(mutex_);
    backlog = backlog_;
    channel = channel_;
  }
  if (!channel || !backlog || backlog->waiting >= backlog->limit) {
    log_connection(LogLevel::kInfo, number, "a client is reset: the backlog is full, or the listener closes");
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
  policy_ = listener.policy();
  if (const auto end = socket.local()) local_ = *end;
  if (const auto end = socket.peer()) remote_ = *end;
  log_connection(LogLevel::kInfo, number,
                 "comes from connection " + std::to_string(listener_number_) + ", which listens");
  const auto stream = Stream::start(runtime_, {.socket = std::move(socket),
                                               .role = mpa::Role::kResponder,
                                               .policy = policy_,
                                               .ird = static_cast<std::uint16_t>(Device::limits().max_ird),
                                               .ord = static_cast<std::uint16_t>(Device::limits().max_ord),
                                               .send_depth = Device::limits().max_qp_wr,
                                               .observer = shared_from_this(),
                                               .connection = number});
  const std::lock_guard lock(mutex_);
  if (phase_ != Phase::kClosed) stream_ = stream;
}

// --- The stream's reports

void ConnectionState::on_requested(engine::ConnectionRequested request) {
  bool listening = false;
  {
    const std::lock_guard lock(mutex_);
    if (phase_ != Phase::kIncoming) return;
    phase_ = Phase::kRequested;
    listening = place_ && place_->open;
    lacks_rtr_ = request.peer_to_peer && !policy_.rtr.any();
  }
  Offer offer(shared_from_this());
  if (!listening) return refuse_later(std::move(offer));
  ConnectionEvent event{.type = ConnectionEventType::kConnectRequest,
                        .id = listener_number_,
                        .private_data = std::move(request.private_data),
                        .ird = request.peer_ord ? *request.peer_ord : Device::limits().max_ird,
                        .ord = request.peer_ird ? *request.peer_ird : Device::limits().max_ord};
  post(std::move(event), std::move(offer));
}

// The listener is gone. Not now: the stream's lock is held.
void ConnectionState::refuse_later(Offer offer) {
  runtime_.reactor().post([dropped = std::move(offer)] {});
}

void ConnectionState::on_established(const engine::Established& established) {
  {
    const std::lock_guard lock(mutex_);
    if (phase_ != Phase::kConnecting && phase_ != Phase::kAccepting) return;
    phase_ = Phase::kEstablished;
    qp_.reset();
    private_data_ = {};
  }
  post({.type = ConnectionEventType::kEstablished,
        .private_data = established.private_data,
        .ird = established.ird,
        .ord = established.ord});
}

bool ConnectionState::on_rejected(engine::Rejected rejected) {
  if (will_retry(rejected.retry_with_revision_1)) return true;
  Error why{Errc::kRejected, "peer", "its application refused the connection", ECONNREFUSED};
  if (rejected.takes_no_rtr) {
    why = {Errc::kNotSupported, "peer", "it takes no ready-to-receive indication: connect without peer-to-peer",
           ECONNREFUSED};
  }
  fail_connection(
      {.type = ConnectionEventType::kRejected, .error = why, .private_data = std::move(rejected.private_data)});
  return false;
}

// True when a second attempt will be made, with revision 1 and on a new TCP connection (MPA2-10-12): the queue pair is
// still needed.
bool ConnectionState::will_retry(bool worth_it) {
  const std::lock_guard lock(mutex_);
  const bool possible = worth_it && policy_.fall_back_to_revision_1 && !revision_1_;
  if (!possible || phase_ != Phase::kConnecting) return false;
  return revision_1_ = retrying_ = true;
}

bool ConnectionState::on_startup_failed(const engine::StartupFailed& failure) {
  if (will_retry(failure.retry_with_revision_1)) return true;
  fail_connection(to_event(failure.report));
  return false;
}

void ConnectionState::on_closed(bool) {
  Phase phase{};
  {
    const std::lock_guard lock(mutex_);
    stream_.reset();
    if (std::exchange(retrying_, false)) {
      return runtime_.reactor().post([weak = weak_from_this()] {
        if (const auto self = weak.lock()) self->start_connector();
      });
    }
    phase = phase_;
    if (phase == Phase::kRequested) peer_gone_ = true;
    if (phase != Phase::kConnecting) phase_ = Phase::kClosed;
  }
  if (phase != Phase::kRequested) leave_backlog();
  ConnectionEvent failure{
      .type = ConnectionEventType::kConnectError,
      .error = Error{Errc::kDisconnected, "peer", "the connection ended during start-up", ECONNRESET}};
  if (phase == Phase::kConnecting) fail_connection(std::move(failure));
  if (phase == Phase::kAccepting) post(std::move(failure));
  if (phase == Phase::kEstablished) post(ConnectionEventType::kDisconnected);
}

}  // namespace weft::verbs::detail
