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
#include "verbs/stream/link_events.hpp"
#include "verbs/stream/stall_watch.hpp"

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
bool Link::pump(Instant now) {
  bool heard = false;
  while (pump_one(now)) heard = true;
  if (life_.overflow == StreamLife::Overflow::kSeen) LinkEvents(*this, now).give_up_after_overflow();
  if (life_.fails() && !life_.queue_pair_told) report_failure();
  return heard;
}

// The queue pair is in ERROR from now on, not only when the peer has closed. What the engine still held of its receives
// was told before, and so the others are flushed after them.
void Link::report_failure() {
  if (qp_ && !std::exchange(life_.queue_pair_told, true)) end_queue_pair();
}

bool Link::pump_one(Instant now) {
  if (!engine_.has_events()) return false;
  auto event = engine_.poll_event();
  std::visit([handler = LinkEvents(*this, now)](auto& kind) mutable { handler.on(kind); }, *event);
  return true;
}

// What the queue pair's user hears of the end, unless it was told an error.
void Link::end_by(Errc code, std::string_view reason, int os_error) {
  if (qp_ && !life_.fails()) qp_->ended_by({code, "connection", reason, os_error});
}

// A completion is lost: the application cannot know any more what was done. Only this stream is affected
// (RDMAP-8.1.1-11, SEC-6.4.6-01).
void LinkEvents::give_up_after_overflow() {
  link_.life_.overflow = StreamLife::Overflow::kEnded;
  link_.engine_.abort(now_);
  while (link_.pump_one(now_)) {
  }
  if (link_.qp_) link_.qp_->raise(AsyncEventType::kQueuePairFatal);  // the queue pair is in ERROR before it is told
}

// --- Startup

void LinkEvents::on(engine::ConnectionRequested& event) {
  if (link_.observer_) link_.observer_->on_requested(std::move(event));
  link_.host_.on_requested();
}

// Nothing has been sent yet, and an FPDU that came with the Reply was too early to be placed (MPA-7.1.2-17).
void LinkEvents::refuse_reply() {
  const engine::StartupFailed refused{
      .report = {.sentence = "its private data are not those of the peer that the application expects"}};
  if (link_.observer_->on_startup_failed(refused, {})) link_.let_go();
  link_.life_.reach(Stage::kFailing);
  link_.engine_.abort(now_);
}

void LinkEvents::on(engine::Established& event) {
  if (link_.initiates_ && link_.observer_ && !link_.observer_->admits_reply(event.private_data)) return refuse_reply();
  link_.life_.reach(Stage::kEstablished);
  link_.witness_->on(event);
  // The peer keeps to its own ORD, even if this end admits more; `ord` is within the peer's IRD already.
  if (event.peer_ord) event.ird = std::min<std::uint32_t>(event.ird, *event.peer_ord);
  link_.host_.on_established();
  ServedQueuePair::Beginning begins;
  if (link_.qp_) {
    begins = link_.qp_->established({.revision = event.revision,
                                     .enhanced = event.enhanced,
                                     .crc = event.crc,
                                     .markers_in = event.markers_in,
                                     .markers_out = event.markers_out,
                                     .ird = event.ird,
                                     .ord = event.ord,
                                     .rtr = to_rtr(event.rtr)});
  }
  if (link_.observer_) link_.observer_->on_established(event);
  if (begins.held) link_.drain(true);
  link_.post_early(std::move(begins.sends), now_);
}

void LinkEvents::on(engine::Rejected& event) {
  const bool retry = link_.observer_ && link_.observer_->on_rejected(std::move(event));
  if (retry) link_.let_go();  // so that the end of this stream is not the end of the queue pair
}

void LinkEvents::on(const engine::StartupFailed& event) {
  link_.witness_->on(event);
  const auto pipe = link_.host_.failure();
  const bool goes_on = link_.observer_ && link_.observer_->on_startup_failed(event, pipe);
  const auto side = link_.initiates_ ? FailedStartup::kOurs : FailedStartup::kPeers;
  const auto which = goes_on && pipe.offer_refused            ? FailedStartup::kTriedByTcp
                     : goes_on && event.retry_with_revision_1 ? FailedStartup::kTriedWithRevision1
                                                              : side;
  log_startup_failure(link_.peer_, event.report, which, pipe.tls ? pipe.tls.message() : std::string(hint_of_startup()));
  if (goes_on) link_.let_go();         // as above
  link_.life_.reach(Stage::kFailing);  // a Terminate may be on its way (MPA2-8-01)
}

// What an administrator has to know of a startup that failed and whose engine knows nothing of TLS.
std::string_view LinkEvents::hint_of_startup() {
  if (!link_.host_.takes_octets()) return "the peer did not complete TLS's handshake";
  const bool staged = link_.inbox_.is_open() && !link_.inbox_.empty();
  return staged && transport::tls::looks_like_tls(link_.inbox_.staged()) ? "the peer uses TLS, and this end has tls=off"
                                                                         : "";
}

// --- Completions

// Returns the vendor error of the work request at fault, as far as a Terminate names it.
std::uint32_t LinkEvents::vendor_error(WcStatus status) const {
  return status == WcStatus::kSuccess || status == WcStatus::kFlushed ? 0 : link_.qp_->vendor_error();
}

