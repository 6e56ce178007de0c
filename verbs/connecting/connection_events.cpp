// SPDX-License-Identifier: Apache-2.0
// What happens to a connection identifier: TCP connections made, and the stream's reports.
#include <algorithm>
#include <cerrno>
#include <utility>

#include "transport/tls/fault.hpp"
#include "verbs/connecting/connection_state.hpp"
#include "verbs/log/log.hpp"
#include "verbs/objects/tls_setup.hpp"

namespace weft::verbs::detail {

namespace {

// As rdma_cm spells the failures of a TCP connection.
ConnectionEvent to_event(const std::error_code& error) {
  const int code = error.value();
  if (code == ECONNREFUSED || code == ECONNRESET) {
    return {.type = ConnectionEventType::kRejected,
            .error = Error{Errc::kRefused, "destination", "there is no listener", code}};
  }
  if (code == ETIMEDOUT || code == EHOSTUNREACH || code == ENETUNREACH) {
    const Errc kind = code == ETIMEDOUT ? Errc::kTimedOut : Errc::kUnreachable;
    return {.type = ConnectionEventType::kUnreachable,
            .error = Error{kind, "destination", "no answer from this address", code}};
  }
  return {.type = ConnectionEventType::kConnectError,
          .error = Error{Errc::kSystem, "connection", "TCP connect failed", code}};
}

constexpr std::chrono::milliseconds kLongestBackOff{16};

constexpr std::uint8_t kConnectionLost = std::to_underlying(mpa::ErrorCode::kConnectionLost);

ConnectionEvent to_event(const engine::ErrorReport& report) {
  if (report.mpa_fault == mpa::Fault::kStartupTimeout) {
    return {.type = ConnectionEventType::kUnreachable,
            .error = Error{Errc::kTimedOut, "peer", report.sentence, ETIMEDOUT}};
  }
  if (report.layer == engine::Layer::kLlp && report.code == kConnectionLost) {
    return {.type = ConnectionEventType::kRejected,
            .error = Error{Errc::kRefused, "peer", report.sentence, ECONNRESET}};
  }
  return {.type = ConnectionEventType::kConnectError, .error = Error{Errc::kProtocol, "peer", report.sentence, EPROTO}};
}

ConnectionEvent to_event(const transport::tls::Reason& reason) {
  return {.type = ConnectionEventType::kConnectError, .error = Error{Errc::kProtocol, reason.what, reason.why, EPROTO}};
}

}  // namespace

// --- Active side

void ConnectionState::start_connector() {
  transport::ConnectOptions options;
  Endpoint remote;
  transport::BoundSocket from;
  {
    const std::lock_guard lock(mutex_);
    if (phase_ != Phase::kConnecting) return;
    attempt_->has_tcp = false;
    from = addresses_.take_reserved();
    remote = addresses_.remote();
    // A retry uses a new port, because the old one may still be closing, unless the first attempt was refused.
    options.local = Endpoint{addresses_.local().address,
                             std::exchange(attempt_->refused, false) ? attempt_->port : std::uint16_t{0}};
    options.timeout = policy_->timeouts.connect;
    options.socket = socket_options();
  }
  log_connection(LogLevel::kInfo, number, [&] { return "connecting to " + remote.to_string(); });
  auto begun = transport::begin_connect(std::move(from), remote, options);
  if (begun) {
    const std::lock_guard lock(mutex_);
    addresses_.set_local(begun->local);
  }
  // As over loopback: no other thread need be woken for it.
  if (begun && begun->connected) return on_tcp(std::move(begun->socket));
  transport::Connector connector(runtime_.reactor(), std::move(begun), options.timeout,
                                 [weak = weak_from_this()](std::expected<transport::Socket, std::error_code> socket) {
                                   if (const auto self = weak.lock()) self->on_tcp(std::move(socket));
                                 });
  std::optional<transport::Connector> old(std::move(connector));
  const std::unique_lock lock(mutex_);
  if (phase_ == Phase::kConnecting && !attempt_->has_tcp) old.swap(attempt_->connector);
}

// Retries a refused connect: the server may not be listening yet.
bool ConnectionState::connects_again(const std::error_code& error) {
  if (error != std::errc::connection_refused) return false;
  std::chrono::milliseconds delay{};
  {
    const std::lock_guard lock(mutex_);
    if (phase_ != Phase::kConnecting) return false;
    delay = attempt_->back_off;
    if (now() + delay > attempt_->begun + policy_->timeouts.connect_retry) return false;
    attempt_->back_off = std::min(2 * delay, kLongestBackOff);
    attempt_->refused = true;
  }
  log_connection(LogLevel::kInfo, number,
                 [&] { return "refused; retrying in " + std::to_string(delay.count()) + " ms"; });
  const auto again = [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->start_connector();
  };
  runtime_.reactor().post_later(again, delay);
  return true;
}

void ConnectionState::on_tcp(std::expected<transport::Socket, std::error_code> socket) {
  if (!socket && connects_again(socket.error())) return;
  if (!socket) {
    static_cast<void>(fail_connection(to_event(socket.error())));
    return;
  }
  auto shared = offer(*socket);
  if (!shared) {
    static_cast<void>(
        fail_connection({.type = ConnectionEventType::kConnectError,
                         .error = Error{Errc::kNotSupported, "policy.startup.same_host",
                                        "the peer shares no memory with this process", shared.error().value()}}));
    return;
  }
  Stream::Setup setup{.shared = std::move(*shared),
                      .link = {.role = mpa::Role::kInitiator, .observer = shared_from_this(), .connection = number}};
  std::shared_ptr<QueuePairState> qp;
  std::vector<std::byte> private_data;
  std::optional<transport::Connector> done;  // has done its work; destroyed without our lock
  {
    const std::lock_guard lock(mutex_);
    if (phase_ != Phase::kConnecting) return;
    attempt_->has_tcp = true;
    done.swap(attempt_->connector);
    mark(*socket);
    setup.link.policy = *policy_;
    setup.link.peer = addresses_.remote();
    if (attempt_->revision_1) setup.link.policy.startup.mpa_revision = 1;
    setup.link.ird = attempt_->ird;
    setup.link.ord = attempt_->ord;
    qp = attempt_->qp;
    private_data = attempt_->private_data;
  }
  setup.link.send_depth = qp->attributes.max_send_wr + 2;  // and the ready-to-receive message, and a confirmation
  setup.socket = std::move(*socket);
  auto tls = begin_tls(setup.link.policy, mpa::Role::kInitiator);
  if (!tls) {
    static_cast<void>(fail_connection({.type = ConnectionEventType::kConnectError, .error = tls.error()}));
    return;
  }
  setup.tls = std::move(*tls);
  const auto stream = Stream::make(runtime_, std::move(setup));
  if (!adopt(stream)) return stream->abort();  // destroyed in the meantime
  const auto begun = stream->connect(qp, private_data);
  stream->start();
  if (begun) return;  // perhaps established, and the identifier gone
  static_cast<void>(fail_connection({.type = ConnectionEventType::kConnectError, .error = begun.error()}));
  stream->abort();
}

// From then on, whatever ends the attempt ends the stream.
bool ConnectionState::adopt(const std::shared_ptr<Stream>& stream) {
  const std::lock_guard lock(mutex_);
  if (phase_ != Phase::kConnecting) return false;
  stream_ = stream;
  return true;
}

// Flushes come before the event: when the failure is told, all work is completed. True: the queue pair does not need
// the stream any more.
bool ConnectionState::fail_connection(ConnectionEvent event) {
  std::shared_ptr<QueuePairState> qp;
  {
    const std::lock_guard lock(mutex_);
    if (phase_ != Phase::kConnecting) return false;
    phase_ = Phase::kClosed;
    qp = std::exchange(attempt_->qp, nullptr);
  }
  const bool goes_on = qp && qp->connection_failed(weak_from_this());
  if (event.error) log_connection(LogLevel::kInfo, number, "failed: " + event.error->message());
  post(std::move(event));
  return goes_on;
}

void ConnectionState::on_queue_pair_lost() {
  std::optional<transport::Connector> connector;
  {
    const std::lock_guard lock(mutex_);
    if (phase_ != Phase::kConnecting) return;
    connector.swap(attempt_->connector);
  }
  connector.reset();  // waits for its callback, so it is done without our lock
  static_cast<void>(fail_connection(
      {.type = ConnectionEventType::kConnectError,
       .error = Error{Errc::kInvalidState, "queue_pair", "moved to ERROR or destroyed during connection setup"}}));
}

// --- The stream's reports

bool ConnectionState::admits_reply(Bytes private_data) {
  std::function<bool(Bytes)> judge;
  {
    const std::lock_guard lock(mutex_);
    if (phase_ == Phase::kConnecting) judge = attempt_->admits_reply;
  }
  return !judge || judge(private_data);
}

void ConnectionState::on_established(const engine::Established& established) {
  {
    const std::lock_guard lock(mutex_);
    const bool expected = phase_ == Phase::kConnecting || phase_ == Phase::kAnswering || phase_ == Phase::kAccepting;
    if (!expected) return;
    phase_ = Phase::kEstablished;
    attempt_.reset();
  }
  post({.type = ConnectionEventType::kEstablished,
        .private_data = established.private_data,
        .ird = established.ird,
        .ord = established.ord});
}

bool ConnectionState::on_rejected(engine::Rejected rejected) {
  if (will_retry(rejected.retry_with_revision_1)) return true;
  Error why{Errc::kRejected, "peer", "it rejected the connection", ECONNREFUSED};
  if (rejected.takes_no_rtr) {
    why = {Errc::kNotSupported, "peer", "it accepts no ready-to-receive indication: connect with peer-to-peer=off",
           ECONNREFUSED};
  }
  return fail_connection(
      {.type = ConnectionEventType::kRejected, .error = why, .private_data = std::move(rejected.private_data)});
}

// True when a second attempt will be made, with revision 1 and on a new TCP connection (MPA2-10-12): the queue pair is
// still needed.
bool ConnectionState::will_retry(bool worth_it) {
  const std::lock_guard lock(mutex_);
  const bool possible = worth_it && policy_->startup.fall_back_to_revision_1;
  if (!possible || phase_ != Phase::kConnecting || attempt_->revision_1) return false;
  return attempt_->revision_1 = attempt_->retrying = true;
}

// Falling back to MPA revision 1 cannot fix a failure of TLS.
bool ConnectionState::on_startup_failed(const engine::StartupFailed& failure, const transport::PipeFailure& pipe) {
  if (pipe.offer_refused && will_retry_by_tcp()) return true;
  const auto reason = transport::tls::reason_of(pipe.tls);
  if (!reason && will_retry(failure.retry_with_revision_1)) return true;
  return fail_connection(reason ? to_event(*reason) : to_event(failure.report));
}

ConnectionEvent ConnectionState::ended_early() {
  return {.type = ConnectionEventType::kConnectError,
          .error = Error{Errc::kDisconnected, "peer", "the connection ended during startup", ECONNRESET}};
}

void ConnectionState::on_peer_closed() {
  {
    const std::lock_guard lock(mutex_);
    if (phase_ != Phase::kEstablished || std::exchange(end_told_, true)) return;
  }
  post(ConnectionEventType::kDisconnected);
}

void ConnectionState::on_closed() {
  Phase phase{};
  bool told = false;
  std::chrono::milliseconds timewait{};
  Admission::Seat left;
  {
    const std::lock_guard lock(mutex_);
    stream_.reset();
    left = std::move(incoming_.seat);
    if (attempt_ && std::exchange(attempt_->retrying, false)) {
      return runtime_.reactor().post([weak = weak_from_this()] {
        if (const auto self = weak.lock()) self->start_connector();
      });
    }
    phase = phase_;
    told = end_told_;
    timewait = policy_->timeouts.timewait;
    if (phase == Phase::kRequested || phase == Phase::kAnswering) incoming_.peer_gone = true;
    if (phase != Phase::kConnecting) phase_ = Phase::kClosed;
  }
  if (phase != Phase::kRequested) leave_backlog();
  if (phase == Phase::kConnecting) static_cast<void>(fail_connection(ended_early()));
  if (phase == Phase::kAccepting) post(ended_early());
  if (phase != Phase::kEstablished) return;
  if (!told) post(ConnectionEventType::kDisconnected);
  if (timewait.count() == 0) return;
  const auto passed = [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->post(ConnectionEventType::kTimewaitExit);
  };
  runtime_.reactor().post_later(passed, timewait);
}

}  // namespace weft::verbs::detail
