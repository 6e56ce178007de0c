// SPDX-License-Identifier: Apache-2.0
#include "conformance/rules/startup.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "common/text.hpp"
#include "conformance/rules/rule_group.hpp"

namespace weft::conformance {
namespace {

using enum Severity;
using enum Layer;

constexpr Rule kRequestKey{"MPA-7.1.1-02", kViolation, kConnection, "RFC 5044 7.1.1",
                           "An Initiator's startup frame begins with the key \"MPA ID Req Frame\"."};
constexpr Rule kReplyKey{"MPA-7.1.1-04", kViolation, kConnection, "RFC 5044 7.1.1",
                         "A Responder answers with a startup frame that begins with the key \"MPA ID Rep Frame\"."};
constexpr Rule kRejectInRequest{"MPA-7.1.1-14", kViolation, kConnection, "RFC 5044 7.1.1",
                                "The R bit is zero in a Request."};
constexpr Rule kReserved1{"MPA-7.1.1-17", kViolation, kConnection, "RFC 5044 7.1.1",
                          "The reserved bits of a startup frame are sent as zero."};
constexpr Rule kRevision{"MPA-7.1.1-19", kViolation, kConnection, "RFC 5044 7.1.1",
                         "The revision of MPA is 1; RFC 6581 allows 2 or higher."};
constexpr Rule kTooMuchPrivateData{"MPA-7.1.1-28", kViolation, kConnection, "RFC 5044 7.1.1",
                                   "Private data is at most 512 octets long."};
constexpr Rule kReserved2{"MPA2-6-04", kViolation, kConnection, "RFC 6581 6",
                          "The reserved bits after S are sent as zero."};
constexpr Rule kEnhancedRevision{"MPA2-6-07", kViolation, kConnection, "RFC 6581 6",
                                 "An end that uses the S bit sends revision 2 or higher."};
constexpr Rule kEnhancedMissing{"MPA2-6-11", kViolation, kConnection, "RFC 6581 6",
                                "With S set the private data begins with 4 octets of enhanced data."};
constexpr std::array kStartupRules{&kRequestKey,       &kReplyKey,        &kRejectInRequest,    &kReserved1,
                                   &kRevision,         &kLengthFieldRule, &kTooMuchPrivateData, &kReserved2,
                                   &kEnhancedRevision, &kEnhancedMissing};
const RuleGroup kStartupGroup{kStartupRules};

constexpr std::size_t kFlagsAt = 16;
constexpr std::size_t kRevisionAt = 17;
constexpr std::size_t kLengthAt = 18;
constexpr std::uint8_t kEnhancedBit = 0x10;  // a reserved bit below revision 2
constexpr std::uint8_t kReservedBits = 0x0f;

void judge_key(const StartupSeen& seen, mpa::Fault fault, Findings& findings) {
  const std::size_t size = std::min(seen.piece.octets.size(), mpa::kKeySize);
  const Where key{&seen.piece, 0, size};
  const std::string octets = hex(seen.piece.octets.first(size));
  if (seen.piece.from == Direction::kFromInitiator) {
    const bool reply = mpa::frame_kind(seen.piece.octets) == mpa::FrameKind::kReply;
    findings.add(kRequestKey, key,
                 reply ? "A Reply is answered by a second Reply: both ends are Responders."
                       : fmt::format("The key is {}, not \"MPA ID Req Frame\".", octets));
  } else if (fault == mpa::Fault::kRoleClash) {
    findings.add(kReplyKey, key, "A Request is answered by a second Request: both ends are Initiators.");
  } else {
    findings.add(kReplyKey, key, fmt::format("The key is {}, not \"MPA ID Rep Frame\".", octets));
  }
}

// What there is of the key is right.
bool key_begins(const StartupSeen& seen) noexcept {
  const bool request = seen.piece.from == Direction::kFromInitiator;
  return mpa::parse_startup_frame(seen.piece.octets.first(std::min(seen.piece.octets.size(), mpa::kKeySize)),
                                  request ? mpa::FrameKind::kRequest : mpa::FrameKind::kReply)
      .has_value();
}

void judge_fault(const StartupSeen& seen, mpa::Fault fault, Findings& findings) {
  using enum mpa::Fault;
  const Piece& piece = seen.piece;
  const auto length = [&] { return Be<kLengthAt, std::uint16_t>::get(piece.octets); };
  if (fault == kBadKey || fault == kRoleClash || !key_begins(seen)) return judge_key(seen, fault, findings);
  if (fault == kPrivateDataTooLong) {
    return findings.add(kTooMuchPrivateData, {&piece, kLengthAt, 2},
                        fmt::format("PD_Length is {}, more than 512.", length()));
  }
  if (fault == kEnhancedDataMissing) {
    return findings.add(
        kEnhancedMissing, {&piece, kFlagsAt, 4},
        fmt::format("S is set and PD_Length is {}: there is no room for the 4 octets of enhanced data.", length()));
  }
  std::string message = fmt::format("The direction ended {} octets into the startup frame", piece.octets.size());
  const bool length_known = piece.octets.size() >= mpa::kFixedFrameSize;
  if (length_known) message += fmt::format(", whose PD_Length is {}", length());
  findings.add(kLengthFieldRule, {&piece, length_known ? kLengthAt : 0, length_known ? 2U : piece.octets.size()},
               message + ".");
}

void judge_reserved(const StartupSeen& seen, const mpa::StartupFrame& frame, Findings& findings) {
  const Where flags{&seen.piece, kFlagsAt, 1};
  if (frame.revision == 1 && (frame.reserved & kEnhancedBit) != 0) {
    findings.add(kEnhancedRevision, {&seen.piece, kFlagsAt, 2},
                 "S (0x10) is set and the revision is 1; S came with revision 2.");
  }
  const auto reserved = static_cast<std::uint8_t>(frame.reserved & kReservedBits);
  if (reserved == 0) return;
  const Rule& rule = frame.revision == 1 ? kReserved1 : kReserved2;
  findings.add(rule, flags, fmt::format("The reserved bits are {:#04x}, not 0.", reserved));
}

}  // namespace

// What weft tolerates as a receiver (MPA-7.1.1-15, MPA-7.1.1-18, MPA2-6-05) is still the sender's break.
void StartupRules::on(const StartupSeen& seen, const Facts&, Findings& findings) {
  if (!seen.frame) return judge_fault(seen, seen.frame.error(), findings);
  const mpa::StartupFrame& frame = *seen.frame;
  if (frame.revision == 0) {  // a frame of the RDMA Consortium has rules of its own
    return findings.add(kRevision, {&seen.piece, kRevisionAt, 1},
                        "The revision is 0, that of the RDMA Consortium before RFC 5044.");
  }
  if (frame.kind == mpa::FrameKind::kRequest && frame.reject) {
    findings.add(kRejectInRequest, {&seen.piece, kFlagsAt, 1}, "R (0x20) is set in a Request.");
  }
  judge_reserved(seen, frame, findings);
}

}  // namespace weft::conformance
