// SPDX-License-Identifier: Apache-2.0
#include "verbs/objects/queue_pair_state.hpp"

#include <algorithm>
#include <limits>
#include <new>
#include <utility>

#include "verbs/base/send_opcodes.hpp"
#include "verbs/memory/region_state.hpp"
#include "verbs/objects/argument_checks.hpp"
#include "verbs/stream/stream.hpp"

namespace weft::verbs::detail {

QueuePairState::QueuePairState(Parts made_of, const QueuePairAttributes& wanted, QueuePairNumber given,
                               Quota::Share share)
    : ServedQueuePair(wanted.number != 0 ? wanted.number : given.value(), wanted, std::move(made_of.domain),
                      std::move(made_of.receives), drivers_of(*made_of.send_cq, *made_of.receive_cq)),
      stags_(std::move(made_of.stags)),
      send_cq_(std::move(made_of.send_cq)),
      receive_cq_(std::move(made_of.receive_cq)),
      shared_places_(wanted.srq != nullptr ? &receives->places_in(receive_cq_) : nullptr),
      receive_places_(wanted.max_receive_wr),
      send_places_(wanted.max_send_wr),
      held_(std::move(given)),
      share_(std::move(share)) {}

std::shared_ptr<Stream> QueuePairState::stream() const {
  const std::lock_guard lock(mutex_);
  return stream_;
}

// --- The application

Result<void> QueuePairState::modify(QpState to, bool tell_drained) {
  if (to == QpState::kError) return enter_error(From::kAnyState), Result<void>{};
  if (to == QpState::kReset) return reset();
  if (const auto newly = hold_early(to)) {
    if (*newly && tell_drained) raise(AsyncEventType::kSendQueueDrained);
    return {};
  }
  const auto moved = move(to, tell_drained);
  if (moved && *moved) (*moved)->drain(to == QpState::kSqd);
  if (!moved) return std::unexpected(moved.error());
  return {};
}

void QueuePairState::accept_early_sends() {
  const std::lock_guard lock(mutex_);
  early_.accepted = true;
}

void QueuePairState::extend(const Extensions& with) {
  const std::lock_guard lock(mutex_);
  early_.extensions.combine_immediate |= with.combine_immediate;
  early_.extensions.confirm_writes |= with.confirm_writes;
  early_.extensions.peer_rights = early_.extensions.peer_rights & with.peer_rights;
}

ServedQueuePair::Extensions QueuePairState::extensions() const {
  const std::lock_guard lock(mutex_);
  return early_.extensions;
}

void QueuePairState::give_up_connecting() { enter_error(From::kUnconnected); }

// SQD and RTS without a connection: no send is under way, and whether those that wait are to start with it changes.
// Returns nothing for another transition, and true if the state is SQD and the queue is drained.
std::optional<bool> QueuePairState::hold_early(QpState to) {
  const std::lock_guard lock(mutex_);
  const QpState now = state_;
  if (!early_.accepted || (now != QpState::kInit && now != QpState::kRtr)) return std::nullopt;
  if (to == QpState::kSqd) return !std::exchange(early_.held, true);
  if (to == QpState::kRts && std::exchange(early_.held, false)) return false;
  return std::nullopt;
}

// The transitions that keep the stream. Returns it when it has to be told.
Result<std::shared_ptr<Stream>> QueuePairState::move(QpState to, bool tell_drained) {
  const std::lock_guard lock(mutex_);
  const QpState from = state_;
  const bool initialise = from == QpState::kReset && to == QpState::kInit;
  const bool drain = from == QpState::kRts && to == QpState::kSqd;
  const bool resume = from == QpState::kSqd && to == QpState::kRts;
  if (from == to) return nullptr;
  if (!initialise && !drain && !resume) return fail(Errc::kInvalidState, "state", "no such transition of a queue pair");
  state_ = to;
  draining_ = !drain ? Draining::kNone : tell_drained ? Draining::kTold : Draining::kUntold;
  return stream_;
}

Result<void> QueuePairState::reset() {
  std::shared_ptr<Stream> old;
  {
    const std::lock_guard lock(mutex_);
    if (!attempt_.expired()) return fail(Errc::kInvalidState, "state", "a connection is being established");
    old = std::exchange(stream_, nullptr);
  }
  if (old) old->release_queue_pair();
  revoke_stream(*stags_, identity);
  const std::lock_guard no_flush(flushing_);
  while (const auto receive = shares_receives() ? std::nullopt : receives->take({})) {
    receives->drop(receive->buffer.cookie);
  }
  discard_completions();
  send_cq_->release_all(send_places_);
  if (!shares_receives()) receives->released(receive_cq_->release_all(receive_places_));
  Early discarded;
  const std::lock_guard lock(mutex_);
  std::swap(discarded, early_);
  draining_ = Draining::kNone;
  negotiated_.reset();
  stream_error_.reset();
  ended_by_.reset();
  untold_.reset();
  ended_ = {};
  state_ = QpState::kReset;
  return {};
}

// Discards once per queue. discard() is lazy: the queue removes the marked completions in batches.
void QueuePairState::discard_completions() {
  send_cq_->discard(number);
  if (receive_cq_ != send_cq_) receive_cq_->discard(number);
}

void QueuePairState::destroy() {
  std::shared_ptr<Stream> old;
  std::shared_ptr<StreamObserver> attempt;
  {
    const std::lock_guard lock(mutex_);
    old = std::exchange(stream_, nullptr);
    attempt = std::exchange(attempt_, {}).lock();
    state_ = QpState::kError;
  }
  try {
    if (old) old->release_queue_pair();
  } catch (const std::bad_alloc&) {
    old->run_out_of_memory();
  }
  revoke_stream(*stags_, identity);
  try {
    if (attempt) attempt->on_queue_pair_lost();
  } catch (const std::bad_alloc&) {  // nothing tells the program that its connection fails; its queue pair is gone
  }
  discard_completions();
  EarlySends discarded;
  const std::lock_guard lock(mutex_);
  std::swap(discarded, early_.sends);
  held_.reset();  // after discard_completions(): what the queues hold under this number is its next owner's
  share_.drop();  // now, for another thread may still hold this object for a moment
}

// In RTR there is a stream to post to once the connection was accepted: the engine knows.
PostResult QueuePairState::post_send(std::span<const SendRequest> requests) {
  QpState state = state_.load();
  if (state == QpState::kInit || state == QpState::kRtr) {
    if (auto posted = post_early(requests)) return std::move(*posted);
    state = state_.load();
  }
  std::shared_ptr<Stream> to;
  if (state != QpState::kReset && state != QpState::kInit) to = stream();
  if (to) {
    const auto posted = to->post(requests);
    const bool early =
        state == QpState::kRtr && posted && !*posted && posted->error().error.code == Errc::kDisconnected;
    if (posted && !early) return *posted;
    if (auto waiting = post_early(requests)) return std::move(*waiting);  // the peer has left meanwhile
  }
  return flush_sends(requests);
}

// In the same lock as established(), which hands over all that waits: what is posted later finds RTS, and the stream
// takes it after them.
std::optional<PostResult> QueuePairState::post_early(std::span<const SendRequest> requests) {
  const std::lock_guard lock(mutex_);
  const QpState state = state_;
  if (!early_.accepted || (state != QpState::kInit && state != QpState::kRtr)) return std::nullopt;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    if (!has_send_room(early_.sends.size())) return std::unexpected(PostFailure{full_send_queue(), i});
    if (const auto added = early_.sends.add(requests[i], attributes); !added) {
      return std::unexpected(PostFailure{added.error(), i});
    }
  }
  return PostResult{};
}

