// SPDX-License-Identifier: Apache-2.0
// A queue pair's side of its connections: whose it is, what its stream tells it, and how it falls into ERROR.
#include <new>
#include <utility>

#include "ddp/errors.hpp"
#include "rdmap/errors.hpp"
#include "verbs/objects/queue_pair_state.hpp"
#include "verbs/stream/stream.hpp"

namespace weft::verbs::detail {

// --- The connection manager

bool QueuePairState::held_by(const Attempt& attempt) const noexcept {
  return !attempt.expired() && !attempt_.owner_before(attempt) && !attempt.owner_before(attempt_);
}

Result<QpState> QueuePairState::begin_connection(const Attempt& attempt) {
  const std::lock_guard lock(mutex_);
  if (!is_unconnected(state_) || !attempt_.expired())
    return fail(Errc::kInvalidState, "queue_pair", "not in RESET or INIT, or already used");
  attempt_ = attempt;
  return state_.exchange(QpState::kRtr);
}

void QueuePairState::cancel_connection(const Attempt& attempt, QpState before) {
  const std::lock_guard lock(mutex_);
  if (!held_by(attempt)) return;
  attempt_.reset();
  stream_.reset();
  if (state_ == QpState::kRtr) state_ = before;
}

// RDMAP-8.1.1-02, DDP-8.3.1-03: what is for this queue pair alone is for one stream alone.
Result<void> QueuePairState::set_stream(const Attempt& attempt, std::shared_ptr<Stream> stream) {
  const std::lock_guard lock(mutex_);
  if (!held_by(attempt) || state_ != QpState::kRtr) {
    return fail(Errc::kInvalidState, "queue_pair", "moved to ERROR or destroyed during connection setup");
  }
  stream_ = std::move(stream);
  return {};
}

// The stream stays, if there is one: RESET has to wait until it lets go.
bool QueuePairState::connection_failed(const Attempt& attempt) {
  std::unique_lock lock(mutex_);
  return held_by(attempt) && end(std::move(lock));
}

// --- The stream

ServedQueuePair::Beginning QueuePairState::established(const Negotiated& negotiated) {
  const std::lock_guard lock(mutex_);
  attempt_.reset();
  negotiated_ = negotiated;
  if (state_ != QpState::kRtr) return {};  // ERROR: they are flushed
  const bool held = std::exchange(early_.held, false);
  state_ = held ? QpState::kSqd : QpState::kRts;
  return {std::exchange(early_.sends, {}), held};
}

void QueuePairState::stream_error(const StreamError& error, AsyncEventType type) {
  const std::lock_guard lock(mutex_);
  if (!stream_error_) stream_error_ = std::make_unique<const StreamError>(error);
  untold_ = type;
  if (!error.remote) return;
  const rdmap::ErrorCode code{static_cast<rdmap::Layer>(error.layer), error.type, error.code};
  if (early_.accepted && code == rdmap::error_code(ddp::UntaggedError::kNoBuffer)) {
    early_.of_oldest = WcStatus::kRnrRetryExceeded;
    return;
  }
  if (early_.accepted && code == rdmap::kLocalCatastrophic) {
    early_.of_oldest = WcStatus::kRetryExceeded;
    return;
  }
  if (!early_.extensions.confirm_writes && !(early_.accepted && error.of_completed_write)) return;
  const bool refused = rdmap::refuses_memory(code);
  early_.of_oldest = refused ? WcStatus::kRemoteAccessError : WcStatus::kRemoteOperationError;
}

void QueuePairState::ended_by(const Error& error) {
  const std::lock_guard lock(mutex_);
  if (stream_error_ || ended_by_) return;
  if (early_.accepted && (state_ == QpState::kRts || state_ == QpState::kSqd))
    early_.of_oldest = WcStatus::kRetryExceeded;
  try {
    ended_by_ = std::make_unique<const Error>(error);
  } catch (const std::bad_alloc&) {  // then the end has no reason
  }
}

// With early sends, and with mutex_: what is posted stays, and waits for another connection. The caller destroys the
// result without mutex_.
std::shared_ptr<Stream> QueuePairState::give_up_stream() {
  attempt_.reset();
  stream_error_.reset();
  ended_by_.reset();
  untold_.reset();
  state_ = QpState::kInit;
  return std::exchange(stream_, nullptr);
}

// As on an adapter, which does not hear of it: receives stay, and the next send finds that the peer is absent.
bool QueuePairState::peer_left() {
  std::shared_ptr<Stream> old;
  const std::lock_guard lock(mutex_);
  if (!early_.accepted || (state_ != QpState::kRts && state_ != QpState::kSqd)) return false;
  early_.held = state_ == QpState::kSqd;
  old = give_up_stream();
  return true;
}

void QueuePairState::leave_peer() {
  std::shared_ptr<Stream> running;
  {
    const std::lock_guard lock(mutex_);
    const QpState now = state_;
    const bool leaves = now == QpState::kRtr || now == QpState::kRts || now == QpState::kSqd;
    if (early_.accepted && leaves) running = stream_;
  }
  if (running) running->leave_peer();
}

bool QueuePairState::fall() { return end(std::unique_lock(mutex_)); }

bool QueuePairState::end(std::unique_lock<CompactMutex> lock) {
  if (early_.accepted && state_ == QpState::kRtr) {
    const auto old = give_up_stream();
    lock.unlock();
    return true;
  }
  attempt_.reset();
  state_ = QpState::kError;
  const bool last = !std::exchange(ended_.told, true);
  const auto untold = std::exchange(untold_, std::nullopt);
  const auto error = stream_error_ ? std::optional(*stream_error_) : std::nullopt;
  lock.unlock();
  {
    const std::lock_guard no_reset(flushing_);
    flush_early();
  }
  if (untold) raise(*untold, error);  // the queue pair is in ERROR before it is told
  if (!shares_receives()) {
    flush_receives();
  } else if (last) {
    raise(AsyncEventType::kLastWqeReached);
  }
  return false;
}

void QueuePairState::drained() {
  Draining was{};
  {
    const std::lock_guard lock(mutex_);
    was = std::exchange(draining_, Draining::kNone);
  }
  if (was == Draining::kTold) raise(AsyncEventType::kSendQueueDrained);
}

void QueuePairState::raise(AsyncEventType type, std::optional<StreamError> error) const {
  domain->device->raise({.type = type, .number = number, .context = attributes.context, .error = error});
}

bool QueuePairState::report_stall(StreamWait wait, Instant now) const {
  return domain->device->raise_stall(
      {.type = AsyncEventType::kStreamStalled, .number = number, .context = attributes.context, .waits_for = wait},
      now);
}

std::uint32_t QueuePairState::vendor_error() const {
  const std::lock_guard lock(mutex_);
  if (!stream_error_) return 0;
  return static_cast<std::uint32_t>(stream_error_->layer << 16 | stream_error_->type << 8 | stream_error_->code);
}

void QueuePairState::enter_error(From from) {
  std::shared_ptr<Stream> running;
  std::shared_ptr<StreamObserver> attempt;
  {
    const std::lock_guard lock(mutex_);
    const QpState now = state_;
    if (from == From::kUnconnected && now != QpState::kReset && now != QpState::kInit && now != QpState::kRtr) return;
    early_.end = from == From::kUnconnected ? WcStatus::kRetryExceeded : WcStatus::kFlushed;
    running = stream_;
    attempt = attempt_.lock();
    state_ = QpState::kError;
  }
  if (running) running->abort();  // flushes in order, and calls fall()
  static_cast<void>(fall());      // for a stream that is not there yet, or was not the last attempt's
  if (attempt) attempt->on_queue_pair_lost();
}

// What was posted and never taken. Not what is posted after a RESET that came in between.
void QueuePairState::flush_receives() {
  const std::lock_guard no_reset(flushing_);
  if (state_ != QpState::kError) return;
  while (const auto receive = receives->take({})) {
    complete_receive({.wr_id = receives->complete(receive->buffer.cookie),
                      .status = WcStatus::kFlushed,
                      .opcode = WcOpcode::kReceive,
                      .qp_num = number});
  }
}

}  // namespace weft::verbs::detail
