// SPDX-License-Identifier: Apache-2.0
// Startup frames, and what else is no message.
#include "tools/dissect/words.hpp"

#include <fmt/format.h>

namespace weft::tools::dissect {
namespace {

std::string rtr_options(const mpa::RtrTypes& rtr) {
  return fmt::format("RTR by{}{}{}{}", rtr.send ? " Send" : "", rtr.write ? " Write" : "", rtr.read ? " Read" : "",
                     rtr.any() ? "" : " none");
}

void put_frame_parts(Parts& parts, const mpa::StartupFrame& frame) {
  const auto put = [&](std::string text) { parts.push_back({Hue::kMpa, std::move(text)}); };
  if (frame.reject && frame.kind == mpa::FrameKind::kReply) parts.push_back({Hue::kTerminate, "rejected"});
  put(fmt::format("rev {}", frame.revision));
  put(frame.crc ? "CRC" : "no CRC");
  if (frame.markers) put("Markers");
  if (frame.enhanced) {
    put(fmt::format("IRD {} ORD {}", frame.enhanced->ird, frame.enhanced->ord));
    if (frame.enhanced->peer_to_peer) put("peer to peer, " + rtr_options(frame.enhanced->rtr));
  }
  if (!frame.private_data.empty()) put(fmt::format("private data {}", frame.private_data.size()));
}

}  // namespace

Parts words_of(const conformance::StartupSeen& startup) {
  const bool reply = startup.piece.from == conformance::Direction::kFromResponder;
  Parts parts{{Hue::kMpa, reply ? "MPA Reply" : "MPA Request"}};
  if (startup.frame) {
    put_frame_parts(parts, *startup.frame);
  } else {
    parts.push_back({Hue::kTerminate, std::string(mpa::explain(startup.frame.error()).sentence)});
  }
  return parts;
}

Parts words_of(const conformance::StreamingSeen& streaming) {
  return {{Hue::kTcp, fmt::format("{} octets before MPA", streaming.octets)}};
}

Parts words_of(const conformance::LostSeen& lost) {
  return {{Hue::kRemark, lost.reason == conformance::LossReason::kCaptureGap ? "octets are missing from the capture"
                                                                             : "what follows is no FPDU"}};
}

Parts words_of(const conformance::ResumedSeen& resumed) {
  return {{Hue::kRemark, fmt::format("FPDUs again, {} octets later", resumed.skipped)}};
}

Parts words_of(const conformance::EndSeen& end) {
  Parts parts{{Hue::kTcp, end.how == conformance::Closing::kFin ? "FIN" : "RST"}};
  if (end.unfinished != 0)
    parts.push_back({Hue::kRemark, fmt::format("{} octets of an unfinished FPDU before it", end.unfinished)});
  return parts;
}

Parts words_of_stray(const conformance::FpduSeen& fpdu) {
  const bool bad = fpdu.crc == conformance::CrcVerdict::kBad;
  return {{Hue::kTerminate,
           fmt::format("FPDU {} {}", fpdu.number, bad ? "with a wrong CRC" : "without a readable DDP header")},
          {Hue::kMpa, fmt::format("ULPDU of {} octets", fpdu.ulpdu_length)}};
}

}  // namespace weft::tools::dissect
