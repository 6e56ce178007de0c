// SPDX-License-Identifier: Apache-2.0
#include "explain/laboratory/frames.hpp"

#include "common/text.hpp"
#include "ddp/text.hpp"
#include "mpa/text.hpp"
#include "rdmap/control.hpp"
#include "rdmap/text.hpp"

namespace weft::explain::laboratory {
namespace {

using conformance::CrcVerdict;
using conformance::FpduSeen;

std::string words_of(const Frame& frame, const FpduSeen& seen) {
  if (!frame.header) return "an FPDU too short for a DDP header";
  std::string words = rdmap::name(frame.opcode()) + ": ";
  if (frame.opcode() == std::to_underlying(rdmap::Opcode::kTerminate)) {
    const auto report = rdmap::parse_terminate(seen.ulpdu.last(frame.payload));
    return words + (report ? rdmap::text(*report) : "cut short");
  }
  words += octets_text(frame.payload) + " to " + ddp::text(*frame.header);
  return words + (frame.last() ? "" : ", not the last segment");
}

}  // namespace

std::uint8_t Frame::opcode() const noexcept {
  return rdmap::opcode_bits(std::visit([](const auto& h) { return h.rsvd_ulp; }, *header));
}

bool Frame::last() const noexcept {
  return std::visit([](const auto& h) { return h.last; }, *header);
}

std::optional<Frame> FrameReader::front(Bytes octets, const mpa::Framing& framing) {
  return startup_over_ ? fpdu(octets, framing) : startup_frame(octets);
}

void FrameReader::pass(const Frame& frame) noexcept {
  if (startup_over_) position_ += frame.octets.size();
  startup_over_ = true;
}

std::optional<Frame> FrameReader::startup_frame(Bytes octets) const {
  const bool request = from_ == Direction::kFromInitiator;
  const auto parsed = mpa::parse_startup_frame(octets, request ? mpa::FrameKind::kRequest : mpa::FrameKind::kReply);
  if (!parsed || !*parsed) return std::nullopt;
  const Bytes own = octets.first((*parsed)->size());
  conformance::StartupSeen seen{.piece = {.from = from_, .octets = own}, .frame = **parsed};
  Frame frame{.octets = {own.begin(), own.end()},
              .words = std::string(name((*parsed)->kind)) + ": " + text(**parsed),
              .fields = dissect(seen)};
  frame.startup = **parsed;
  frame.startup->private_data = {};
  return frame;
}

std::optional<Frame> FrameReader::fpdu(Bytes octets, const mpa::Framing& framing) {
  const conformance::Track track{framing, position_};
  const auto extent = conformance::extent(octets, track);
  if (!extent || octets.size() < extent->size) return std::nullopt;
  FpduSeen seen{.piece = {.from = from_, .octets = octets.first(extent->size)}};
  const bool good = conformance::computed_crc(seen.piece.octets) == conformance::crc_field(seen.piece.octets);
  seen.crc = !framing.crc ? CrcVerdict::kNotInUse : good ? CrcVerdict::kGood : CrcVerdict::kBad;
  reader_.read(*extent, track, seen);
  Frame frame{.octets = {seen.piece.octets.begin(), seen.piece.octets.end()}, .fields = dissect(seen)};
  const bool has_header = !seen.ulpdu.empty() && ddp::find_error(seen.ulpdu) != ddp::HeaderError::kTooShort;
  if (has_header) frame.header = ddp::read(seen.ulpdu);
  if (has_header) frame.payload = seen.ulpdu.size() - ddp::header_size(*frame.header);
  frame.words = words_of(frame, seen) + (seen.crc == CrcVerdict::kBad ? " (its CRC is wrong)" : "");
  return frame;
}

}  // namespace weft::explain::laboratory
