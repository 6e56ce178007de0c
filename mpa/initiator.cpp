// SPDX-License-Identifier: Apache-2.0
// The initiator of an MPA connection: sends the Request, judges the Reply.
#include "mpa/negotiation.hpp"
#include "mpa/startup.hpp"

namespace weft::mpa {
namespace {

std::optional<Misuse> misuse_of(const Policy& policy, bool enhanced, Bytes private_data) noexcept {
  if (policy.revision < 1 || policy.revision > kHighestRevision) return Misuse::kRevision;
  if (policy.ird > kNoNegotiation || policy.ord > kNoNegotiation) return Misuse::kDepthOutOfRange;
  if (policy.peer_to_peer && !enhanced) return Misuse::kPeerToPeerNeedsEnhanced;
  if (policy.peer_to_peer && !policy.rtr.any()) return Misuse::kNoRtrType;
  const std::size_t limit = enhanced ? kMaxEnhancedPrivateData : kMaxPrivateData;  // MPA2-7-07
  return private_data.size() > limit ? std::optional(Misuse::kPrivateDataTooLong) : std::nullopt;
}

// MPA2-9.1-01, MPA2-9.1-03, MPA2-9.2-01, MPA2-9.2-02, MPA2-9.2-03, MPA2-9.2-04, MPA2-9.2-16, MPA2-9.2-18
EnhancedData enhanced_data(const Policy& policy) noexcept {
  return {.peer_to_peer = policy.peer_to_peer,
          .rtr = policy.peer_to_peer ? policy.rtr : RtrTypes{},
          .ird = policy.ird,
          .ord = policy.ord};
}

// What both frames say regardless of enhanced data.
Agreement base_agreement(const Policy& policy, const StartupFrame& reply) noexcept {
  return {.revision = reply.revision,
          .enhanced = reply.enhanced.has_value(),
          .crc = policy.crc || reply.crc,  // MPA-7.1.1-11
          .markers_in = policy.markers,
          .markers_out = reply.markers,
          .ird = from_wire(policy.ird),
          .ord = from_wire(policy.ord),
          .peer_ird = {},
          .peer_ord = {},
          .peer_to_peer = policy.peer_to_peer,
          .rtr = {},
          .rtr_common = {},
          .private_data = reply.private_data};
}

// RFC 6581 sections 9.1 and 9.2, as the initiator does them (MPA2-9.3-03).
Agreement enhanced_agreement(const Policy& policy, const StartupFrame& reply) noexcept {
  Agreement result = base_agreement(policy, reply);
  result.peer_ird = from_wire(reply.enhanced->ird);
  result.peer_ord = from_wire(reply.enhanced->ord);
  result.ord = ord_within(result.ord, result.peer_ird);
  if (!policy.peer_to_peer) return result;  // MPA2-9.2-19
  result.rtr_common = common(policy.rtr, reply.enhanced->rtr);
  result.rtr = choose(result.rtr_common, result.peer_ird);
  // The ready-to-receive Read is an outbound Read like any other. The responder has made room for it, though we asked
  // for none (MPA2-9.1-09), so that one is still at most its IRD (MPA2-9.1-06, MPA2-9.1-14).
  if (result.rtr == Rtr::kRead && result.ord == 0) result.ord = 1;
  return result;
}

// Does the Reply fit the Request? The rules that leave nothing to send a Terminate in.
std::optional<Fault> format_fault(const StartupFrame& reply, const Policy& policy, bool asked_enhanced) noexcept {
  if (asked_enhanced && !reply.enhanced) return Fault::kReplyNotEnhanced;  // MPA2-10-02
  if (!asked_enhanced && reply.enhanced) return Fault::kReplyEnhanced;     // MPA2-10-04, MPA2-10-09
  if (reply.enhanced && reply.enhanced->peer_to_peer != policy.peer_to_peer) return Fault::kModelNotMirrored;
  return std::nullopt;
}

// The rules that end in a Terminate: MPA2-9.1-15 and MPA2-9.1-16 with code 6, MPA2-9.2-13 and MPA2-9.2-14 with code 7.
std::optional<Fault> negotiation_fault(const Agreement& agreement) noexcept {
  if (!ird_suffices(agreement.ird, agreement.peer_ord)) return Fault::kInsufficientIrd;
  if (agreement.peer_to_peer && !agreement.rtr) return Fault::kNoMatchingRtr;
  return std::nullopt;
}

Rejection rejection(const StartupFrame& reply, const Policy& policy) noexcept {
  Rejection result{.peer_ird = {},
                   .peer_ord = {},
                   .retry_with_revision_1 = reply.revision < policy.revision,
                   .takes_no_rtr = false,
                   .private_data = reply.private_data};
  if (reply.enhanced) {  // MPA2-9.1-17
    result.peer_ird = from_wire(reply.enhanced->ird);
    result.peer_ord = from_wire(reply.enhanced->ord);
    result.takes_no_rtr = policy.peer_to_peer && reply.enhanced->peer_to_peer && !reply.enhanced->rtr.any();
  }
  return result;
}

}  // namespace

std::expected<Bytes, Misuse> Initiator::start(Bytes private_data) {
  if (phase_ != Phase::kIdle) return std::unexpected(Misuse::kWrongPhase);
  if (const auto misuse = misuse_of(policy_, asked_enhanced(), private_data)) return std::unexpected(*misuse);
  StartupFrame request{.kind = FrameKind::kRequest,
                       .markers = policy_.markers,
                       .crc = policy_.crc,  // on, unless the administrator says otherwise (MPA-1.2-06)
                       .reject = false,     // MPA-7.1.1-14
                       .reserved = 0,
                       .revision = policy_.revision,  // MPA-7.1.1-19, MPA2-6-08
                       .enhanced = {},
                       .private_data = private_data};
  if (asked_enhanced()) request.enhanced = enhanced_data(policy_);  // MPA2-10-01, MPA2-10-05: only when it is wanted
  const Bytes octets = request_.write(request);                     // MPA-7.1.2-01; without memory it has not started
  advance(Trigger::kStart);
  return octets;
}

Initiator::Step Initiator::receive(Bytes octets) noexcept {
  if (phase_ == Phase::kMustSendFirst && !octets.empty()) return fail(Fault::kSurplusAfterReply);
  if (phase_ != Phase::kAwaitingReply) return {};
  heard_ = heard_ || !octets.empty();
  const auto reply = parse_startup_frame(octets, FrameKind::kReply);
  if (!reply) return fail(reply.error());
  if (!*reply) return {.consumed = 0, .outcome = NeedMore{missing_octets(octets)}};  // MPA-7.1.2-13
  if ((*reply)->revision < 1 || (*reply)->revision > kHighestRevision)
    return fail(Fault::kUnsupportedRevision);  // MPA-7.1.1-20, MPA-C.2.2-01
  if ((*reply)->reject) {  // MPA-7.1.1-16; what follows a rejection belongs to the ULP (MPA-7.1.2-15)
    advance(Trigger::kReplyRejects);
    return {.consumed = (*reply)->size(), .outcome = rejection(**reply, policy_)};
  }
  return judge(**reply, octets.size() > (*reply)->size());
}

Initiator::Step Initiator::judge(const StartupFrame& reply, bool surplus) noexcept {
  if (const auto fault = format_fault(reply, policy_, asked_enhanced())) {
    return fail(*fault, {}, reply.revision < policy_.revision);
  }
  const Agreement agreement = reply.enhanced ? enhanced_agreement(policy_, reply) : base_agreement(policy_, reply);
  if (const auto fault = negotiation_fault(agreement)) return fail(*fault, agreement);
  if (surplus) return fail(Fault::kSurplusAfterReply);  // MPA-7.1.1-25: the responder waits for our first FPDU
  advance(Trigger::kReplyAccepts);
  return {.consumed = reply.size(), .outcome = agreement};  // MPA-7.1.2-16
}

Initiator::Step Initiator::fail(Fault fault, const std::optional<Agreement>& terminate_in, bool retry) noexcept {
  advance(Trigger::kFault);
  return {.consumed = 0, .outcome = StartupFailure{fault, terminate_in, retry}};
}

void Initiator::first_fpdu_sent() noexcept { advance(Trigger::kFirstFpduSent); }

// A host of revision 1 closes when it sees revision 2, without a word (MPA2-10-10); then a retry makes sense
// (MPA2-10-12).
StartupFailure Initiator::closed() noexcept {
  const bool waiting = phase_ == Phase::kAwaitingReply;
  advance(Trigger::kFault);
  if (!waiting) return {Fault::kConnectionLost, {}, false};
  if (heard_) return {Fault::kStartupCutShort, {}, false};
  return {Fault::kClosedInStartup, {}, policy_.revision > 1};
}

StartupFailure Initiator::timed_out() noexcept {
  advance(Trigger::kFault);
  return {Fault::kStartupTimeout, {}, false};  // MPA-7.1.2-31
}

void Initiator::advance(Trigger trigger) noexcept { phase_ = step(phase_, trigger).value_or(phase_); }

}  // namespace weft::mpa