// What waited for the connection is flushed before what is posted in ERROR.
void QueuePairState::flush_early() {
  EarlySends waiting;
  WcStatus status{};
  {
    const std::lock_guard lock(mutex_);
    if (state_ != QpState::kError) return;
    std::swap(waiting, early_.sends);
    status = early_.end;
  }
  for (; !waiting.empty(); waiting.pop()) {
    fail_send(waiting.front(), std::exchange(status, WcStatus::kFlushed));
  }
}

// No stream is there to do it; and none comes, for RESET has to come first.
PostResult QueuePairState::flush_sends(std::span<const SendRequest> requests) {
  const std::lock_guard no_reset(flushing_);
  if (state_ != QpState::kError) {
    return std::unexpected(PostFailure{
        {Errc::kInvalidState, "queue pair", "sends need a connected queue pair (accepted, RTS, SQD or ERROR)"}, 0});
  }
  flush_early();
  for (std::size_t i = 0; i < requests.size(); ++i) {
    if (!has_send_room(0)) return std::unexpected(PostFailure{full_send_queue(), i});
    fail_send(requests[i], WcStatus::kFlushed);
  }
  return {};
}

bool QueuePairState::has_send_room(std::size_t unfinished) noexcept {
  const auto held = [&] { return unfinished + send_places_.count(); };
  if (held() >= attributes.max_send_wr) send_cq_->release(send_places_);
  return held() < attributes.max_send_wr;
}

