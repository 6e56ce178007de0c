// SPDX-License-Identifier: Apache-2.0
#include "explain/model/words.hpp"

#include <fmt/format.h>

#include "conformance/text.hpp"
#include "rdmap/atomic_messages.hpp"
#include "rdmap/error_table.hpp"
#include "rdmap/opcodes.hpp"
#include "rdmap/terminate.hpp"

namespace weft::explain {
namespace {

std::string octets_text(std::uint64_t count) { return fmt::format("{} octet{}", count, count == 1 ? "" : "s"); }

std::string frame_text(const mpa::StartupFrame& frame) {
  std::string text = frame.reject && frame.kind == mpa::FrameKind::kReply ? "rejected, " : "";
  text += fmt::format("revision {}{}{}", frame.revision, frame.crc ? ", CRC" : ", no CRC",
                      frame.markers ? ", wants Markers" : "");
  if (const auto& more = frame.enhanced)
    text += fmt::format(", IRD {}, ORD {}{}", more->ird, more->ord, more->peer_to_peer ? ", peer to peer" : "");
  if (!frame.private_data.empty()) text += fmt::format(", {} of private data", octets_text(frame.private_data.size()));
  return text;
}

std::string terminate_text(Bytes front) {
  const auto report = rdmap::parse_terminate(front);
  if (!report) return "cut short";
  const auto& error = report->meant().error;
  return fmt::format("layer {}, type {}, code {:#04x}: {}", std::to_underlying(error.layer), error.type, error.code,
                     rdmap::sentence(error));
}

std::string atomic_text(Bytes front) {
  const auto request = rdmap::parse_atomic_request(front);
  if (!request) return "of an unknown kind";
  const rdmap::AtomicOperation& operation = request->operation;
  if (operation.kind == rdmap::AtomicOperation::Kind::kFetchAdd)
    return fmt::format("FetchAdd of {:#x}", operation.add_or_swap);
  if (operation.compare_mask == 0)
    return fmt::format("CmpSwap that compares nothing, a swap for {:#x}", operation.add_or_swap);
  return fmt::format("CmpSwap of {:#x} for {:#x}", operation.compare, operation.add_or_swap);
}

std::string transfer_text(const MessageView& message, const Segment& segment) {
  const auto* const untagged = segment.untagged();
  const std::string octets = octets_text(message.octets);
  if (untagged == nullptr) return octets;
  const auto* const row = rdmap::find_opcode(message.opcode);
  if (row == nullptr || !row->invalidates) return fmt::format("MSN {}, {}", untagged->msn.value, octets);
  return fmt::format("MSN {}, {}, invalidates STag {:#010x}", untagged->msn.value, octets, untagged->rsvd_ulp_word);
}

// What stands behind the name of a message that is one segment.
std::string detail_of(const MessageView& message, const Segment& segment) {
  const auto* const row = rdmap::find_opcode(message.opcode);
  if (row == nullptr) return transfer_text(message, segment);
  switch (row->opcode) {
    using enum rdmap::Opcode;
    case kReadRequest: {
      const auto request = rdmap::parse_read_request(message.front);
      return request ? "for " + octets_text(request->size) : "malformed";
    }
    case kTerminate: return terminate_text(message.front);
    case kAtomicRequest: return atomic_text(message.front);
    case kAtomicResponse: {
      const auto response = rdmap::parse_atomic_response(message.front);
      return response ? fmt::format("the value was {:#x}", response->original) : "malformed";
    }
    case kImmediate:
    case kImmediateSolicited:
      return fmt::format("MSN {}, {}", segment.untagged() == nullptr ? 0 : segment.untagged()->msn.value,
                         conformance::hex(message.front));
    case kWrite:
    case kReadResponse:
    case kSend:
    case kSendInvalidate:
    case kSendSolicited:
    case kSendSolicitedInvalidate: return transfer_text(message, segment);
  }
  return {};
}

}  // namespace

std::string words_of(const conformance::StartupSeen& startup) {
  const bool reply = startup.piece.from == Direction::kFromResponder;
  return fmt::format(
      "{}: {}", reply ? "MPA Reply" : "MPA Request",
      startup.frame ? frame_text(*startup.frame) : std::string(mpa::explain(startup.frame.error()).sentence));
}

std::string words_of_stray(const conformance::FpduSeen& fpdu) {
  const bool bad = fpdu.crc == conformance::CrcVerdict::kBad;
  return fmt::format("FPDU {} {}, ULPDU of {}", fpdu.number, bad ? "with a wrong CRC" : "without a readable DDP header",
                     octets_text(fpdu.ulpdu_length));
}

std::string words_of(const conformance::StreamingSeen& streaming) {
  return octets_text(streaming.octets) + " before MPA";
}

std::string words_of(const conformance::LostSeen& lost) {
  return lost.reason == conformance::LossReason::kCaptureGap ? "octets are missing from the capture"
                                                             : "what follows is no FPDU";
}

std::string words_of(const conformance::ResumedSeen& resumed) {
  return fmt::format("FPDUs again, {} later", octets_text(resumed.skipped));
}

std::string words_of(const conformance::EndSeen& end) {
  const std::string how = end.how == conformance::Closing::kFin ? "FIN" : "RST";
  if (end.unfinished == 0) return how;
  return fmt::format("{}, {} of an unfinished FPDU before it", how, octets_text(end.unfinished));
}

std::string name_of(std::uint8_t opcode) {
  const auto* const row = rdmap::find_opcode(opcode);
  return row == nullptr ? fmt::format("opcode {}", opcode) : std::string(row->name);
}

std::string words_of(const MessageView& message, const Segment& segment, std::size_t which) {
  const std::string rtr = message.rtr ? ", ready to receive" : "";
  if (message.rows.size() == 1) {
    const bool terminate = message.opcode == std::to_underlying(rdmap::Opcode::kTerminate);
    return message.what + rtr + (terminate ? ": " : ", ") + detail_of(message, segment);
  }
  return fmt::format("{}{}, segment {} of {}, {}{}", message.what, rtr, which + 1, message.rows.size(),
                     octets_text(segment.payload), segment.last() ? ", last" : "");
}

std::string words_of_missing(const conformance::Message& message) {
  return std::string(message.begun ? "" : ", its beginning was not seen") +
         (message.ended ? "" : ", its last segment was not seen");
}

}  // namespace weft::explain
