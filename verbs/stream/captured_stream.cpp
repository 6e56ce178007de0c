// SPDX-License-Identifier: Apache-2.0
#include "verbs/stream/captured_stream.hpp"

#include <algorithm>

#include "mpa/fpdu.hpp"

namespace weft::verbs::detail {

void CapturedStream::sent(std::span<const Bytes> pieces) {
  if (outbound_.frame_seen && outbound_.whole) return stream_.sent(pieces);
  joined_.clear();
  for (const Bytes piece : pieces) joined_.insert(joined_.end(), piece.begin(), piece.end());
  for (Bytes run = joined_; !run.empty();) {
    const std::size_t octets = front(outbound_, inbound_, run);
    stream_.sent(run.first(octets));
    run = run.subspan(octets);
  }
}

void CapturedStream::understood(std::size_t octets) {
  octets = std::min(octets, arrived_.size());  // less after rest()
  received(Bytes(arrived_).first(octets));
  arrived_.erase(arrived_.begin(), arrived_.begin() + static_cast<std::ptrdiff_t>(octets));
}

void CapturedStream::received(Bytes octets) {
  while (!octets.empty()) {
    const std::size_t size = front(inbound_, outbound_, octets);
    stream_.received(octets.first(size));
    octets = octets.subspan(size);
  }
}

// Octets for the next packet. The M bit of one direction's startup frame asks for Markers in the other direction
// (MPA-7.1.1-06), and both frames have passed before the first FPDU does.
std::size_t CapturedStream::front(Half& half, Half& other, Bytes run) {
  if (!half.frame_seen) {
    half.frame_seen = true;
    const auto frame = mpa::parse_startup_frame(run, half.opens_with);
    if (!frame || !*frame) return run.size();
    other.whole = !(*frame)->markers;
    return (*frame)->size();
  }
  if (half.whole) return run.size();
  const std::size_t length_at = mpa::octets_to_marker(half.position) == 0 ? mpa::kMarkerSize : 0;
  if (run.size() < length_at + mpa::kLengthSize) return run.size();
  const std::size_t ulpdu = mpa::UlpduLength::get(run.subspan(length_at));
  const std::size_t size = mpa::fpdu_size({.markers = true}, half.position, ulpdu);
  half.position += size;
  return std::min(size, run.size());
}

}  // namespace weft::verbs::detail
