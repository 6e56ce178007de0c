// SPDX-License-Identifier: Apache-2.0
#include "explain/model/words.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/text.hpp"
#include "ddp/text.hpp"
#include "mpa/text.hpp"
#include "rdmap/text.hpp"

namespace weft::explain {
namespace {

std::string terminate_text(Bytes front) {
  const auto report = rdmap::parse_terminate(front);
  return report ? rdmap::text(*report) : "cut short";
}

std::string atomic_text(Bytes front) {
  const auto request = rdmap::parse_atomic_request(front);
  return request ? rdmap::text(request->operation) : "of an unknown kind";
}

std::string transfer_text(const MessageView& message, const Segment& segment) {
  const auto* const untagged = segment.untagged();
  const std::string octets = octets_text(message.octets);
  if (untagged == nullptr) return octets;
  const auto* const row = rdmap::find_opcode(message.opcode);
  if (row == nullptr || !row->invalidates) return fmt::format("MSN {}, {}", untagged->msn.value, octets);
  return fmt::format("MSN {}, {}, invalidates {}", untagged->msn.value, octets,
                     ddp::text(ddp::Stag{untagged->rsvd_ulp_word}));
}

// What follows the name of a message that is one segment.
std::string detail_of(const MessageView& message, const Segment& segment) {
  const auto* const row = rdmap::find_opcode(message.opcode);
  if (row == nullptr || row->content == rdmap::Content::kPlaced) return transfer_text(message, segment);
  if (row->content == rdmap::Content::kAside) {
    return fmt::format("MSN {}, {}", segment.untagged() == nullptr ? 0 : segment.untagged()->msn.value,
                       hex(message.front));
  }
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
    default: return {};
  }
}

}  // namespace

std::string joined(const conformance::Words& words) { return fmt::format("{}", fmt::join(words, ", ")); }

std::string words_of(const conformance::StartupSeen& startup) {
  const bool reply = startup.piece.from == Direction::kFromResponder;
  return fmt::format(
      "{}: {}", mpa::name(reply ? mpa::FrameKind::kReply : mpa::FrameKind::kRequest),
      startup.frame ? mpa::text(*startup.frame) : std::string(mpa::explain(startup.frame.error()).sentence));
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
