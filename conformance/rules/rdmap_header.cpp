// SPDX-License-Identifier: Apache-2.0
#include "conformance/rules/rdmap_header.hpp"

#include <fmt/format.h>

#include <array>

#include "common/table.hpp"
#include "conformance/rules/rule_group.hpp"
#include "rdmap/control.hpp"

namespace weft::conformance::rules {

namespace {

constexpr Rule rdmap_rule(std::string_view clause, std::string_view section, std::string_view sentence) {
  return {clause, Severity::kViolation, Layer::kRdmap, section, sentence};
}

constexpr Rule kRdmapVersion = rdmap_rule("RDMAP-4.1-17", "RFC 5040 4.1", "RV is 1 in every message of an IETF RNIC.");
constexpr Rule kRdmapReserved =
    rdmap_rule("RDMAP-4.1-20", "RFC 5040 4.1", "The two Rsv bits of the RDMAP Control Field are sent as zero.");
constexpr Rule kOpcode = rdmap_rule("RDMAP-4.1-22", "RFC 5040 4.1",
                                    "The opcode is one of RFC 5040 figure 4 or of RFC 7306 figure 2: 0 to 11.");
constexpr Rule kNoSuchQueue{"DDP-4.3-09", Severity::kViolation, Layer::kDdp, "RFC 5041 4.3",
                            "The Queue Number is the one that the ULP gave: RDMAP has queues 0 to 3."};
constexpr Rule kInvalidateStag =
    rdmap_rule("RDMAP-4.1-23", "RFC 5040 4.1",
               "The Invalidate STag field is zero in Send, Send with Solicited Event, Read Request and Terminate.");
constexpr Rule kInvalidateStagOf7306 =
    rdmap_rule("RDMAPX-4.1-03", "RFC 7306 4.1", "The Invalidate STag field is zero in the messages of RFC 7306.");
constexpr Rule kWriteModel = rdmap_rule("RDMAP-5.1-01", "RFC 5040 5.1", "An RDMA Write uses a tagged buffer (T=1).");
constexpr Rule kReadRequestModel =
    rdmap_rule("RDMAP-5.2.1-01", "RFC 5040 5.2.1", "An RDMA Read Request is untagged (T=0).");
constexpr Rule kReadRequestQueue = rdmap_rule("RDMAP-5.2.1-06", "RFC 5040 5.2.1", "An RDMA Read Request has QN 1.");
constexpr Rule kReadResponseModel =
    rdmap_rule("RDMAP-5.2.2-02", "RFC 5040 5.2.2", "An RDMA Read Response is tagged (T=1).");
constexpr Rule kSendModel = rdmap_rule("RDMAP-5.3-01", "RFC 5040 5.3", "The Sends are untagged (T=0).");
constexpr Rule kSendQueue = rdmap_rule("RDMAP-5.3-08", "RFC 5040 5.3", "The Sends have QN 0.");
constexpr Rule kTerminateModel = rdmap_rule("RDMAP-5.4-01", "RFC 5040 5.4", "A Terminate is untagged (T=0).");
constexpr Rule kTerminateQueue = rdmap_rule("RDMAP-5.4-02", "RFC 5040 5.4", "A Terminate has QN 2.");
constexpr Rule kImmediateModel = rdmap_rule("RDMAPX-6.3-01", "RFC 7306 6.3", "Immediate Data is untagged (T=0).");
constexpr Rule kImmediateQueue = rdmap_rule("RDMAPX-6.3-04", "RFC 7306 6.3", "Immediate Data has QN 0.");
constexpr Rule kAtomicRequestModel =
    rdmap_rule("RDMAPX-5.2.1-14", "RFC 7306 5.2.1", "An Atomic Request is untagged (T=0).");
constexpr Rule kAtomicRequestQueue = rdmap_rule("RDMAPX-5.2.1-19", "RFC 7306 5.2.1", "An Atomic Request has QN 1.");
constexpr Rule kAtomicResponseModel =
    rdmap_rule("RDMAPX-5.2.2-05", "RFC 7306 5.2.2", "An Atomic Response is untagged (T=0).");
constexpr Rule kAtomicResponseQueue = rdmap_rule("RDMAPX-5.2.2-06", "RFC 7306 5.2.2", "An Atomic Response has QN 3.");
constexpr std::array kRdmapHeaderRules{&kRdmapVersion,        &kRdmapReserved,      &kOpcode,
                                       &kNoSuchQueue,         &kInvalidateStag,     &kInvalidateStagOf7306,
                                       &kWriteModel,          &kReadRequestModel,   &kReadRequestQueue,
                                       &kReadResponseModel,   &kSendModel,          &kSendQueue,
                                       &kTerminateModel,      &kTerminateQueue,     &kImmediateModel,
                                       &kImmediateQueue,      &kAtomicRequestModel, &kAtomicRequestQueue,
                                       &kAtomicResponseModel, &kAtomicResponseQueue};
const RuleGroup kRdmapHeaderGroup{kRdmapHeaderRules};

// The T bit and the queue of one kind of message.
struct ModelRule {
  rdmap::Opcode opcode{};
  const Rule* buffer_model{};  // T
  const Rule* queue{};         // null for tagged messages
};
using enum rdmap::Opcode;
constexpr std::array kModelRules = std::to_array<ModelRule>({
    {kWrite, &kWriteModel, nullptr},
    {kReadRequest, &kReadRequestModel, &kReadRequestQueue},
    {kReadResponse, &kReadResponseModel, nullptr},
    {kSend, &kSendModel, &kSendQueue},
    {kSendInvalidate, &kSendModel, &kSendQueue},
    {kSendSolicited, &kSendModel, &kSendQueue},
    {kSendSolicitedInvalidate, &kSendModel, &kSendQueue},
    {kTerminate, &kTerminateModel, &kTerminateQueue},
    {kImmediate, &kImmediateModel, &kImmediateQueue},
    {kImmediateSolicited, &kImmediateModel, &kImmediateQueue},
    {kAtomicRequest, &kAtomicRequestModel, &kAtomicRequestQueue},
    {kAtomicResponse, &kAtomicResponseModel, &kAtomicResponseQueue},
});
static_assert(kModelRules.size() == rdmap::kOpcodeTable.size() && in_order(kModelRules, &ModelRule::opcode));

// Figure 4 and figure 2: T and QN follow from the opcode.
bool judge_model(const Ulpdu& ulpdu, const rdmap::OpcodeRow& kind, Findings& findings) {
  const ModelRule& rules = kModelRules[ulpdu.opcode()];
  const auto* untagged = ulpdu.untagged();
  if (kind.tagged() != (untagged == nullptr)) {
    findings.add(*rules.buffer_model, ulpdu.octets(0, 2),
                 fmt::format("T is {} in a segment with opcode {} ({})", untagged == nullptr ? 1 : 0, ulpdu.opcode(),
                             kind.name));
    return false;
  }
  if (untagged == nullptr || untagged->queue == std::to_underlying(*kind.queue)) return true;
  const bool exists = untagged->queue <= std::to_underlying(ddp::QueueNumber::kAtomicResponse);
  findings.add(exists ? *rules.queue : kNoSuchQueue, ulpdu.field<ddp::UntaggedLayout::QnField>(),
               fmt::format("QN is {}, not {}: {}", untagged->queue, std::to_underlying(*kind.queue), kind.name));
  return false;
}

bool judge_invalidate_stag(const Ulpdu& ulpdu, const rdmap::OpcodeRow& kind, Findings& findings) {
  const auto* untagged = ulpdu.untagged();
  if (untagged == nullptr || kind.invalidates || untagged->rsvd_ulp_word == 0) return true;
  findings.add(kind.rfc == 7306 ? kInvalidateStagOf7306 : kInvalidateStag,
               ulpdu.field<ddp::UntaggedLayout::RsvdUlpWord>(),
               fmt::format("the Invalidate STag field is {:08x}, not 0: {}", untagged->rsvd_ulp_word, kind.name));
  return false;
}

}  // namespace

HeaderVerdict judge_rdmap_header(const Ulpdu& ulpdu, Findings& findings) {
  const std::uint8_t control = ulpdu.rdmap_control;
  HeaderVerdict verdict = HeaderVerdict::kRight;
  constexpr std::uint8_t kReserved = 0x30;
  if (rdmap::version_bits(control) != rdmap::Control::kVersion) {
    verdict = HeaderVerdict::kFlawed;
    findings.add(kRdmapVersion, ulpdu.octets(1, 1),
                 fmt::format("RV is {}, not 1 (control octet {:02x})", control >> 6, control));
  }
  if ((control & kReserved) != 0) {
    verdict = HeaderVerdict::kFlawed;
    findings.add(
        kRdmapReserved, ulpdu.octets(1, 1),
        fmt::format("the Rsv bits are {:02b}, not 00 (control octet {:02x})", (control & kReserved) >> 4, control));
  }
  const rdmap::OpcodeRow* kind = rdmap::find_opcode(ulpdu.opcode());
  if (kind == nullptr) {
    findings.add(kOpcode, ulpdu.octets(1, 1), fmt::format("opcode {} is assigned to no message", ulpdu.opcode()));
    return HeaderVerdict::kUnusable;
  }
  if (!judge_model(ulpdu, *kind, findings)) return HeaderVerdict::kUnusable;
  if (!judge_invalidate_stag(ulpdu, *kind, findings)) verdict = HeaderVerdict::kFlawed;
  return verdict;
}

}  // namespace weft::conformance::rules
