// SPDX-License-Identifier: Apache-2.0
#include "tools/demo/wire_summary.hpp"

#include <string>
#include <variant>

#include "ddp/header.hpp"
#include "mpa/fpdu_receiver.hpp"
#include "mpa/startup_frame.hpp"
#include "rdmap/control.hpp"

namespace weft::tools::demo {
namespace {

// Counts the start-up frame and returns where the FPDUs begin.
Outcome<std::size_t> count_startup(const Flow& flow, mpa::FrameKind kind, StartupSummary& summary) {
  const auto frame = mpa::parse_startup_frame(flow.octets, kind);
  if (!frame || !*frame) return failure("the capture holds no complete MPA start-up.");
  const mpa::StartupFrame& seen = **frame;
  summary = {
      .revision = seen.revision, .crc = seen.crc, .markers = seen.markers, .private_data = seen.private_data.size()};
  if (seen.enhanced) {
    summary.ird = seen.enhanced->ird;
    summary.ord = seen.enhanced->ord;
  }
  return seen.size();
}

void count_message(std::uint8_t control, bool last, FlowSummary& summary) {
  const rdmap::OpcodeRow* row = rdmap::find_opcode(rdmap::opcode_bits(control));
  if (row != nullptr && last) ++summary.messages[std::to_underlying(row->opcode)];
}

Outcome<void> count_segment(Bytes ulpdu, FlowSummary& summary) {
  const auto header = ddp::parse(ulpdu);
  if (!header) return failure("the capture holds a segment that DDP cannot parse.");
  ++(std::holds_alternative<ddp::TaggedHeader>(*header) ? summary.tagged : summary.untagged);
  std::visit([&](const auto& h) { count_message(h.rsvd_ulp, h.last, summary); }, *header);
  return {};
}

Outcome<void> count_fpdus(MutableBytes stream, const mpa::Framing& framing, FlowSummary& summary) {
  mpa::FpduReceiver receiver(framing);
  while (!stream.empty()) {
    const auto fpdu = receiver.next(stream);
    if (!fpdu) return failure(std::string(mpa::explain(fpdu.error().fault).sentence) + ".");
    if (!*fpdu) return failure("the capture ends inside an FPDU.");
    ++summary.fpdus;
    if (framing.markers)
      summary.markers += mpa::marker_count((*fpdu)->stream_offset, mpa::bare_fpdu_size((*fpdu)->ulpdu.size()));
    if (auto counted = count_segment((*fpdu)->ulpdu, summary); !counted) return counted;
    stream = stream.subspan((*fpdu)->consumed);
  }
  return {};
}

}  // namespace

Outcome<WireSummary> summarise(Capture capture) {
  WireSummary summary;
  summary.initiator.octets = capture.initiator.octets.size();
  summary.initiator.packets = capture.initiator.packets;
  summary.responder.octets = capture.responder.octets.size();
  summary.responder.packets = capture.responder.packets;
  const auto request = count_startup(capture.initiator, mpa::FrameKind::kRequest, summary.initiator.startup);
  if (!request) return std::unexpected(request.error());
  const auto reply = count_startup(capture.responder, mpa::FrameKind::kReply, summary.responder.startup);
  if (!reply) return std::unexpected(reply.error());
  summary.crc = summary.initiator.startup.crc || summary.responder.startup.crc;
  // Each end asks for Markers in what it receives.
  const mpa::Framing forth{.crc = summary.crc, .markers = summary.responder.startup.markers};
  const mpa::Framing back{.crc = summary.crc, .markers = summary.initiator.startup.markers};
  auto counted = count_fpdus(MutableBytes(capture.initiator.octets).subspan(*request), forth, summary.initiator);
  if (counted) counted = count_fpdus(MutableBytes(capture.responder.octets).subspan(*reply), back, summary.responder);
  if (!counted) return std::unexpected(counted.error());
  return summary;
}

}  // namespace weft::tools::demo
