// SPDX-License-Identifier: Apache-2.0
#include "conformance/octet_window.hpp"

#include <algorithm>

namespace weft::conformance {

void OctetWindow::append(const TcpOctets& piece) {
  if (piece.octets.empty()) return;
  if (rest_.empty()) {
    kept_.clear();
    begin_ = piece.stream_offset;
    origins_.clear();
    note_origin(piece);
    rest_ = piece.octets;
    return;
  }
  keep();
  note_origin(piece);
  // What was used up makes room first; it is at least as much as is moved, so each octet moves about once.
  const std::size_t used = kept_.size() - rest_.size();
  if (used >= rest_.size()) kept_.erase(kept_.begin(), kept_.begin() + static_cast<std::ptrdiff_t>(used));
  const std::size_t left = rest_.size();
  kept_.insert(kept_.end(), piece.octets.begin(), piece.octets.end());
  rest_ = Bytes(kept_).last(left + piece.octets.size());
}

void OctetWindow::keep() {
  if (!borrowed()) return;
  kept_.assign(rest_.begin(), rest_.end());
  rest_ = kept_;
}

void OctetWindow::restart(std::uint64_t stream_offset) {
  rest_ = {};
  shown_ = 0;
  kept_.clear();
  origins_.clear();
  begin_ = stream_offset;
}

void OctetWindow::drop(std::size_t count) {
  rest_ = rest_.subspan(count);
  shown_ -= count;
  begin_ += count;
  while (origins_.size() > 1 && origins_[1].stream_offset <= begin_) origins_.pop_front();
}

// Pieces of one packet, cut anywhere, are one origin.
void OctetWindow::note_origin(const TcpOctets& piece) {
  if (!origins_.empty()) {
    const Origin& last = origins_.back();
    const std::uint64_t distance = piece.stream_offset - last.stream_offset;
    if (last.place.packet == piece.place.packet && last.place.octet + distance == piece.place.octet) return;
  }
  origins_.push_back({piece.stream_offset, piece.place});
}

const OctetWindow::Origin* OctetWindow::origin(std::uint64_t stream_offset) const noexcept {
  const auto behind = std::ranges::upper_bound(origins_, stream_offset, {}, &Origin::stream_offset);
  return behind == origins_.begin() ? nullptr : &*std::prev(behind);
}

Place OctetWindow::place(std::size_t at) const noexcept {
  const Origin* found = origin(begin_ + at);
  if (found == nullptr) return {};
  return {found->place.packet, found->place.octet + static_cast<std::uint32_t>(begin_ + at - found->stream_offset)};
}

}  // namespace weft::conformance