bool QueuePairState::complete_send(const WorkCompletion& completion) {
  if (completion.status == WcStatus::kSuccess) [[likely]]
    return send_cq_->push(completion, &send_places_);
  WorkCompletion failed = completion;
  failed.status = status_of_failed(completion.status);
  return send_cq_->push(failed, &send_places_);
}

// As on an adapter, which tries the oldest send in vain when the peer has gone, and finds what the peer refuses. A Send
// that found no receive has completed, unless TCP has not taken all of it: then the peer's Terminate names it.
WcStatus QueuePairState::status_of_failed(WcStatus status) {
  const std::lock_guard lock(mutex_);
  if (ended_.failed_sends != std::numeric_limits<std::uint16_t>::max()) ++ended_.failed_sends;
  const auto of_oldest = std::exchange(early_.of_oldest, std::nullopt);
  const bool unready = of_oldest == WcStatus::kRnrRetryExceeded && status == WcStatus::kRemoteOperationError;
  return status == WcStatus::kFlushed || unready ? of_oldest.value_or(status) : status;
}

bool QueuePairState::complete_receive(const WorkCompletion& completion) {
  const bool kept = receive_cq_->push(completion, shares_receives() ? shared_places_ : &receive_places_);
  if (!kept) receives->released(1);
  return kept;
}

void QueuePairState::fail_send(const SendRequest& request, WcStatus status) {
  complete_send({.wr_id = request.wr_id, .status = status, .opcode = row(request.opcode).completion, .qp_num = number});
}

PostResult QueuePairState::post_receive(std::span<const ReceiveRequest> requests) {
  if (const auto fine = check_receives(attributes, state_); !fine) return fine;
  const auto result = receives->post(requests, {receive_cq_.get(), &receive_places_});
  if (state_ == QpState::kError) flush_receives();  // after posting: the state may have changed in between
  return result;
}

std::uint32_t QueuePairState::send_room() const {
  send_cq_->release(send_places_);
  std::shared_ptr<Stream> running;
  std::size_t held = send_places_.count();
  {
    const std::lock_guard lock(mutex_);
    running = stream_;
    held += early_.sends.size();
  }
  if (running) held += running->sends_unfinished();
  return attributes.max_send_wr - static_cast<std::uint32_t>(std::min<std::size_t>(held, attributes.max_send_wr));
}

QueuePairQuery QueuePairState::query() const {
  const std::lock_guard lock(mutex_);
  return {.state = state_,
          .max_send_wr = attributes.max_send_wr,
          .max_receive_wr = attributes.max_receive_wr,
          .max_send_sge = attributes.max_send_sge,
          .max_receive_sge = attributes.max_receive_sge,
          .max_inline = attributes.max_inline,
          .signal_all = attributes.signal_all,
          .draining = state_ == QpState::kSqd && draining_ != Draining::kNone,
          .failed_sends = ended_.failed_sends,
          .negotiated = negotiated_,
          .stream_error = stream_error_ ? std::optional(*stream_error_) : std::nullopt,
          .end = ended_by_ ? std::optional(*ended_by_) : std::nullopt};
}

}  // namespace weft::verbs::detail
