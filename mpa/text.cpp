// SPDX-License-Identifier: Apache-2.0
#include "mpa/text.hpp"

#include "common/text.hpp"

namespace weft::mpa {
namespace {

std::string depth_text(std::uint16_t depth) {
  return depth == kNoNegotiation ? "not negotiated" : std::to_string(depth);
}

std::string flag_text(const char* name, std::uint64_t word, std::uint16_t flag) {
  return std::string(name) + ((word & flag) != 0 ? "=1" : "=0");
}

}  // namespace

std::string_view name(FrameKind kind) noexcept {
  switch (kind) {
    case FrameKind::kRequest: return "MPA Request";
    case FrameKind::kReply: return "MPA Reply";
  }
  return {};
}

std::string text(const RtrTypes& types) {
  const std::string list =
      std::string(types.send ? " Send" : "") + (types.write ? " Write" : "") + (types.read ? " Read" : "");
  return types.any() ? list.substr(1) : "none";
}

std::string text(const StartupFrame& frame) {
  std::string text = frame.reject && frame.kind == FrameKind::kReply ? "rejected, " : "";
  text += "revision " + std::to_string(frame.revision) + (frame.crc ? ", CRC" : ", no CRC");
  if (frame.markers) text += ", wants Markers";
  if (const auto& more = frame.enhanced) {
    text += ", IRD " + depth_text(more->ird) + ", ORD " + depth_text(more->ord);
    if (more->peer_to_peer) text += ", peer to peer, RTR by " + mpa::text(more->rtr);
  }
  if (!frame.private_data.empty()) text += ", " + octets_text(frame.private_data.size()) + " of private data";
  return text;
}

std::string ird_word_text(std::uint64_t word) {
  using L = EnhancedLayout;
  return flag_text("A", word, L::kUpperFlag) +
         ((word & L::kUpperFlag) != 0 ? " (peer to peer) " : " (client-server) ") +
         flag_text("B", word, L::kLowerFlag) + " IRD " + std::to_string(word & L::kDepth);
}

std::string ord_word_text(std::uint64_t word) {
  using L = EnhancedLayout;
  return flag_text("C", word, L::kUpperFlag) + ' ' + flag_text("D", word, L::kLowerFlag) + " ORD " +
         std::to_string(word & L::kDepth);
}

}  // namespace weft::mpa
