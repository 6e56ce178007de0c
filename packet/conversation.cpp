// SPDX-License-Identifier: Apache-2.0
#include "packet/conversation.hpp"

#include <algorithm>
#include <utility>

#include "packet/tcp.hpp"

namespace weft::packet {
namespace {

using namespace tcp_flag;

constexpr std::uint16_t kWindow = 0xffff;
constexpr std::size_t kAcknowledgeAfter = 1 << 20;  // well inside the window, which readers watch

}  // namespace

void Conversation::emit(SegmentSink& to, Side side, std::uint8_t flags, PieceReader& payload, std::size_t octets,
                        Bytes options) {
  Party& from = party(side);
  Party& other = party(opposite(side));
  const bool acknowledges = (flags & kAck) != 0;
  to.write({.source = from.end.endpoint,
            .destination = other.end.endpoint,
            .sequence = from.end.next_sequence,
            .acknowledgement = acknowledges ? other.end.next_sequence : 0,
            .flags = flags,
            .window = kWindow,
            .options = options,
            .source_station = from.end.station,
            .destination_station = other.end.station},
           payload, octets);
  // SYN and FIN count as one octet each (RFC 9293 section 3.4).
  from.end.next_sequence += static_cast<std::uint32_t>(octets + ((flags & (kSyn | kFin)) != 0 ? 1 : 0));
  from.unacknowledged += octets;
  if (acknowledges) other.unacknowledged = 0;
}

void Conversation::emit_bare(SegmentSink& to, Side from, std::uint8_t flags, Bytes options) {
  PieceReader nothing({});
  emit(to, from, flags, nothing, 0, options);
}

void Conversation::open(SegmentSink& to) {
  namespace option = tcp_option;
  const std::array all{std::byte{option::kMss},
                       std::byte{option::kMssSize},
                       static_cast<std::byte>(mss_ >> 8),
                       static_cast<std::byte>(mss_ & 0xff),
                       std::byte{option::kNoOperation},
                       std::byte{option::kWindowScale},
                       std::byte{option::kWindowScaleSize},
                       std::byte{window_scale_}};
  const Bytes options = Bytes(all).first(window_scale_ == 0 ? option::kMssSize : all.size());
  emit_bare(to, Side::kOpener, kSyn, options);
  emit_bare(to, Side::kAnswerer, kSyn | kAck, options);
  emit_bare(to, Side::kOpener, kAck);
}

void Conversation::send(SegmentSink& to, Side from, std::span<const Bytes> pieces) {
  if (party(from).over) return;
  PieceReader payload(pieces);
  for (std::size_t left = payload.left(); left > 0;) {
    const std::size_t octets = std::min(left, mss_);
    left -= octets;
    emit(to, from, left == 0 ? kPsh | kAck : kAck, payload, octets, {});
    const Side other = opposite(from);
    if (party(from).unacknowledged >= kAcknowledgeAfter && !party(other).over) emit_bare(to, other, kAck);
  }
}

void Conversation::finish(SegmentSink& to, Side from) {
  if (std::exchange(party(from).over, true)) return;
  emit_bare(to, from, kFin | kAck);
  emit_bare(to, opposite(from), kAck);
}

// May follow the sender's own FIN, but nothing follows a RST.
void Conversation::reset(SegmentSink& to, Side from) {
  if (parties_[0].over && parties_[1].over) return;
  emit_bare(to, from, kRst | kAck);
  for (Party& each : parties_) each.over = true;
}

}  // namespace weft::packet
