// SPDX-License-Identifier: Apache-2.0
#include "conformance/octet_window.hpp"

#include <algorithm>

namespace weft::conformance {
namespace {

constexpr std::uint64_t kOpen = ~std::uint64_t{0};  // the end of the newest origin

}  // namespace

constinit const OctetWindow::Origin OctetWindow::kNowhere{};

void OctetWindow::append(const TcpOctets& piece, std::uint64_t turn) {
  if (piece.octets.empty()) return;
  if (rest_.empty()) {
    kept_.clear();
    begin_ = piece.stream_offset;
    clear_origins();
    note_origin(piece, turn);
    rest_ = piece.octets;
    return;
  }
  keep();
  note_origin(piece, turn);
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
  clear_origins();
  begin_ = stream_offset;
}

// Pieces of one packet, cut anywhere, are one origin.
void OctetWindow::note_origin(const TcpOctets& piece, std::uint64_t turn) {
  const Origin added{piece.stream_offset, piece.place, turn, piece.acknowledged};
  if (oldest_end_ == 0) {
    oldest_ = added;
    oldest_end_ = kOpen;
    return;
  }
  const Origin& last = newer().empty() ? oldest_ : newer_.back();
  if (last.place.packet == piece.place.packet && place_in(last, piece.stream_offset) == piece.place) return;
  if (newer().empty()) oldest_end_ = piece.stream_offset;
  newer_.push_back(added);
}

void OctetWindow::forget_origins() noexcept {
  while (begin_ >= oldest_end_ && !newer().empty()) {
    oldest_ = newer().front();
    forget_first_newer();
    oldest_end_ = newer().empty() ? kOpen : newer().front().stream_offset;
  }
}

// Each origin moves about once.
void OctetWindow::forget_first_newer() noexcept {
  if (++first_newer_ * 2 < newer_.size()) return;
  newer_.erase(newer_.begin(), newer_.begin() + static_cast<std::ptrdiff_t>(first_newer_));
  first_newer_ = 0;
}

void OctetWindow::clear_origins() noexcept {
  oldest_end_ = 0;
  newer_.clear();
  first_newer_ = 0;
}

const OctetWindow::Origin& OctetWindow::origin_behind(std::uint64_t offset) const noexcept {
  const auto later = newer();
  const auto behind = std::ranges::upper_bound(later, offset, {}, &Origin::stream_offset);
  return behind == later.begin() ? kNowhere : *std::prev(behind);
}

std::size_t OctetWindow::run(std::size_t at) const noexcept {
  const std::uint64_t offset = begin_ + at;
  const auto later = newer();
  const auto behind = std::ranges::upper_bound(later, offset, {}, &Origin::stream_offset);
  const std::uint64_t stop = behind == later.end() ? end() : std::min(end(), behind->stream_offset);
  return static_cast<std::size_t>(stop - offset);
}

}  // namespace weft::conformance
