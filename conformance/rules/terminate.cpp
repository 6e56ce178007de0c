// SPDX-License-Identifier: Apache-2.0
#include "conformance/rules/terminate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "conformance/rules/rule_group.hpp"
#include "rdmap/control.hpp"
#include "rdmap/error_table.hpp"
#include "rdmap/text.hpp"

namespace weft::conformance::rules {

namespace {

constexpr Rule terminate_rule(std::string_view clause, Severity severity, std::string_view section,
                              std::string_view sentence) {
  return {clause, severity, Layer::kRdmap, section, sentence};
}
using enum Severity;

// DDP lets a sender cut it, though no MULPDU is so small.
constexpr Rule kTerminateAlone = terminate_rule("RDMAP-5.4-05", kWarning, "RFC 5040 5.4",
                                                "The only Terminate of a direction is one segment: L is 1.");
constexpr Rule kTerminateSize =
    terminate_rule("RDMAP-4.8-02", kViolation, "RFC 5040 4.8",
                   "A Terminate holds 4 octets and what M, D and R announce, without padding.");
constexpr Rule kTerminateLayout =
    terminate_rule("RDMAP-4.8-04", kViolation, "RFC 5040 4.8",
                   "Layer is the high nibble of a Terminate's first octet and EType the low one; M, D "
                   "and R are the top bits of its third.");
constexpr Rule kTerminateCode =
    terminate_rule("RDMAP-4.8-05", kViolation, "RFC 5040 4.8", "Layer, EType and Error Code are registered values.");
constexpr Rule kTerminateReserved = terminate_rule("RDMAP-4.8-11", kViolation, "RFC 5040 4.8",
                                                   "The 13 reserved bits of the Terminate header are sent as zero.");
constexpr Rule kTerminateM = terminate_rule("RDMAP-4.8-08", kWarning, "RFC 5040 4.8",
                                            "M (DDP Segment Length valid) is set as figure 10 of RFC 5040 requires.");
constexpr Rule kTerminateD = terminate_rule("RDMAP-4.8-09", kWarning, "RFC 5040 4.8",
                                            "D (DDP header included) is set as figure 10 of RFC 5040 requires.");
constexpr Rule kTerminateR = terminate_rule("RDMAP-4.8-10", kWarning, "RFC 5040 4.8",
                                            "R (RDMA header included) is set as figure 10 of RFC 5040 requires.");
constexpr Rule kQuotedLength = terminate_rule("RDMAP-4.8-13", kViolation, "RFC 5040 4.8",
                                              "DDP Segment Length is the length of the segment in error.");
constexpr Rule kQuotedHeader = terminate_rule("RDMAP-4.8-15", kViolation, "RFC 5040 4.8",
                                              "The Terminated DDP Header is the header of the segment in error.");
constexpr Rule kQuotedRequest = terminate_rule("RDMAP-4.8-18", kViolation, "RFC 5040 4.8",
                                               "The Terminated RDMA Header is sent only for errors of a Read Request.");
constexpr Rule kLocalCatastrophic = terminate_rule("RDMAP-4.8-37", kViolation, "RFC 5040 4.8",
                                                   "A Local Catastrophic Error quotes nothing: M, D and R are 0.");
constexpr Rule kDdpLocalCatastrophic =
    terminate_rule("RDMAP-IANA-3.2-01", kViolation, "RFC 6580 3.2", "The DDP Local Catastrophic Error has the code 0.");
constexpr Rule kDdpReservedType{"DDP-7.2-14", kViolation, Layer::kDdp, "RFC 5041 7.2",
                                "DDP error type 3 is reserved for the LLP: DDP does not send it."};
constexpr Rule kAfterTerminate =
    terminate_rule("RDMAP-5.4-10", kViolation, "RFC 5040 5.4", "No message follows a Terminate in its direction.");
constexpr Rule kResetAfterTerminate = terminate_rule("RDMAP-6.2.1-05", kWarning, "RFC 5040 6.2.1",
                                                     "TCP is closed gracefully after a Terminate, so that it arrives.");
constexpr std::array kTerminateRules{
    &kTerminateAlone,       &kTerminateSize,   &kTerminateLayout, &kTerminateCode,
    &kTerminateReserved,    &kTerminateM,      &kTerminateD,      &kTerminateR,
    &kQuotedLength,         &kQuotedHeader,    &kQuotedRequest,   &kLocalCatastrophic,
    &kDdpLocalCatastrophic, &kDdpReservedType, &kAfterTerminate,  &kResetAfterTerminate};
const RuleGroup kTerminateGroup{kTerminateRules};

using L = rdmap::TerminateLayout;

// The payload as the bits announce it.
struct Shape {
  bool length{}, ddp{}, rdma{};
  Bytes quoted{};  // the Terminated DDP Header, as far as it is there
  std::size_t size = L::kShortest;
};

Shape shape_of(Bytes payload, bool length, bool ddp, bool rdma) noexcept {
  Shape shape{length, ddp, rdma, {}};
  if (length || ddp) shape.size = L::kDdpHeaderAt;
  if (ddp && payload.size() > L::kDdpHeaderAt) {
    const Bytes rest = payload.subspan(L::kDdpHeaderAt);
    const bool tagged = (ddp::TaggedLayout::Ctrl::get(rest) & ddp::Control::kTagged) != 0;
    const std::size_t header = tagged ? ddp::TaggedLayout::kSize : ddp::UntaggedLayout::kSize;
    shape.size += header;
    shape.quoted = rest.first(std::min(rest.size(), header));
  } else if (ddp) {
    shape.size += ddp::TaggedLayout::kSize;
  }
  if (rdma) shape.size += rdmap::ReadRequestLayout::kSize;
  return shape;
}

Shape siw_shape_of(Bytes payload) noexcept {
  const auto bits = L::HeaderBits::get(payload);
  return shape_of(payload, (bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0);
}

// Bits stand where Linux siw has M, D and R, but what they announce there has no room, and the error is one as the RFC
// lays it out: they are reserved bits.
bool reserved_only(Bytes payload, const rdmap::TerminateReport& report) noexcept {
  return payload.size() < siw_shape_of(payload).size && rdmap::find_error(report.as_rfc.error) != nullptr;
}

bool all_zero(Bytes octets) noexcept {
  return std::ranges::all_of(octets, [](std::byte octet) { return octet == std::byte{0}; });
}

std::uint8_t quoted_opcode(const Shape& shape) noexcept {
  return rdmap::opcode_bits(std::to_integer<std::uint8_t>(shape.quoted[1]));
}

// `bits`: those of the third octet that are reserved in the layout.
void judge_reserved(const Ulpdu& ulpdu, unsigned bits, Findings& findings) {
  const unsigned reserved = (L::HeaderBits::get(ulpdu.payload) & bits) << 8 | L::Reserved::get(ulpdu.payload);
  if (reserved == 0) return;
  findings.add(kTerminateReserved, ulpdu.in_payload(2, 2),
               fmt::format("the reserved bits are {:#06x}, not 0", reserved));
}

void judge_size(const Ulpdu& ulpdu, const Shape& shape, Findings& findings) {
  const std::size_t size = ulpdu.payload.size();
  if (size == shape.size) return;
  // "Set to zero" (section 7.1) for headers that are not quoted is the other reading of "if any" (section 4.8).
  if (size > shape.size && size <= L::kLongest && all_zero(ulpdu.payload.subspan(shape.size))) return;
  findings.add(kTerminateSize, ulpdu.in_payload(0, size),
               fmt::format("the Terminate has {} octets; M={} D={} R={} announce {}", size, int{shape.length},
                           int{shape.ddp}, int{shape.rdma}, shape.size));
}

void judge_code(const Ulpdu& ulpdu, const rdmap::ErrorCode& error, Findings& findings) {
  const Where where = ulpdu.in_payload(0, 2);
  if (error.layer == rdmap::Layer::kDdp && error.type == std::to_underlying(ddp::ErrorType::kLocalCatastrophic) &&
      error.code != 0) {
    findings.add(kDdpLocalCatastrophic, where,
                 fmt::format("the code of a DDP Local Catastrophic Error is {:#04x}", error.code));
  } else if (error.layer == rdmap::Layer::kDdp && error.type == std::to_underlying(ddp::ErrorType::kReservedForLlp)) {
    findings.add(kDdpReservedType, where,
                 fmt::format("the Terminate names DDP error type 3, code {:#04x}", error.code));
  } else if (rdmap::find_error(error) == nullptr) {
    findings.add(kTerminateCode, where, fmt::format("{} is an error that no registry has", rdmap::text(error)));
  }
}

// Figure 10. Its "if possible" leaves it to RDMAP's own errors whether they quote a segment; one that is quoted has its
// length told.
void judge_bits(const Ulpdu& ulpdu, const rdmap::ErrorCode& error, const Shape& shape, Findings& findings) {
  const Where where = ulpdu.in_payload(2, 1);
  const auto add = [&](const Rule& rule, std::string_view bit, bool is) {
    findings.add(rule, where,
                 fmt::format("{} is {} in a Terminate with layer {}, type {}", bit, int{is},
                             std::to_underlying(error.layer), error.type));
  };
  const bool nothing =
      error.layer == rdmap::Layer::kRdmap && error.type == std::to_underlying(rdmap::ErrorType::kLocalCatastrophic);
  if (nothing) {
    if (shape.length || shape.ddp || shape.rdma) {
      findings.add(kLocalCatastrophic, where,
                   fmt::format("M={} D={} R={} in a Local Catastrophic Error", int{shape.length}, int{shape.ddp},
                               int{shape.rdma}));
    }
    return;
  }
  const bool of_llp = error.layer == rdmap::Layer::kLlp;
  const bool full_header = shape.quoted.size() >= ddp::TaggedLayout::kSize;
  // RFC 7306 section 8.1 lists no length for its own messages (RDMAPX-8.1-02).
  const auto* quoted = full_header ? rdmap::find_opcode(quoted_opcode(shape)) : nullptr;
  const bool no_length = quoted != nullptr && quoted->rfc == 7306;
  // Section 4.8 excepts each type that is a Local Catastrophic Error, and DDP has one, too.
  const bool catastrophic =
      error.layer == rdmap::Layer::kDdp && error.type == std::to_underlying(ddp::ErrorType::kLocalCatastrophic);
  if (error.layer == rdmap::Layer::kDdp && !catastrophic && !shape.ddp) return add(kTerminateD, "D", false);
  if (!of_llp && shape.ddp && !shape.length && !no_length) return add(kTerminateM, "M", false);
  if (of_llp && shape.ddp) return add(kTerminateD, "D", true);
  if (of_llp && shape.length) return add(kTerminateM, "M", true);
  const bool of_read = full_header && quoted_opcode(shape) == std::to_underlying(rdmap::Opcode::kReadRequest);
  const bool of_atomic = full_header && quoted_opcode(shape) == std::to_underlying(rdmap::Opcode::kAtomicRequest);
  if (shape.rdma && full_header && !of_read && !of_atomic) {
    // Section 7.1 sets to zero the header that figure 10 has for a Send with Invalidate.
    const std::size_t rdma_header = rdmap::ReadRequestLayout::kSize;
    if (ulpdu.payload.size() >= shape.size && all_zero(ulpdu.payload.first(shape.size).last(rdma_header)))
      return add(kTerminateR, "R", true);
    findings.add(kQuotedRequest, where,
                 fmt::format("R is 1, but the quoted segment has opcode {}", quoted_opcode(shape)));
    return;
  }
  // Section 7.1 asks for the RDMA header with every error of a Read Request, figure 10 with protection errors only.
  const bool of_protection =
      error.layer == rdmap::Layer::kRdmap && error.type == std::to_underlying(rdmap::ErrorType::kRemoteProtection);
  if (of_protection && of_read && !shape.rdma) return add(kTerminateR, "R", false);
  if (of_llp && shape.rdma) add(kTerminateR, "R", true);
}

void judge_quote(const Ulpdu& ulpdu, const Shape& shape, const SentHeaders& peer, Findings& findings) {
  // What had arrived was seen before; without an acknowledgment number that is not certain.
  if (!shape.ddp || shape.quoted.size() < ddp::TaggedLayout::kSize) return;
  const auto had_arrived = ulpdu.fpdu->piece.acknowledged;
  if (!had_arrived || !peer.complete_until(*had_arrived)) return;
  if (peer.find(shape.quoted) == nullptr) {
    findings.add(kQuotedHeader, ulpdu.in_payload(L::kDdpHeaderAt, shape.quoted.size()),
                 "the peer sent no segment with this DDP header");
    return;
  }
  const auto length = L::SegmentLength::get(ulpdu.payload);
  if (shape.length && !peer.any_of_length(shape.quoted, length)) {
    findings.add(kQuotedLength, ulpdu.in_payload(4, 2),
                 fmt::format("DDP Segment Length is {}; the quoted segment was {} octets long", length,
                             peer.find(shape.quoted)->ulpdu_size));
  }
}

}  // namespace

void Terminates::on_terminate(const Ulpdu& ulpdu, const SentHeaders& peer, Findings& findings) {
  const auto& header = *ulpdu.untagged();
  if (sent_ && !(open_ && header.offset.value != 0)) return on_other(*ulpdu.fpdu, findings);
  const bool goes_on = std::exchange(sent_, true);
  open_ = !header.last;
  if (goes_on || ulpdu.empty_and_not_last()) return;  // DDP's matter, as MSN and MO are
  if (header.offset.value != 0) return;               // so is this, unless the capture lacks its beginning
  if (!header.last) {
    findings.add(kTerminateAlone, ulpdu.octets(0, ddp::UntaggedLayout::kSize),
                 fmt::format("the Terminate has MSN {}, MO {} and L={}", header.msn.value, header.offset.value,
                             int{header.last}));
    return;
  }
  const auto report = rdmap::parse_terminate(ulpdu.payload);
  if (!report) {
    findings.add(kTerminateSize, ulpdu.in_payload(0, ulpdu.payload.size()),
                 fmt::format("the Terminate has {} octets, fewer than 4", ulpdu.payload.size()));
    return;
  }
  const auto bits = L::HeaderBits::get(ulpdu.payload);
  // M, D or R where the RFC has them speak against siw's layout, also when they stand where siw has them, too:
  // parse_terminate() then goes by which reading names an error that exists.
  const bool rfc_bits = (bits & (L::kLengthValid | L::kDdpHeader | L::kRdmaHeader)) != 0;
  if (report->siw_layout && !rfc_bits && !reserved_only(ulpdu.payload, *report)) {
    const auto& meant = report->as_siw->error;
    findings.add(kTerminateLayout, ulpdu.in_payload(0, 4),
                 fmt::format("the fields lie as Linux siw lays them out: read so it says {}", rdmap::text(meant)));
    judge_reserved(ulpdu, 0x18, findings);
    judge_quote(ulpdu, siw_shape_of(ulpdu.payload), peer, findings);
    return;
  }
  judge_reserved(ulpdu, 0x1F, findings);
  const Shape shape =
      shape_of(ulpdu.payload, (bits & L::kLengthValid) != 0, (bits & L::kDdpHeader) != 0, (bits & L::kRdmaHeader) != 0);
  judge_code(ulpdu, report->as_rfc.error, findings);
  judge_size(ulpdu, shape, findings);
  judge_bits(ulpdu, report->as_rfc.error, shape, findings);
  judge_quote(ulpdu, shape, peer, findings);
}

void Terminates::on_other(const FpduSeen& fpdu, Findings& findings) {
  if (!sent_ || told_) return;
  told_ = true;
  findings.add(kAfterTerminate, Where{&fpdu.piece, 0, fpdu.piece.octets.size()},
               fmt::format("FPDU {} follows the Terminate", fpdu.number));
}

void Terminates::on_end(const EndSeen& end, Findings& findings) {
  if (!sent_ || end.how != Closing::kReset) return;
  findings.add(kResetAfterTerminate, end.from, Place{end.packet, 0}, 0, "the connection was reset after the Terminate");
}

}  // namespace weft::conformance::rules
