// SPDX-License-Identifier: Apache-2.0
// RDMAP messages.
#include <fmt/format.h>

#include "common/text.hpp"
#include "ddp/text.hpp"
#include "rdmap/error_table.hpp"
#include "rdmap/text.hpp"
#include "tools/dissect/words.hpp"

namespace weft::tools::dissect {
namespace {

using conformance::Message;

std::string place_text(ddp::Stag stag, ddp::TaggedOffset offset) {
  return fmt::format("{} TO {:#x}", ddp::text(stag), offset.value);
}

void put_octet_count(Parts& parts, std::uint64_t octets) { parts.push_back({Hue::kPayload, octets_text(octets)}); }

// RDMAP's own messages: their header is all that they have.
void put_read_words(Parts& parts, const Message& message) {
  const auto request = rdmap::parse_read_request(message.front());
  if (!request) return put_octet_count(parts, message.octets);
  put_octet_count(parts, request->size);
  parts.push_back({Hue::kRdmap, fmt::format("source STag/TO {:#010x}/{:#x}", request->source_stag.value,
                                            request->source_offset.value)});
  parts.push_back(
      {Hue::kRdmap, fmt::format("sink {:#010x}/{:#x}", request->sink_stag.value, request->sink_offset.value)});
}

void put_atomic_request_words(Parts& parts, const Message& message) {
  const auto request = rdmap::parse_atomic_request(message.front());
  if (!request) return put_octet_count(parts, message.octets);
  parts.front().text.append(" ").append(rdmap::name(request->operation.kind));
  parts.push_back({Hue::kRdmap, fmt::format("identifier {:#x}", request->request_id)});
  parts.push_back({Hue::kRdmap, place_text(request->stag, request->offset)});
}

void put_atomic_response_words(Parts& parts, const Message& message) {
  const auto response = rdmap::parse_atomic_response(message.front());
  if (!response) return put_octet_count(parts, message.octets);
  parts.push_back({Hue::kRdmap, fmt::format("identifier {:#x}", response->request_id)});
  parts.push_back({Hue::kPayload, fmt::format("original value {:#x}", response->original)});
}

void put_terminate_words(Parts& parts, const Message& message) {
  parts.front().hue = Hue::kTerminate;
  const auto report = rdmap::parse_terminate(message.front());
  if (!report) return put_octet_count(parts, message.octets);
  const auto& error = report->meant().error;
  parts.push_back({Hue::kTerminate, rdmap::text_with_layer(error)});
  parts.push_back({Hue::kTerminate, std::string(rdmap::sentence(error))});
  if (report->siw_layout) parts.push_back({Hue::kRemark, std::string(rdmap::kSiwLayout)});
}

// What the ULP sent; where it goes stands in the DDP header.
void put_transfer_words(Parts& parts, const Message& message, const rdmap::OpcodeRow* row) {
  put_octet_count(parts, message.octets);
  if (const auto* tagged = std::get_if<ddp::TaggedHeader>(&message.header)) {
    parts.push_back({Hue::kDdp, place_text(tagged->stag, tagged->offset)});
  } else if (row != nullptr && row->invalidates) {
    const ddp::Stag stag{std::get<ddp::UntaggedHeader>(message.header).rsvd_ulp_word};
    parts.push_back({Hue::kRdmap, "invalidates " + ddp::text(stag)});
  }
}

void put_contents(Parts& parts, const Message& message) {
  const auto* row = rdmap::find_opcode(message.opcode());
  if (row == nullptr || row->content == rdmap::Content::kPlaced) return put_transfer_words(parts, message, row);
  if (row->content == rdmap::Content::kAside) return parts.push_back({Hue::kPayload, hex(message.front())});
  switch (row->opcode) {
    using enum rdmap::Opcode;
    case kReadRequest: return put_read_words(parts, message);
    case kAtomicRequest: return put_atomic_request_words(parts, message);
    case kAtomicResponse: return put_atomic_response_words(parts, message);
    case kTerminate: return put_terminate_words(parts, message);
    default: return;
  }
}

void put_segments(Parts& parts, const Message& message) {
  if (message.fpdus > 1) {
    const bool one = message.first_packet == message.last_packet;
    parts.push_back(
        {Hue::kMpa,
         fmt::format("{} FPDUs{}", message.fpdus,
                     one ? "" : fmt::format(", packets {} to {}", message.first_packet, message.last_packet))});
  }
  if (!message.begun) parts.push_back({Hue::kRemark, "its beginning was not seen"});
  if (!message.ended) parts.push_back({Hue::kRemark, "its last segment was not seen"});
}

}  // namespace

std::string name_of(std::uint8_t opcode) {
  std::string name = rdmap::name(opcode);
  constexpr std::string_view kLong = "Solicited Event";  // RFC 5040 section 2.1 abbreviates it
  if (const auto at = name.find(kLong); at != std::string::npos) name.replace(at, kLong.size(), "SE");
  return name;
}

Parts words_of(const Message& message) {
  Parts parts{{Hue::kRdmap, name_of(message.opcode())}};
  if (message.rtr) parts.push_back({Hue::kMpa, "RTR"});
  if (const auto* untagged = std::get_if<ddp::UntaggedHeader>(&message.header))
    parts.push_back({Hue::kDdp, fmt::format("MSN {}", untagged->msn.value)});
  put_contents(parts, message);
  put_segments(parts, message);
  return parts;
}

}  // namespace weft::tools::dissect
