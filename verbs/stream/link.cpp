// SPDX-License-Identifier: Apache-2.0
// A link's start and end, and the calls of connection manager and queue pair.
#include "verbs/stream/link.hpp"

#include <algorithm>
#include <utility>

namespace weft::verbs::detail {

namespace {

engine::Config to_config(const Link::Setup& setup, std::uint32_t emss) {
  const Policy& policy = setup.policy;
  return {.role = setup.role,
          .mpa = {.revision = policy.startup.mpa_revision,
                  .crc = policy.startup.crc,
                  .markers = policy.startup.markers,
                  .enhanced = policy.startup.enhanced && policy.startup.mpa_revision >= 2,
                  .peer_to_peer =
                      policy.startup.peer_to_peer && policy.startup.enhanced && policy.startup.mpa_revision >= 2,
                  .rtr = policy.startup.rtr,
                  .ird = setup.ird,
                  .ord = setup.ord},
          .emss = emss != 0 ? emss : engine::Config{}.emss,
          .max_ulpdu = policy.startup.max_ulpdu,
          .send_queue_depth = setup.send_depth,
          .max_ird = Device::limits().max_ird,
          .no_receive = policy.startup.no_receive == NoReceive::kTerminate ? engine::NoReceive::kTerminate
                                                                           : engine::NoReceive::kStall,
          .early_placement = policy.startup.early_placement ? engine::Config{}.early_placement : 0,
          .startup_timeout = policy.timeouts.startup,
          .first_fpdu_delay = policy.timeouts.first_fpdu_delay,
          .fpdu_timeout = policy.timeouts.fpdu,
          .window_timeout = policy.timeouts.window,
          .idle_timeout = policy.timeouts.idle,
          .no_receive_timeout = policy.timeouts.no_receive,
          .finish_timeout = policy.timeouts.finish,
          .close_timeout = policy.timeouts.close};
}

Error to_error(engine::StartupError error) {
  switch (error) {
    case engine::StartupError::kWrongRole: return {Errc::kInvalidState, "connection", "the other role's call"};
    case engine::StartupError::kWrongState: return {Errc::kDisconnected, "connection", "the startup is over"};
    case engine::StartupError::kPrivateDataTooLong:
      return {Errc::kPrivateDataTooLong, "private_data", "more than 512 octets, or 508 with IRD and ORD"};
    case engine::StartupError::kIrdOrdOutOfRange:
      return {Errc::kInvalidArgument, "ird or ord", "out of range, or more than the peer can do"};
    case engine::StartupError::kBadPolicy: return {Errc::kInvalidArgument, "policy", "contradicts itself"};
  }
  return {Errc::kInvalidState, "connection", "startup failed"};
}

}  // namespace

Link::Link(LinkHost& host, std::shared_ptr<StagTable> stags, BufferPool& buffers, const Setup& setup,
           std::uint32_t emss, Witness::Pointer witness, Instant now)
    : host_(host),
      buffers_(buffers),
      patience_{.no_receive = std::chrono::duration_cast<Patience::Milliseconds>(setup.policy.timeouts.no_receive),
                .disconnect = std::chrono::duration_cast<Patience::Milliseconds>(setup.policy.timeouts.disconnect)},
      peer_(setup.peer),
      initiates_(setup.role == mpa::Role::kInitiator),
      origin_{.connection = setup.connection, .since = now},
      memory_(std::move(stags), setup.policy.startup.checked_memory),
      engine_(to_config(setup, emss), memory_, now),
      witness_(std::move(witness)),
      observer_(setup.observer),
      outbox_(witness_->captures()) {}

// --- The connection manager

void Link::attach(const QueuePair& qp, const std::weak_ptr<ReceiveWaiter>& waiter) {
  qp_ = qp;
  receives_ = qp->receives;
  const auto agreed = qp->extensions();
  if (agreed.combine_immediate) engine_.combine_immediate();
  sends_.confirm_writes(agreed.confirm_writes);
  memory_.attach({.domain = qp->domain->number, .rights = agreed.peer_rights, .stream = qp->identity}, qp->receives,
                 waiter);
}

Result<void> Link::connect(const QueuePair& qp, const std::weak_ptr<ReceiveWaiter>& waiter, Bytes private_data) {
  if (const auto begun = engine_.connect(private_data); !begun) return std::unexpected(to_error(begun.error()));
  attach(qp, waiter);
  return {};
}

Result<void> Link::accept(const QueuePair& qp, const std::weak_ptr<ReceiveWaiter>& waiter, Bytes private_data,
                          const engine::AcceptParameters& parameters) {
  const auto accepted = engine_.accept(private_data, parameters);
  if (!accepted) return std::unexpected(to_error(accepted.error()));
  attach(qp, waiter);
  return {};
}

Result<void> Link::reject(Bytes private_data) {
  if (const auto done = engine_.reject(private_data); !done) return std::unexpected(to_error(done.error()));
  return {};
}

bool Link::disconnect(Unfinished work, Instant now) {
  if (!StreamLife::advance(life_.disconnect.stage, StreamLife::DisconnectWait::Stage::kAsked)) return false;
  life_.disconnect.awaits_work = work == Unfinished::kAwait;
  life_.reach(Stage::kClosing);
  witness_->say("disconnect: what is posted goes out first");
  end_by(Errc::kDisconnected, "this end closed the connection");
  engine_.close(now);
  pump(now);
  return true;
}

// --- The wait for the peer after disconnect()

// What is under way takes a round trip to be acknowledged, and another one or two if a segment is lost.
void Link::begin_disconnect_wait(std::uint64_t moved, std::chrono::microseconds round_trip, Instant now) {
  auto& disconnect = life_.disconnect;
  using Wait = decltype(disconnect.wait);
  const auto wait = std::max<std::chrono::microseconds>(patience_.disconnect, 4 * round_trip);
  disconnect.wait = std::chrono::ceil<Wait>(std::min<std::chrono::microseconds>(wait, Wait::max()));
  disconnect.look_at = now + disconnect.wait;
  disconnect.moved = moved;
}

bool Link::disconnect_wait_is_due(Instant now) const noexcept { return life_.disconnect.look_at <= now; }

// Work that does not advance any more is flushed, as adapters do with all work, unless it is to be awaited. Octets that
// the socket took remain the kernel's to deliver, unless there is unfinished work after them. The user hears of the end
// now, whatever the peer does.
bool Link::check_disconnect_wait(std::uint64_t moved, Instant now) {
  auto& disconnect = life_.disconnect;
  disconnect.look_at = now + disconnect.wait;
  if (moved != std::exchange(disconnect.moved, moved)) return false;
  if (disconnect.awaits_work && !sends_.empty()) return false;
  const bool may_leave = sends_.empty() || inbox_.stalled;
  if (may_leave && StreamLife::advance(disconnect.stage, StreamLife::DisconnectWait::Stage::kPeerLeft)) {
    leave_peer(now);
  } else if (!sends_.empty()) {
    witness_->say("aborted: the peer takes nothing, and disconnect was asked for");
    engine_.abort(now);
    pump(now);
  }
  return true;
}

void Link::end_disconnect_wait() {
  if (!sends_.empty()) return;
  life_.disconnect.look_at = engine::kNever;
  report_failure();
  if (observer_) observer_->on_peer_closed();
}

void Link::leave_peer(Instant now) {
  life_.reach(Stage::kClosing);
  engine_.leave(now);
  pump(now);
  stop_waiting(now);  // drops what is staged
}

// --- The queue pair

bool Link::abort(Instant now) {
  if (life_.stage() >= Stage::kFailing && sends_.empty()) return false;
  witness_->say("aborted");
  end_by(Errc::kDisconnected, "this end aborted the connection");
  engine_.abort(now);
  pump(now);
  return true;
}

// What completed with success is not lost with its queue pair, as programs know it from adapters: TCP has the octets,
// but a reset would take them back. A close under way, or a Terminate on its way (RDMAP-6.2.1-05), goes on as well;
// unless work still uses the queue pair's memory.
void Link::leave_queue_pair(Instant now) {
  const bool leaves = sends_.empty() && life_.is_established();
  witness_->say(leaves ? "its queue pair is gone: FIN after what was sent" : "aborted: its queue pair is gone");
  if (leaves) {
    life_.reach(Stage::kClosing);
    life_.queue_pair_told = true;  // it has none to tell
    engine_.leave(now);
  } else {
    engine_.abort(now);
  }
  pump(now);
}

void Link::let_go() {
  memory_.detach();
  if (const auto qp = std::exchange(qp_, nullptr)) host_.on_let_go();
}

// The peer has gone, and no receive holds a part of a message.
void Link::try_without_peer() {
  if (qp_ && sends_.empty() && qp_->peer_left()) let_go();
}

void Link::end_queue_pair() {
  if (qp_ && qp_->fall()) let_go();
}

// --- The end

// What is posted goes out first.
void Link::close(Instant now) {
  life_.reach(Stage::kClosing);
  engine_.close(now);
}

void Link::deadline_passed(Instant now) {
  engine_.deadline_passed(now);
  pump(now);
}

void Link::finish() {
  life_.socket = StreamLife::Socket::kClosed;
  memory_.drop_leases();
  outbox_.close(buffers_);
  inbox_.close(buffers_);
  let_go();
}

void Link::close_at_once() {
  life_.reach(Stage::kClosed);
  end_queue_pair();
}

void Link::abandon() noexcept {
  life_.reach(Stage::kClosed);
  life_.socket = StreamLife::Socket::kClosed;
}

// When nothing is left to do: the observer wants the stream's lock next, to let go of the queue pair.
void Link::report_end() {
  if (const auto observer = life_.is_closed() ? std::exchange(observer_, nullptr) : nullptr) observer->on_closed();
}

}  // namespace weft::verbs::detail
