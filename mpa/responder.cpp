// SPDX-License-Identifier: Apache-2.0
// The responder of an MPA connection: judges the Request, waits for the ULP's verdict, sends the Reply.
#include "mpa/negotiation.hpp"
#include "mpa/startup.hpp"

namespace weft::mpa {
namespace {

// MPA-7.1.1-20, MPA-7.1.1-21. Revision 1 is always accepted (MPA2-6-09, MPA2-10-06), revision 0 (RDMAC) never.
bool speaks(const Policy& policy, std::uint8_t revision) noexcept {
  return revision >= 1 && revision <= std::min(policy.revision, kHighestRevision);
}

RequestReceived received(const StartupFrame& request) noexcept {
  RequestReceived result{.revision = request.revision,
                         .markers_wanted = request.markers,
                         .crc_wanted = request.crc,
                         .enhanced = request.enhanced.has_value(),
                         .peer_ird = {},
                         .peer_ord = {},
                         .peer_to_peer = false,
                         .rtr_offered = {},
                         .private_data = request.private_data};
  if (!request.enhanced) return result;
  result.peer_ird = from_wire(request.enhanced->ird);  // MPA2-9.1-07
  result.peer_ord = from_wire(request.enhanced->ord);
  result.peer_to_peer = request.enhanced->peer_to_peer;
  if (result.peer_to_peer) result.rtr_offered = request.enhanced->rtr;  // MPA2-9.2-19
  return result;
}

}  // namespace

Responder::Step Responder::receive(Bytes octets) noexcept {
  if (phase_ == Phase::kDeciding && !octets.empty()) return fail(Fault::kSurplusAfterRequest);
  if (phase_ != Phase::kAwaitingRequest) return {};
  heard_ = heard_ || !octets.empty();
  const auto request = parse_startup_frame(octets, FrameKind::kRequest);
  if (!request) return fail(request.error());
  if (!*request) return {.consumed = 0, .outcome = NeedMore{missing_octets(octets)}};    // MPA-7.1.2-03
  if (!speaks(policy_, (*request)->revision)) return fail(Fault::kUnsupportedRevision);  // MPA2-10-03, MPA2-10-10
  if (octets.size() > (*request)->size()) return fail(Fault::kSurplusAfterRequest);      // MPA-7.1.1-25, MPA-7.1.2-29
  request_ = received(**request);
  advance(Trigger::kRequest);
  const Step step{.consumed = (*request)->size(), .outcome = request_};
  request_.private_data = {};  // it will not outlive the caller's octets
  return step;
}

// The Reply without a verdict. It answers revision for revision, and enhanced for enhanced (MPA2-10-02, MPA2-10-04,
// MPA2-10-08, MPA2-10-09). Private data may be absent in either verdict (MPA-7.1.2-06, MPA-7.1.2-10).
StartupFrame Responder::reply_frame(Bytes private_data) const noexcept {
  return {.kind = FrameKind::kReply,
          .markers = policy_.markers,
          .crc = policy_.crc || request_.crc_wanted,  // what will be in force; siw, as initiator, looks here alone
          .reject = false,
          .reserved = 0,
          .revision = request_.revision,
          .enhanced = {},
          .private_data = private_data};
}

std::optional<Misuse> Responder::misuse(Bytes private_data, const Limits& own) const noexcept {
  if (phase_ != Phase::kDeciding) return Misuse::kWrongPhase;  // MPA-7.1.2-12
  if (own.ird > kNoNegotiation || own.ord > kNoNegotiation) return Misuse::kDepthOutOfRange;
  const std::size_t limit = request_.enhanced ? kMaxEnhancedPrivateData : kMaxPrivateData;
  return private_data.size() > limit ? std::optional(Misuse::kPrivateDataTooLong) : std::nullopt;
}

Responder::Limits Responder::limits(const Depths& depths) const noexcept {
  return {depths.ird.value_or(policy_.ird), depths.ord.value_or(policy_.ord)};
}

// RFC 6581 sections 9.1 and 9.2, as the responder does them (MPA2-9.3-02).
Agreement Responder::agree(const Limits& own) const noexcept {
  Agreement result{.revision = request_.revision,
                   .enhanced = request_.enhanced,
                   .crc = policy_.crc || request_.crc_wanted,  // MPA-7.1.1-11
                   .markers_in = policy_.markers,
                   .markers_out = request_.markers_wanted,
                   .ird = from_wire(own.ird),
                   .ord = ord_within(from_wire(own.ord), request_.peer_ird),
                   .peer_ird = request_.peer_ird,
                   .peer_ord = request_.peer_ord,
                   .peer_to_peer = request_.peer_to_peer,
                   .rtr = {},
                   .rtr_common = {},
                   .private_data = {}};
  if (!result.peer_to_peer) return result;
  const RtrTypes named = reply_types(policy_.rtr, request_.rtr_offered, result.ird);
  if (named.read && result.ird == 0) result.ird = 1;  // MPA2-9.1-09
  result.rtr_common = common(named, request_.rtr_offered);
  return result;
}

// MPA2-9.1-20, MPA2-9.1-22: what the initiator does not negotiate is answered in kind; else the Reply says what is in
// force (MPA2-9.1-04, MPA2-9.1-05).
EnhancedData Responder::reply_data(ReadDepth ird, ReadDepth ord, const Limits& own) const noexcept {
  EnhancedData data{.peer_to_peer = request_.peer_to_peer,  // MPA2-9.2-06, MPA2-9.2-17
                    .rtr = {},
                    .ird = request_.peer_ord ? to_wire(ird) : kNoNegotiation,
                    .ord = request_.peer_ird ? to_wire(ord) : kNoNegotiation};
  if (data.peer_to_peer) data.rtr = reply_types(policy_.rtr, request_.rtr_offered, from_wire(own.ird));
  return data;
}

std::expected<Responder::Reply, Misuse> Responder::accept(Bytes private_data, const Depths& depths) {
  const Limits own = limits(depths);
  if (const auto wrong = misuse(private_data, own)) return std::unexpected(*wrong);
  if (request_.peer_to_peer && !policy_.rtr.any()) return std::unexpected(Misuse::kNoRtrType);  // MPA2-9.2-05
  const Agreement agreement = agree(own);
  StartupFrame frame = reply_frame(private_data);
  if (request_.enhanced) frame.enhanced = reply_data(agreement.ird, agreement.ord, own);
  const Bytes octets = reply_.write(frame);  // MPA-7.1.2-09; without memory it can be asked again
  advance(Trigger::kAccept);
  return Reply{octets, agreement};
}

std::expected<Bytes, Misuse> Responder::reject(Bytes private_data, const Depths& depths) {
  const Limits own = limits(depths);
  if (const auto wrong = misuse(private_data, own)) return std::unexpected(*wrong);
  StartupFrame frame = reply_frame(private_data);
  frame.reject = true;  // MPA-7.1.2-05, MPA-7.1.2-21
  if (request_.enhanced) frame.enhanced = reply_data(from_wire(own.ird), from_wire(own.ord), own);
  const Bytes octets = reply_.write(frame);
  advance(Trigger::kReject);
  return octets;
}

Responder::Step Responder::fail(Fault fault) noexcept {
  advance(Trigger::kFault);
  return {.consumed = 0, .outcome = StartupFailure{fault, {}, false}};
}

void Responder::first_fpdu_received() noexcept { advance(Trigger::kFirstFpduReceived); }

StartupFailure Responder::closed() noexcept {
  const bool waiting = phase_ == Phase::kAwaitingRequest;
  advance(Trigger::kFault);
  if (!waiting) return {Fault::kConnectionLost, {}, false};
  return {heard_ ? Fault::kStartupCutShort : Fault::kClosedInStartup, {}, false};
}

StartupFailure Responder::timed_out() noexcept {
  advance(Trigger::kFault);
  return {Fault::kStartupTimeout, {}, false};  // MPA-7.1.2-26, MPA-7.1.2-31
}

void Responder::advance(Trigger trigger) noexcept { phase_ = step(phase_, trigger).value_or(phase_); }

}  // namespace weft::mpa
