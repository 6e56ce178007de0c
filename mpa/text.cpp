// SPDX-License-Identifier: Apache-2.0
#include "mpa/text.hpp"

#include "common/text.hpp"

namespace weft::mpa {

std::string depth_text(std::uint16_t depth) {
  return depth == kNoNegotiation ? "not negotiated" : std::to_string(depth);
}

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

// Two flags above a depth of 14 bits.
std::string ird_word_text(std::uint64_t word) {
  return std::string(word >> 15 != 0 ? "A=1 (peer to peer) B=" : "A=0 (client-server) B=") +
         std::to_string(word >> 14 & 1) + " IRD " + std::to_string(word & 0x3FFF);
}

std::string ord_word_text(std::uint64_t word) {
  return "C=" + std::to_string(word >> 15) + " D=" + std::to_string(word >> 14 & 1) + " ORD " +
         std::to_string(word & 0x3FFF);
}

}  // namespace weft::mpa
