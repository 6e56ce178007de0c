// SPDX-License-Identifier: Apache-2.0
#include "engine/observer.hpp"

#include <limits>

namespace weft::engine {

namespace {

// What the ends have negotiated is theirs to keep: these only bound an observer's memory.
constexpr std::uint32_t kRequestsAtATime = 1 << 16;

}  // namespace

std::expected<void, ddp::AccessError> AcceptEverything::place_tagged(ddp::Stag, ddp::TaggedOffset, Bytes) { return {}; }
std::optional<ddp::ReceiveBuffer> AcceptEverything::take_receive() {
  return ddp::ReceiveBuffer{receives_++, std::numeric_limits<std::uint64_t>::max()};
}
std::expected<void, ddp::LocalFault> AcceptEverything::place_untagged(const ddp::ReceiveBuffer&, std::uint64_t, Bytes) {
  return {};
}

Observer::Observer(ddp::Placement& at_responder, ddp::Placement& at_initiator) {
  half(Direction::kFromInitiator).placement = &at_responder;
  half(Direction::kFromResponder).placement = &at_initiator;
}

void Observer::feed(Direction from, Bytes octets) {
  Half& here = half(from);
  if (here.used > here.octets.size() / 2) {  // rarely enough that forgetting costs less than feeding
    here.octets.erase(here.octets.begin(), here.octets.begin() + static_cast<std::ptrdiff_t>(here.used));
    here.used = 0;
  }
  here.octets.insert(here.octets.end(), octets.begin(), octets.end());
}

void Observer::end(Direction from) { half(from).ended = true; }

std::optional<Observation> Observer::next() {
  if (auto seen = advance(Direction::kFromInitiator)) return seen;
  return advance(Direction::kFromResponder);
}

std::optional<Observation> Observer::advance(Direction from) {
  const Half& here = half(from);
  if (here.over) return std::nullopt;
  if (!here.frame_seen) return advance_startup(from);
  if (!here.inbound) return finish(from);
  return advance_fpdus(from);
}

std::optional<Observation> Observer::advance_startup(Direction from) {
  Half& here = half(from);
  const auto kind = from == Direction::kFromInitiator ? mpa::FrameKind::kRequest : mpa::FrameKind::kReply;
  const auto frame = mpa::parse_startup_frame(Bytes(here.octets).subspan(here.used), kind);
  if (!frame) return fault(from, make_fault(frame.error(), 0));
  if (!*frame) return finish(from);
  here.used += (*frame)->size();
  here.frame_seen = true;
  here.wants_crc = (*frame)->crc;
  here.wants_markers = (*frame)->markers;
  // A rejection leaves MPA: whatever follows in either direction is none of our business (MPA-7.1.2-07).
  const bool rejected = kind == mpa::FrameKind::kReply && (*frame)->reject;
  if (rejected) half(from).over = half(opposite(from)).over = true;
  if (!rejected && half(opposite(from)).frame_seen) begin_fpdus();
  return StartupSeen{from, **frame};
}

// Both frames are known, and so is the framing of both directions: CRC if either asks (MPA-7.1.1-11), Markers as the
// receiver asks (MPA-7.1.1-06).
void Observer::begin_fpdus() {
  const bool crc = halves_[0].wants_crc || halves_[1].wants_crc;
  for (const Direction from : {Direction::kFromInitiator, Direction::kFromResponder}) {
    Half& here = half(from);
    const mpa::Framing framing{crc, half(opposite(from)).wants_markers};
    here.inbound.emplace(framing, kRequestsAtATime, kRequestsAtATime, *here.placement);
  }
}

std::optional<Observation> Observer::advance_fpdus(Direction from) {
  Half& here = half(from);
  const auto step = here.inbound->next(MutableBytes(here.octets).subspan(here.used));
  if (!step) return fault(from, step.error());
  if (*step != InboundStep::kSegment) return finish(from);
  const InboundSegment& segment = here.inbound->segment();
  here.used += segment.consumed;
  auto& other = half(opposite(from)).inbound;
  if (const auto* read = std::get_if<ReadRequested>(&segment.delivery); read != nullptr && other) {
    other->expect({0, rdmap::ReadExpected{read->request.sink_stag, read->request.sink_offset, read->request.size}});
  } else if (const auto* atomic = std::get_if<AtomicRequested>(&segment.delivery); atomic != nullptr && other) {
    other->expect({0, rdmap::AtomicExpected{atomic->request.request_id}});
  }
  // An answer of this direction frees a place for a request of the other.
  const auto* answer = std::get_if<ReadAnswered>(&segment.delivery);
  const bool answered =
      (answer != nullptr && answer->piece.complete) || std::holds_alternative<AtomicAnswered>(segment.delivery);
  if (answered && other) other->answered();
  return SegmentSeen{from, segment.stream_offset, segment.consumed, segment};
}

// Nothing more can be understood of what is there. Is that all there will be?
std::optional<Observation> Observer::finish(Direction from) {
  Half& here = half(from);
  if (!here.ended) return std::nullopt;
  if (here.used < here.octets.size()) {
    const auto cut = here.inbound ? mpa::Fault::kClosedInsideFpdu : mpa::Fault::kStartupCutShort;
    return fault(from, make_fault(cut, here.inbound ? here.inbound->position() : 0));
  }
  here.over = true;
  return EndSeen{from};
}

Observation Observer::fault(Direction from, const Fault& fault) {
  half(from).over = true;
  return FaultSeen{from, fault};
}

}  // namespace weft::engine