void LinkEvents::on(const engine::SendCompleted& event) {
  auto& sends = link_.sends_;
  if (row(sends.in_work().opcode).operation == engine::Operation::kLocal) link_.memory_.finish_local(event.cookie);
  if (event.status != engine::WorkStatus::kSuccess) link_.life_.reach(Stage::kFailing);
  if (!sends.complete(event, link_.life_.fails(), link_.engine_)) return;
  while (const auto send = sends.take()) complete_send(*send);
}

void LinkEvents::complete_send(const OutstandingSend& send) {
  if (!link_.qp_ || send.kind == OutstandingSend::Kind::kConfirmation) return;
  const WcStatus status = to_status(send.status, send.opcode);
  if (status == WcStatus::kSuccess && !send.signaled) return;
  const bool kept = link_.qp_->complete_send({.wr_id = send.wr_id,
                                              .status = status,
                                              .opcode = row(send.opcode).completion,
                                              .byte_len = send.length,
                                              .qp_num = link_.qp_->number,
                                              .vendor_error = vendor_error(status)});
  if (!kept) StreamLife::advance(link_.life_.overflow, StreamLife::Overflow::kSeen);
}

void LinkEvents::on(const engine::Received& event) {
  if (event.status != engine::WorkStatus::kSuccess) link_.life_.reach(Stage::kFailing);
  if (!link_.qp_) return link_.receives_->drop(event.cookie);
  complete_receive(link_.receives_->complete(event.cookie), event);
}

void LinkEvents::complete_receive(std::uint64_t wr_id, const engine::Received& event) {
  WorkCompletion completion{
      .wr_id = wr_id,
      .status = to_status(event.status, SendOpcode::kSend),
      .opcode = event.immediate && !event.combined ? WcOpcode::kReceiveImmediate : WcOpcode::kReceive,
      .solicited = event.solicited,
      .with_immediate = event.immediate.has_value(),
      .with_invalidate = event.invalidated.has_value(),
      .byte_len = static_cast<std::uint32_t>(std::min(event.length, kMostOctets)),
      .qp_num = link_.qp_->number};
  if (link_.life_.too_long && completion.status == WcStatus::kFlushed) completion.status = WcStatus::kLocalLengthError;
  completion.vendor_error = vendor_error(completion.status);
  if (event.immediate) completion.immediate = *event.immediate;
  if (event.invalidated) completion.invalidated_rkey = event.invalidated->value;
  if (!link_.qp_->complete_receive(completion)) StreamLife::advance(link_.life_.overflow, StreamLife::Overflow::kSeen);
}

void LinkEvents::on(const engine::ReceiveStalled& event) {
  log_stall(link_.subject(), event, link_.patience_.no_receive);
  if (auto* const stalls = link_.witness_->stalls()) stalls->begin_anew();
}

// --- Errors and the end

void LinkEvents::report_error(const StreamError& error, AsyncEventType type) {
  log_stream_error(link_.subject(), error);
  if (link_.qp_) link_.qp_->stream_error(error, type);
}

void LinkEvents::on(const engine::ProtocolError& event) {
  link_.witness_->on(event);
  const auto& report = event.report;
  link_.life_.reach(Stage::kFailing);
  link_.life_.too_long = report.error() == rdmap::error_code(ddp::UntaggedError::kTooLong);
  report_error(to_stream_error(report, false), kind_of_request_error(report));
}

void LinkEvents::on(const engine::TerminateReceived& event) {
  link_.life_.reach(Stage::kFailing);
  link_.witness_->on(event);
  if (event.known_departure) {
    log_remark(link_.subject(),
               {"the Terminate's fields are laid out as Linux siw does, not as RFC 5040 section 4.8 says",
                event.report.stream_offset});
  }
  if (event.report.error() == rdmap::kLocalCatastrophic && !event.inside_message) link_.try_without_peer();
  StreamError error = to_stream_error(event.report, true);
  error.of_completed_write = event.of_completed_write;
  report_error(error, AsyncEventType::kQueuePairFatal);
}

void LinkEvents::on(const engine::TimedOut& event) {
  const bool idle = event.what == engine::TimedOut::What::kIdle;
  link_.end_by(Errc::kTimedOut, idle ? "no octet moved for longer than the policy's idle_timeout"
                                     : "the peer accepted no octet for longer than the policy's window_timeout");
  if (idle) link_.life_.reach(Stage::kClosing);
  link_.witness_->say(idle ? "idle for too long: FIN after what was sent" : "its window was closed for too long");
}

// The peer sends nothing more: finish what is posted, then close this direction too (RDMAP-6.2-02).
void LinkEvents::on(const engine::PeerClosed&) {
  link_.try_without_peer();
  link_.end_by(Errc::kDisconnected, "the peer closed the connection");
  link_.close(now_);
}

void LinkEvents::on(const engine::SendQueueDrained&) {
  if (link_.qp_) link_.qp_->drained();
}

void LinkEvents::on(const engine::Closed& event) {
  link_.life_.reach(Stage::kClosed);
  link_.witness_->closed(event.graceful ? "by both ends" : "before both ends had closed it");
  link_.end_queue_pair();
  if (link_.life_.finished()) link_.report_end();
}

void LinkEvents::on(const engine::Remark& event) { log_remark(link_.subject(), event); }

}  // namespace weft::verbs::detail
