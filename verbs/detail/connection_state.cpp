// SPDX-License-Identifier: Apache-2.0
// What the application asks of a connection identifier.
#include "verbs/detail/connection_state.hpp"

#include <algorithm>
#include <utility>

#include "verbs/detail/argument_checks.hpp"
#include "verbs/detail/log.hpp"

namespace weft::verbs::detail {

namespace {

std::uint64_t next_number() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

constexpr std::size_t kMaxPrivateData = 512;          // MPA-7.1.1-26
constexpr std::size_t kMaxEnhancedPrivateData = 508;  // less the IRD and ORD of RFC 6581

// What a Request may carry. What a Reply may depends on the Request, and the responder knows that.
std::size_t request_limit(const Policy& policy) {
  const bool enhanced = policy.enhanced && policy.mpa_revision == 2;
  return enhanced ? kMaxEnhancedPrivateData : kMaxPrivateData;
}

Result<void> check(const ConnectionParameters& parameters, std::size_t most_private_data) {
  if (parameters.private_data.size() > most_private_data) {
    return fail(Errc::kPrivateDataTooLong, "private_data", "more than 512 octets, or 508 with IRD and ORD");
  }
  if (parameters.ird.value_or(0) > Device::limits().max_ird) {
    return fail(Errc::kLimitExceeded, "ird", "larger than the device's limit");
  }
  if (parameters.ord.value_or(0) > Device::limits().max_ord) {
    return fail(Errc::kLimitExceeded, "ord", "larger than the device's limit");
  }
  return {};
}

}  // namespace

ConnectionState::ConnectionState(Runtime& runtime, std::shared_ptr<EventChannelState> channel, std::uint64_t context)
    : number(next_number()), runtime_(runtime), context_(context), channel_(std::move(channel)) {}

Offer::~Offer() {
  if (state_) state_->destroy();
}

// --- Small things

bool ConnectionState::in(Phase phase) const {
  const std::lock_guard lock(mutex_);
  return phase_ == phase;
}

Result<void> ConnectionState::leave(Phase expected, Phase next, std::string_view why_not) {
  const std::lock_guard lock(mutex_);
  if (phase_ != expected) return fail(Errc::kInvalidState, "connection", why_not);
  phase_ = next;
  return {};
}

// Why accept and reject find no request.
Error ConnectionState::nothing_to_answer() const {
  const std::lock_guard lock(mutex_);
  if (peer_gone_) return {Errc::kDisconnected, "connection", "the peer has gone"};
  return {Errc::kInvalidState, "connection", "no request waits for an answer here"};
}

Policy ConnectionState::policy() const {
  const std::lock_guard lock(mutex_);
  return policy_;
}

Endpoint ConnectionState::local() const {
  const std::lock_guard lock(mutex_);
  return local_;
}

Endpoint ConnectionState::remote() const {
  const std::lock_guard lock(mutex_);
  return remote_;
}

Result<void> ConnectionState::set_policy(const Policy& policy) {
  if (const auto sound = check(policy); !sound) return sound;
  const std::lock_guard lock(mutex_);
  if (phase_ > Phase::kRouteResolved) {
    return fail(Errc::kInvalidState, "connection", "its policy is fixed by connect and listen");
  }
  policy_ = policy;
  return {};
}

void ConnectionState::post(ConnectionEventType type, std::optional<Error> error) {
  post(ConnectionEvent{.type = type, .error = error});
}

void ConnectionState::post(ConnectionEvent event, std::optional<Offer> offer) {
  const std::lock_guard lock(mutex_);
  if (!channel_) return;
  if (event.id == 0) event.id = number;
  event.context = context_;
  channel_->events->post({std::move(event), std::move(offer)});
}

// --- Addresses

Result<void> ConnectionState::bind_address(const Endpoint& local) {
  if (!in(Phase::kIdle)) return fail(Errc::kInvalidState, "connection", "already bound, resolved or connected");
  auto reservation = PortReservation::make(local);
  if (!reservation) return std::unexpected(reservation.error());
  const std::lock_guard lock(mutex_);
  if (phase_ != Phase::kIdle) return fail(Errc::kInvalidState, "connection", "bound by another thread");
  local_ = reservation->local();
  reservation_.emplace(std::move(*reservation));
  phase_ = Phase::kBound;
  return {};
}

Result<void> ConnectionState::resolve_address(const Endpoint& destination, const std::optional<Endpoint>& source) {
  if (destination.port == 0) return fail(Errc::kInvalidArgument, "destination", "has no port");
  if (source && !source->address.is_any() && source->address.family != destination.address.family) {
    return fail(Errc::kInvalidArgument, "source", "not of the destination's address family");
  }
  if (source && in(Phase::kIdle)) {
    if (const auto bound = bind_address(*source); !bound) return bound;
  }
  if (!in(Phase::kIdle) && !in(Phase::kBound)) {
    return fail(Errc::kInvalidState, "connection", "already resolved, listening or connected");
  }
  const Address from = local().address;
  if (!from.is_any() && from.family != destination.address.family) {
    return fail(Errc::kInvalidArgument, "destination", "not of the address family of the local address");
  }
  const auto towards = transport::local_address_towards(destination.address);
  if (!towards) {
    log_connection(LogLevel::kInfo, number, "no route to " + destination.to_string());
    post(ConnectionEventType::kAddressError,
         Error{Errc::kUnreachable, "destination", "no route to this address", towards.error().value()});
    return {};
  }
  {
    const std::lock_guard lock(mutex_);
    if (local_.address.is_any()) local_ = {*towards, local_.port};
    remote_ = destination;
    phase_ = Phase::kAddressResolved;
  }
  log_connection(LogLevel::kDebug, number, destination.to_string() + " resolved: by way of " + towards->to_string());
  post(ConnectionEventType::kAddressResolved);
  return {};
}

Result<void> ConnectionState::resolve_route() {
  const auto done = leave(Phase::kAddressResolved, Phase::kRouteResolved, "its address is not resolved");
  if (done) post(ConnectionEventType::kRouteResolved);
  return done;
}

transport::SocketOptions ConnectionState::socket_options() const {
  transport::SocketOptions options;
  if (policy_.keepalive) options.keepalive = transport::KeepAlive{};
  if (policy_.user_timeout.count() != 0) options.user_timeout = policy_.user_timeout;
  return options;
}

// --- Connecting

Result<void> ConnectionState::connect(const std::shared_ptr<QueuePairState>& qp,
                                      const ConnectionParameters& parameters) {
  if (const auto sound = check(parameters, request_limit(policy())); !sound) return sound;
  if (!in(Phase::kRouteResolved)) return fail(Errc::kInvalidState, "connection", "its route is not resolved");
  const auto before = qp->begin_connection(weak_from_this());
  if (!before) return std::unexpected(before.error());
  if (const auto left = leave(Phase::kRouteResolved, Phase::kConnecting, "its route is not resolved"); !left) {
    qp->cancel_connection(weak_from_this(), *before);
    return left;
  }
  {
    const std::lock_guard lock(mutex_);
    qp_ = qp;
    private_data_.assign(parameters.private_data.begin(), parameters.private_data.end());
    ird_ = static_cast<std::uint16_t>(parameters.ird.value_or(Device::limits().max_ird));
    ord_ = static_cast<std::uint16_t>(parameters.ord.value_or(Device::limits().max_ord));
  }
  start_connector();
  return {};
}

Result<void> ConnectionState::accept(const std::shared_ptr<QueuePairState>& qp,
                                     const ConnectionParameters& parameters) {
  if (const auto sound = check(parameters, kMaxPrivateData); !sound) return sound;
  // MPA2-9.2-05, MPA2-9.2-11: an accepting Reply would have to name a type, and there is none to name.
  if (lacks_rtr_ && reject({})) {
    return fail(Errc::kNotSupported, "peer",
                "asks for a ready-to-receive indication (peer-to-peer), and policy.rtr allows none: rejected");
  }
  const auto before = qp->begin_connection(weak_from_this());
  if (!before) return std::unexpected(before.error());
  auto accepted = leave(Phase::kRequested, Phase::kAccepting, {});
  if (!accepted) accepted = std::unexpected(nothing_to_answer());
  if (accepted) {
    std::shared_ptr<Stream> stream;
    {
      const std::lock_guard lock(mutex_);
      stream = stream_;
    }
    if (stream) accepted = stream->accept(qp, parameters.private_data, {.ird = parameters.ird, .ord = parameters.ord});
    if (!accepted) static_cast<void>(leave(Phase::kAccepting, Phase::kRequested, {}));
  }
  if (!accepted) qp->cancel_connection(weak_from_this(), *before);
  if (!in(Phase::kRequested)) leave_backlog();  // answered, or its peer is gone
  return accepted;
}

Result<void> ConnectionState::reject(Bytes private_data) {
  std::shared_ptr<Stream> stream;
  {
    const std::lock_guard lock(mutex_);
    if (phase_ == Phase::kRequested) stream = stream_;
  }
  Result<void> rejected = stream ? stream->reject(private_data) : std::unexpected(nothing_to_answer());
  if (rejected) {
    const std::lock_guard lock(mutex_);
    phase_ = Phase::kClosed;
    peer_gone_ = false;  // the stream may have ended within the call, but with our answer
    stream_.reset();
  }
  if (!in(Phase::kRequested)) leave_backlog();
  return rejected;
}

Result<void> ConnectionState::disconnect() {
  std::shared_ptr<Stream> stream;
  {
    const std::lock_guard lock(mutex_);
    if (phase_ == Phase::kClosed) return {};
    if (phase_ != Phase::kEstablished && phase_ != Phase::kAccepting) {
      return fail(Errc::kInvalidState, "connection", "not connected");
    }
    stream = stream_;
  }
  if (stream) stream->disconnect();
  return {};
}

// --- Channel and end

void ConnectionState::migrate(std::shared_ptr<EventChannelState> channel) {
  const std::lock_guard lock(mutex_);
  if (!channel_) return;
  auto waiting = channel_->events->withdraw([this](const QueuedEvent& queued) { return queued.event.id == number; });
  channel_ = std::move(channel);
  for (auto& event : waiting) channel_->events->post(std::move(event));
}

void ConnectionState::destroy() {
  std::optional<transport::Listener> listener;
  std::optional<transport::Connector> connector;
  std::vector<QueuedEvent> undelivered;
  std::shared_ptr<Stream> stream;
  std::shared_ptr<QueuePairState> qp;
  Phase phase{};
  {
    const std::lock_guard lock(mutex_);
    if (!channel_) return;
    undelivered = channel_->events->withdraw([this](const QueuedEvent& queued) { return queued.event.id == number; });
    channel_.reset();
    if (backlog_) backlog_->open = false;
    listener.swap(listener_);
    connector.swap(connector_);
    reservation_.reset();
    stream = stream_;
    qp = std::exchange(qp_, nullptr);
    phase = std::exchange(phase_, Phase::kClosed);
  }
  leave_backlog();
  // What follows waits for callbacks and takes other locks, so it is done without ours.
  listener.reset();
  connector.reset();
  if (phase == Phase::kRequested && stream) static_cast<void>(stream->reject({}));
  if (phase == Phase::kIncoming && stream) stream->abort();
  if (phase == Phase::kConnecting) {
    if (stream) stream->abort();
    if (qp) qp->connection_failed(weak_from_this());
  }
}

void ConnectionState::leave_backlog() {
  std::shared_ptr<Backlog> backlog;
  {
    const std::lock_guard lock(mutex_);
    backlog = std::exchange(place_, nullptr);
  }
  if (backlog) --backlog->waiting;
}

}  // namespace weft::verbs::detail
