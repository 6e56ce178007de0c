// SPDX-License-Identifier: Apache-2.0
// Startup frames: mpa::text() in the short form that the ladder has room for.
#include "tools/dissect/words.hpp"

#include <fmt/format.h>

#include "mpa/text.hpp"

namespace weft::tools::dissect {
namespace {

void put_frame_parts(Parts& parts, const mpa::StartupFrame& frame) {
  const auto put = [&](std::string text) { parts.push_back({Hue::kMpa, std::move(text)}); };
  if (frame.reject && frame.kind == mpa::FrameKind::kReply) parts.push_back({Hue::kTerminate, "rejected"});
  put(fmt::format("rev {}", frame.revision));
  put(frame.crc ? "CRC" : "no CRC");
  if (frame.markers) put("Markers");
  if (frame.enhanced) {
    put(fmt::format("IRD {} ORD {}", mpa::depth_text(frame.enhanced->ird), mpa::depth_text(frame.enhanced->ord)));
    if (frame.enhanced->peer_to_peer) put("peer to peer, RTR by " + mpa::text(frame.enhanced->rtr));
  }
  if (!frame.private_data.empty()) put(fmt::format("private data {}", frame.private_data.size()));
}

}  // namespace

Parts words_of(const conformance::StartupSeen& startup) {
  const bool reply = startup.piece.from == conformance::Direction::kFromResponder;
  Parts parts{{Hue::kMpa, std::string(mpa::name(reply ? mpa::FrameKind::kReply : mpa::FrameKind::kRequest))}};
  if (startup.frame) {
    put_frame_parts(parts, *startup.frame);
  } else {
    parts.push_back({Hue::kTerminate, std::string(mpa::explain(startup.frame.error()).sentence)});
  }
  return parts;
}

Parts coloured(conformance::Words words, Hue first, Hue rest) {
  Parts parts;
  for (std::string& text : words) parts.push_back({parts.empty() ? first : rest, std::move(text)});
  return parts;
}

}  // namespace weft::tools::dissect
