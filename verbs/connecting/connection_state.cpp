// SPDX-License-Identifier: Apache-2.0
// What the application asks of a connection identifier.
#include "verbs/connecting/connection_state.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "verbs/base/retry_without_memory.hpp"
#include "verbs/log/log.hpp"
#include "verbs/objects/argument_checks.hpp"

namespace weft::verbs::detail {

namespace {

std::shared_ptr<const Policy> default_policy() {
  static const auto one = std::make_shared<const Policy>();
  return one;
}

constexpr std::size_t kMaxPrivateData = 512;          // MPA-7.1.1-26
constexpr std::size_t kMaxEnhancedPrivateData = 508;  // less the IRD and ORD of RFC 6581

// What a Request may carry. What a Reply may depends on the Request, and the responder knows that.
std::size_t request_limit(const Policy& policy) {
  const bool enhanced = policy.startup.enhanced && policy.startup.mpa_revision == 2;
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

std::uint64_t next_connection_number() noexcept {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

ConnectionState::ConnectionState(Runtime& runtime, std::shared_ptr<EventChannelState> channel, std::uint64_t context)
    : number(next_connection_number()),
      runtime_(runtime),
      context_(context),
      channel_(std::move(channel)),
      policy_(default_policy()) {}

Offer::~Offer() {
  if (state_) retry_without_memory([this] { state_->destroy(); });
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
  if (incoming_.peer_gone) return {Errc::kDisconnected, "connection", "the peer has gone"};
  return {Errc::kInvalidState, "connection", "no request waits for an answer here"};
}

Policy ConnectionState::policy() const {
  const std::lock_guard lock(mutex_);
  return *policy_;
}

Endpoint ConnectionState::local() {
  const std::lock_guard lock(mutex_);
  return addresses_.local_with_port();
}

Endpoint ConnectionState::remote() const {
  const std::lock_guard lock(mutex_);
  return addresses_.remote();
}

Result<void> ConnectionState::set_policy(const Policy& policy) {
  if (const auto sound = check(policy); !sound) return sound;
  const std::lock_guard lock(mutex_);
  if (phase_ > Phase::kRouteResolved) {
    return fail(Errc::kInvalidState, "connection", "its policy is fixed by connect and listen");
  }
  policy_ = std::make_shared<const Policy>(policy);
  return {};
}

void ConnectionState::post(ConnectionEventType type, std::optional<Error> error) {
  post(ConnectionEvent{.type = type, .error = error});
}

void ConnectionState::post(ConnectionEvent event) {
  const std::lock_guard lock(mutex_);
  if (!channel_) return;
  if (event.id == 0) event.id = number;
  event.context = context_;
  channel_->post({.event = std::move(event)});
}

// --- Connecting

// Phase kConnecting has an attempt, from its first moment on.
Result<void> ConnectionState::begin_attempt(std::unique_ptr<Attempt> attempt) {
  const std::lock_guard lock(mutex_);
  if (phase_ != Phase::kRouteResolved) return fail(Errc::kInvalidState, "connection", "its route is not resolved");
  phase_ = Phase::kConnecting;
  attempt_ = std::move(attempt);
  attempt_->begun = now();
  attempt_->port = addresses_.reserved_port();
  return {};
}

Result<void> ConnectionState::connect(const std::shared_ptr<QueuePairState>& qp,
                                      const ConnectionParameters& parameters) {
  if (const auto sound = check(parameters, request_limit(policy())); !sound) return sound;
  if (!in(Phase::kRouteResolved)) return fail(Errc::kInvalidState, "connection", "its route is not resolved");
  if (const auto started = runtime_.start(); !started) return started;
  const auto before = qp->begin_connection(weak_from_this());
  if (!before) return std::unexpected(before.error());
  auto attempt = std::make_unique<Attempt>(
      qp, std::vector(parameters.private_data.begin(), parameters.private_data.end()),
      static_cast<std::uint16_t>(parameters.ird.value_or(Device::limits().max_ird)),
      static_cast<std::uint16_t>(parameters.ord.value_or(Device::limits().max_ord)), parameters.admits_reply);
  if (const auto begun = begin_attempt(std::move(attempt)); !begun) {
    qp->cancel_connection(weak_from_this(), *before);
    return begun;
  }
  start_connector();
  return {};
}

Result<void> ConnectionState::accept(const std::shared_ptr<QueuePairState>& qp,
                                     const ConnectionParameters& parameters) {
  if (const auto sound = check(parameters, kMaxPrivateData); !sound) return sound;
  // MPA2-9.2-05, MPA2-9.2-11: an accepting Reply would have to name a type, and there is none to name.
  if (incoming_.lacks_rtr && reject({})) {
    return fail(Errc::kNotSupported, "peer",
                "asks for a ready-to-receive indication (peer-to-peer), and policy.startup.rtr allows none: rejected");
  }
  const auto before = qp->begin_connection(weak_from_this());
  if (!before) return std::unexpected(before.error());
  auto accepted = leave(Phase::kRequested, Phase::kAnswering, {});
  if (!accepted) accepted = std::unexpected(nothing_to_answer());
  if (accepted) {
    std::shared_ptr<Stream> stream;
    {
      const std::lock_guard lock(mutex_);
      stream = stream_;
    }
    try {
      accepted = stream ? stream->accept(qp, parameters.private_data, {.ird = parameters.ird, .ord = parameters.ord})
                        : std::unexpected(nothing_to_answer());
    } catch (const std::bad_alloc&) {  // half accepted, perhaps: costs this connection
      stream->run_out_of_memory();
      has_answered(false);
      qp->cancel_connection(weak_from_this(), *before);
      throw;
    }
    has_answered(accepted.has_value());
  }
  if (!accepted) qp->cancel_connection(weak_from_this(), *before);
  return accepted;
}

// Within the call the stream may have been established, or have ended. Then either accept says so, or an event does.
void ConnectionState::has_answered(bool accepted) {
  {
    const std::lock_guard lock(mutex_);
    if (phase_ == Phase::kAnswering) phase_ = accepted ? Phase::kAccepting : Phase::kRequested;
    if (!accepted || !std::exchange(incoming_.peer_gone, false)) return;
  }
  post(ended_early());
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
    incoming_.peer_gone = false;  // the stream may have ended within the call, but with our answer
    stream_.reset();
  }
  return rejected;
}

Result<void> ConnectionState::disconnect(Unfinished work) {
  std::shared_ptr<Stream> stream;
  {
    const std::lock_guard lock(mutex_);
    if (phase_ == Phase::kClosed) return {};
    if (phase_ != Phase::kEstablished && phase_ != Phase::kAccepting && phase_ != Phase::kAnswering) {
      return fail(Errc::kInvalidState, "connection", "not connected");
    }
    stream = stream_;
  }
  if (stream) stream->disconnect(work);
  return {};
}

// --- Channel and end

void ConnectionState::migrate(std::shared_ptr<EventChannelState> channel) {
  const std::lock_guard lock(mutex_);
  if (!channel_ || channel_ == channel) return;
  std::unique_lock<std::mutex> no_requests;
  if (listening_) no_requests = listening_->backlog->hold();
  auto waiting = channel_->events->withdraw([this](const QueuedEvent& queued) { return queued.event.id == number; });
  channel_ = std::move(channel);
  for (auto& event : waiting) channel_->post(std::move(event));
  if (listening_) listening_->backlog->move_to(channel_, no_requests);
}

void ConnectionState::taken(std::shared_ptr<EventChannelState> channel) {
  leave_backlog();
  migrate(std::move(channel));
}

void ConnectionState::destroy() {
  std::shared_ptr<transport::Listener> listener;
  std::shared_ptr<Offers> offers;
  std::optional<transport::Connector> connector;
  std::vector<QueuedEvent> undelivered;
  std::deque<QueuedEvent> waiting;
  std::shared_ptr<Stream> stream;
  std::shared_ptr<QueuePairState> qp;
  Phase phase{};
  {
    const std::lock_guard lock(mutex_);
    if (!channel_) return;
    if (listening_) {
      waiting = listening_->backlog->close();
      listener.swap(listening_->listener);
      offers.swap(listening_->offers);
    }
    undelivered = channel_->events->withdraw([this](const QueuedEvent& queued) { return queued.event.id == number; });
    channel_.reset();
    if (attempt_) {
      connector.swap(attempt_->connector);
      qp = std::exchange(attempt_->qp, nullptr);
    }
    addresses_.give_back({});
    stream = stream_;
    phase = std::exchange(phase_, Phase::kClosed);
  }
  leave_backlog();
  // What follows waits for callbacks and takes other locks, so it is done without ours.
  if (offers) offers->close();
  if (listener) runtime_.forget_listener(number);
  listener.reset();
  connector.reset();
  try {
    if (phase == Phase::kRequested && stream) static_cast<void>(stream->reject({}));
    if (phase == Phase::kIncoming && stream) stream->abort();
    if (phase == Phase::kConnecting && stream) stream->abort();
    if (phase == Phase::kConnecting && qp) static_cast<void>(qp->connection_failed(weak_from_this()));
  } catch (const std::bad_alloc&) {
    if (stream) stream->run_out_of_memory();
  }
}

}  // namespace weft::verbs::detail
