// SPDX-License-Identifier: Apache-2.0
#include "engine/fpdu_cutter.hpp"

#include <algorithm>
#include <limits>

#include "mpa/mulpdu.hpp"

namespace weft::engine {

namespace {

// Below this, one more piece for sendmsg costs more than the copy it saves.
constexpr std::uint32_t kWorthBorrowing = 512;

}  // namespace

std::uint32_t FpduCutter::ulpdu_limit(const TransmitBatch& batch) const noexcept {
  const bool markers = sender_.framing().markers;
  constexpr std::size_t kMost = std::numeric_limits<std::uint32_t>::max();
  const auto arena = static_cast<std::uint32_t>(std::min(batch.arena_size(), kMost));
  const std::uint32_t fits = std::min(mpa::mulpdu(emss_, markers), mpa::mulpdu(arena, markers));
  return max_ulpdu_ == 0 ? fits : std::min(fits, std::max(max_ulpdu_, ddp::kLeastMulpdu));
}

std::expected<std::size_t, PayloadFault> FpduCutter::cut(OutgoingMessage& message, std::uint32_t limit,
                                                         PayloadReader& reader, TransmitBatch& batch) {
  const std::uint32_t ulpdu = message.next_size(limit);
  if (sender_.can_borrow() && ulpdu >= kWorthBorrowing) {
    if (const std::size_t octets = cut_borrowed(message, limit, reader, batch)) return octets;
  }
  if (batch.arena_room() < sender_.fpdu_size(ulpdu) || batch.piece_room() == 0) return 0;
  const MutableBytes room = batch.free_arena();
  const MutableBytes at = room.subspan(sender_.prefix_size());  // DDP's header follows MPA's length (DDP-4.1-02)
  const auto piece = message.next(limit, at);
  const auto copied = reader.copy(message.source, piece.offset, at.subspan(piece.header_size, piece.length));
  if (!copied) return std::unexpected(copied.error());
  const std::size_t octets = sender_.seal(room, ulpdu);
  batch.commit(octets);
  return octets;
}

// 0: not this way.
std::size_t FpduCutter::cut_borrowed(OutgoingMessage& message, std::uint32_t limit, PayloadReader& reader,
                                     TransmitBatch& batch) {
  constexpr std::size_t kEnds = ddp::UntaggedLayout::kSize + mpa::FpduSender::kMaxEnds;
  if (batch.arena_room() < kEnds || batch.piece_room() < kMostLent + 2) return 0;
  auto segments = message.segments;  // moves on only if the loan succeeds
  std::array<std::byte, ddp::UntaggedLayout::kSize> header{};
  const auto piece = OutgoingMessage::next(segments, limit, header);
  const auto borrowed = reader.borrow(message.source, piece.offset, piece.length);
  if (!borrowed) return 0;
  message.segments = segments;
  const auto ends = sender_.frame_borrowed(batch.free_arena(), Bytes(header).first(piece.header_size), piece.length);
  batch.commit(ends.prefix);
  for (std::size_t i = 0; i < borrowed->used; ++i) batch.append_borrowed(borrowed->pieces[i]);
  batch.commit(ends.suffix);
  return ends.prefix + piece.length + ends.suffix;
}

}  // namespace weft::engine
