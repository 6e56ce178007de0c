// SPDX-License-Identifier: Apache-2.0
#include "conformance/capture/reorder_buffer.hpp"

#include <algorithm>
#include <iterator>

namespace weft::conformance::capture {

bool ReorderBuffer::holds(std::uint64_t begin, std::uint64_t end) const noexcept {
  auto piece = pieces_.upper_bound(begin);
  if (piece == pieces_.begin()) return false;
  for (--piece; piece != pieces_.end() && piece->first <= begin; ++piece) {
    begin = std::max(begin, piece->first + piece->second.size);
    if (begin >= end) return true;
  }
  return false;
}

// Calls keep(begin, end) for each run of [begin, end) that no piece covers.
template <typename Keep>
void ReorderBuffer::fill_holes(std::uint64_t begin, std::uint64_t end, Keep keep) {
  auto piece = pieces_.upper_bound(begin);
  if (piece != pieces_.begin()) {
    const auto& [offset, before] = *std::prev(piece);
    begin = std::max(begin, offset + before.size);
  }
  for (; begin < end; ++piece) {
    const std::uint64_t stop = piece == pieces_.end() ? end : std::min(end, piece->first);
    if (stop > begin) keep(begin, stop);
    if (piece == pieces_.end()) return;
    begin = std::max(begin, piece->first + piece->second.size);
  }
}

void ReorderBuffer::add(std::uint64_t next, std::uint64_t offset, Bytes octets, Place place,
                        std::optional<std::uint64_t> acknowledged) {
  if (tracker_.payload().empty()) tracker_.sequence_number(sequence(next));
  fill_holes(offset, offset + octets.size(), [&](std::uint64_t begin, std::uint64_t end) {
    const Bytes part = octets.subspan(begin - offset, end - begin);
    const auto* raw = reinterpret_cast<const std::uint8_t*>(part.data());
    tracker_.process_payload(sequence(begin), {raw, raw + part.size()});
    const Place at{place.packet, place.octet + static_cast<std::uint32_t>(begin - offset)};
    pieces_.emplace(begin, Piece{.size = part.size(), .place = at, .acknowledged = acknowledged});
    cost_ += part.size() + kPieceCost;
  });
}

void ReorderBuffer::add_cut(std::uint64_t offset, std::uint64_t size) {
  const auto behind = pieces_.lower_bound(offset);
  const std::uint64_t end = behind == pieces_.end() ? offset + size : std::min(offset + size, behind->first);
  if (holds(offset, offset + 1) || end <= offset) return;
  pieces_.emplace(offset, Piece{.size = end - offset, .cut = true});
  cost_ += kPieceCost;
}

// The octets from `next` on that the tracker holds without a hole.
Bytes ReorderBuffer::joined(std::uint64_t next, EventQueue& out) {
  if (tracker_.payload().empty()) {  // the hole before `next` was given up: nothing has told the tracker so far
    tracker_.sequence_number(sequence(next));
    tracker_.process_payload(sequence(next), {});
  }
  return out.keep(std::exchange(tracker_.payload(), {}));
}

std::uint64_t ReorderBuffer::take(std::uint64_t next, std::size_t connection, End from, std::uint64_t packet,
                                  EventQueue& out) {
  Bytes run{};
  while (!pieces_.empty() && pieces_.begin()->first == next) {
    const Piece piece = pieces_.begin()->second;
    pieces_.erase(pieces_.begin());
    if (piece.cut) {
      out.push(connection, TcpGap{from, next, piece.size, packet});
      cost_ -= kPieceCost;
    } else {
      if (run.empty()) run = joined(next, out);
      const std::size_t size = std::min<std::size_t>(piece.size, run.size());
      out.push(connection, TcpOctets{from, run.first(size), piece.place, next, piece.acknowledged});
      run = run.subspan(size);
      cost_ -= piece.size + kPieceCost;
    }
    next += piece.size;
  }
  return next;
}

}  // namespace weft::conformance::capture
