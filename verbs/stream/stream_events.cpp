// SPDX-License-Identifier: Apache-2.0
// What the engine says, and what becomes of it: completions, asynchronous events, news for the connection manager.
#include <algorithm>
#include <limits>
#include <string>
#include <utility>
#include <variant>

#include "transport/tls/fault.hpp"
#include "verbs/base/send_opcodes.hpp"
#include "verbs/log/log.hpp"
#include "verbs/stream/stall_watch.hpp"
#include "verbs/stream/stream.hpp"

namespace weft::verbs::detail {

namespace {

StreamError to_stream_error(const engine::ErrorReport& report, bool remote) {
  return {.remote = remote,
          .layer = static_cast<std::uint8_t>(report.layer),
          .type = report.type,
          .code = report.code,
          .clause = report.clause,
          .sentence = report.sentence,
          .stream_offset = report.stream_offset};
}

Rtr to_rtr(std::optional<mpa::Rtr> rtr) noexcept {
  if (!rtr) return Rtr::kNone;
  switch (*rtr) {
    case mpa::Rtr::kSend: return Rtr::kSend;
    case mpa::Rtr::kWrite: return Rtr::kWrite;
    case mpa::Rtr::kRead: return Rtr::kRead;
  }
  return Rtr::kNone;
}

AsyncEventType kind_of_request_error(const engine::ErrorReport& report) noexcept {
  return rdmap::refuses_memory(report.error()) ? AsyncEventType::kQueuePairAccessError
                                               : AsyncEventType::kQueuePairRequestError;
}

WcStatus to_status(engine::WorkStatus status, SendOpcode opcode) noexcept {
  switch (status) {
    case engine::WorkStatus::kSuccess: return WcStatus::kSuccess;
    case engine::WorkStatus::kLocalProtection:
      return opcode == SendOpcode::kBindWindow ? WcStatus::kWindowBindError : WcStatus::kLocalProtectionError;
    case engine::WorkStatus::kRemoteAccess: return WcStatus::kRemoteAccessError;
    case engine::WorkStatus::kRemoteOperation: return WcStatus::kRemoteOperationError;
    case engine::WorkStatus::kBadResponse: return WcStatus::kBadResponse;
    case engine::WorkStatus::kFlushed: return WcStatus::kFlushed;
  }
  return WcStatus::kGeneralError;
}

constexpr std::uint64_t kMostOctets = std::numeric_limits<std::uint32_t>::max();

}  // namespace

// False when there was nothing to hear.
bool Stream::pump() {
  bool heard = false;
  while (pump_one()) heard = true;
  if (life_.overflowed && !life_.gave_up) give_up_after_overflow();
  if (life_.fails() && !life_.queue_pair_told) tell_failure();
  return heard;
}

// The queue pair is in ERROR from now on, not only when the peer has closed. What the engine still held of its receives
// was told before, and so the others are flushed after them.
void Stream::tell_failure() {
  if (qp_ && !std::exchange(life_.queue_pair_told, true)) qp_->fall();
}

// A completion is lost: the application cannot know any more what was done. Only this stream is affected
// (RDMAP-8.1.1-11, SEC-6.4.6-01).
void Stream::give_up_after_overflow() {
  life_.gave_up = true;
  engine_.abort(now());
  while (pump_one()) {
  }
  if (qp_) qp_->raise(AsyncEventType::kQueuePairFatal);  // the queue pair is in ERROR before it is told
}

bool Stream::pump_one() {
  if (!engine_.has_events()) return false;
  auto event = engine_.poll_event();
  std::visit([this](auto& kind) { on(kind); }, *event);
  return true;
}

// --- Start-up

void Stream::on(engine::ConnectionRequested& event) {
  if (observer_) observer_->on_requested(std::move(event));
  watch_.move_to(runtime_.progress_threads().of(number()));  // the thread that serves it for good
}

void Stream::on(engine::Established& event) {
  life_.reach(Stage::kEstablished);
  witness_->on(event);
  // The peer keeps to its own ORD, even if this end admits more; `ord` is within the peer's IRD already.
  if (event.peer_ord) event.ird = std::min<std::uint32_t>(event.ird, *event.peer_ord);
  if (wake_up_) runtime_.forget_wake_up(number(), *std::exchange(wake_up_, std::nullopt));  // it was the start-up's
  if (qp_) {
    qp_->established({.revision = event.revision,
                      .enhanced = event.enhanced,
                      .crc = event.crc,
                      .markers_in = event.markers_in,
                      .markers_out = event.markers_out,
                      .ird = event.ird,
                      .ord = event.ord,
                      .rtr = to_rtr(event.rtr)});
  }
  if (observer_) observer_->on_established(event);
}

void Stream::on(engine::Rejected& event) {
  const bool retry = observer_ && observer_->on_rejected(std::move(event));
  if (retry) release_locked();  // so that the end of this stream is not the end of the queue pair
}

void Stream::on(const engine::StartupFailed& event) {
  witness_->on(event);
  const auto tls = pipe_.failure();
  const bool retry = observer_ && observer_->on_startup_failed(event, tls);
  const auto side = origin_.initiator ? FailedStartup::kOurs : FailedStartup::kPeers;
  log_startup_failure(peer_, event.report, retry ? FailedStartup::kTriedAgain : side,
                      tls ? tls.message() : std::string(hint_of_startup()));
  if (retry) release_locked();   // as above
  life_.reach(Stage::kFailing);  // a Terminate may be on its way (MPA2-8-01)
}

// What an administrator has to know of a start-up that failed and whose engine knows nothing of TLS.
std::string_view Stream::hint_of_startup() {
  if (!pipe_.takes_octets()) return "the peer did not complete TLS's handshake";
  const bool staged = inbox_.is_open() && !inbox_.empty();
  return staged && transport::tls::looks_like_tls(inbox_.staged())
             ? "the peer speaks TLS, and this end does not: tls=off"
             : "";
}

// --- Completions

// Of the work request that is to blame, as far as a Terminate says.
std::uint32_t Stream::vendor_error(WcStatus status) const {
  return status == WcStatus::kSuccess || status == WcStatus::kFlushed ? 0 : qp_->vendor_error();
}

void Stream::on(const engine::SendCompleted& event) {
  const SendSlot slot = sends_.slots.pop();
  if (row(slot.opcode).operation == engine::Operation::kLocal) memory_.finish_local(event.cookie);
  if (event.status != engine::WorkStatus::kSuccess) life_.reach(Stage::kFailing);
  if (qp_) complete_send(slot, event);
  while (!sends_.slots.empty() && sends_.slots.front().late) {
    const SendSlot late = sends_.slots.pop();
    if (qp_) complete_send(late, {.status = engine::WorkStatus::kFlushed});
  }
}

void Stream::complete_send(const SendSlot& slot, const engine::SendCompleted& event) {
  const WcStatus status = to_status(event.status, slot.opcode);
  if (status == WcStatus::kSuccess && !slot.signaled) return;
  const bool kept = qp_->complete_send({.wr_id = slot.wr_id,
                                        .status = status,
                                        .opcode = row(slot.opcode).completion,
                                        .byte_len = static_cast<std::uint32_t>(event.length),
                                        .qp_num = qp_->number,
                                        .vendor_error = vendor_error(status)});
  if (!kept) life_.overflowed = true;
}

void Stream::on(const engine::Received& event) {
  if (event.status != engine::WorkStatus::kSuccess) life_.reach(Stage::kFailing);
  if (!qp_) return receives_->drop(event.cookie);
  complete_receive(receives_->complete(event.cookie), event);
}

void Stream::complete_receive(std::uint64_t wr_id, const engine::Received& event) {
  WorkCompletion completion{.wr_id = wr_id,
                            .status = to_status(event.status, SendOpcode::kSend),
                            .opcode = event.immediate ? WcOpcode::kReceiveImmediate : WcOpcode::kReceive,
                            .solicited = event.solicited,
                            .with_immediate = event.immediate.has_value(),
                            .with_invalidate = event.invalidated.has_value(),
                            .byte_len = static_cast<std::uint32_t>(std::min(event.length, kMostOctets)),
                            .qp_num = qp_->number};
  if (life_.too_long && completion.status == WcStatus::kFlushed) completion.status = WcStatus::kLocalLengthError;
  completion.vendor_error = vendor_error(completion.status);
  if (event.immediate) completion.immediate = *event.immediate;
  if (event.invalidated) completion.invalidated_rkey = event.invalidated->value;
  if (!qp_->complete_receive(completion)) life_.overflowed = true;
}

void Stream::on(const engine::ReceiveStalled& event) {
  log_stall(subject(), event, patience_.no_receive);
  if (auto* const stalls = witness_->stalls()) stalls->begin_anew();
}

// --- Errors and the end

Subject Stream::subject() const { return {qp_ ? qp_->number : 0, peer_}; }

void Stream::tell_error(const StreamError& error, AsyncEventType type) {
  log_stream_error(subject(), error);
  if (qp_) qp_->stream_error(error, type);
}

void Stream::on(const engine::ProtocolError& event) {
  witness_->on(event);
  const auto& report = event.report;
  life_.reach(Stage::kFailing);
  life_.too_long = report.error() == rdmap::error_code(ddp::UntaggedError::kTooLong);
  tell_error(to_stream_error(report, false), kind_of_request_error(report));
}

void Stream::on(const engine::TerminateReceived& event) {
  life_.reach(Stage::kFailing);
  witness_->on(event);
  if (event.known_departure) {
    log_remark(subject(), {"the Terminate's fields are laid out as Linux siw does, not as RFC 5040 section 4.8 says",
                           event.report.stream_offset});
  }
  tell_error(to_stream_error(event.report, true), AsyncEventType::kQueuePairFatal);
}

// What the queue pair's user hears of the end, unless it was told an error.
void Stream::end_by(Errc code, std::string_view reason, int os_error) {
  if (qp_ && !life_.fails()) qp_->ended_by({code, "connection", reason, os_error});
}

void Stream::on(const engine::TimedOut& event) {
  const bool idle = event.what == engine::TimedOut::What::kIdle;
  end_by(Errc::kTimedOut, idle ? "no octet moved for longer than the policy's idle_timeout"
                               : "the peer accepted no octet for longer than the policy's window_timeout");
  if (idle) life_.reach(Stage::kClosing);
  witness_->say(idle ? "idle for too long: FIN after what was sent" : "its window was closed for too long");
}

// The peer sends nothing more: finish what is posted, then close this direction too (RDMAP-6.2-02).
void Stream::on(const engine::PeerClosed&) {
  end_by(Errc::kDisconnected, "the peer closed the connection");
  close();
}

void Stream::on(const engine::SendQueueDrained&) {
  if (qp_) qp_->drained();
}

void Stream::on(const engine::Closed& event) {
  life_.reach(Stage::kClosed);
  witness_->closed(event.graceful ? "by both ends" : "before both ends had closed it");
  if (qp_) qp_->fall();
  if (life_.finished) tell_end();
}

// When nothing is left to do: the observer wants the stream's lock next, to let go of the queue pair.
void Stream::tell_end() {
  if (const auto observer = life_.is_closed() ? std::exchange(observer_, nullptr) : nullptr) observer->on_closed();
}

void Stream::on(const engine::Remark& event) { log_remark(subject(), event); }

}  // namespace weft::verbs::detail
