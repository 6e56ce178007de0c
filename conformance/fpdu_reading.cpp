// SPDX-License-Identifier: Apache-2.0
#include "conformance/fpdu_reading.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "common/crc32c.hpp"
#include "conformance/plausible.hpp"
#include "ddp/header.hpp"
#include "mpa/fpdu_receiver.hpp"

namespace weft::conformance {
namespace {

// The beginning of the ULPDU, stepped over a Marker that interrupts it.
struct Beginning {
  std::array<std::byte, ddp::UntaggedLayout::kSize> octets{};
  std::size_t size = 0;
};

std::optional<Beginning> beginning(Bytes octets, const Extent& extent, const Track& track) noexcept {
  Beginning result;
  const std::size_t wanted = std::min(result.octets.size(), extent.ulpdu);
  std::size_t at = extent.header + mpa::kLengthSize;
  while (result.size < wanted) {
    if (track.framing.markers && mpa::octets_to_marker(track.position + at) == 0) at += mpa::kMarkerSize;
    if (at >= octets.size()) return std::nullopt;
    result.octets[result.size++] = octets[at++];
  }
  return result;
}

bool pad_is_zero(Bytes octets, const Extent& extent) noexcept {
  const Bytes pad = octets.subspan(mpa::kLengthSize + extent.ulpdu, mpa::pad_size(extent.ulpdu));
  return std::ranges::all_of(pad, [](std::byte octet) { return octet == std::byte{0}; });
}

}  // namespace

std::optional<Extent> extent(Bytes octets, const Track& track) noexcept {
  const bool leading = track.framing.markers && mpa::octets_to_marker(track.position) == 0;  // MPA-4.3-08
  const std::size_t header = leading ? mpa::kMarkerSize : 0;
  if (octets.size() < header + mpa::kLengthSize) return std::nullopt;
  const std::size_t ulpdu = mpa::UlpduLength::get(octets.subspan(header));
  return Extent{header, ulpdu, mpa::fpdu_size(track.framing, track.position, ulpdu)};
}

std::uint32_t crc_field(Bytes fpdu) noexcept {
  return std::byteswap(Be<0, std::uint32_t>::get(fpdu.last(mpa::kCrcSize)));  // MPA-4.4-13: least significant first
}

std::uint32_t computed_crc(Bytes fpdu) noexcept { return crc32c(fpdu.first(fpdu.size() - mpa::kCrcSize)); }

std::optional<bool> plausible(Bytes octets, const Extent& extent, const Track& track) noexcept {
  const auto begin = beginning(octets, extent, track);
  if (!begin) return std::nullopt;
  return plausible_ulpdu(Bytes(begin->octets).first(begin->size), extent.ulpdu);
}

// PAD that is not zero may be a departure of the sender, or the payload after a length that is too small.
bool convincing(Bytes octets, const Extent& extent, const Track& track) noexcept {
  if (!track.framing.crc) {
    return plausible(octets, extent, track).value_or(false) && (track.framing.markers || pad_is_zero(octets, extent));
  }
  const Bytes fpdu = octets.first(extent.size);
  return computed_crc(fpdu) == crc_field(fpdu);
}

std::optional<std::size_t> markers_that_agree(Bytes octets, const Extent& extent, const Track& track) noexcept {
  std::size_t inside = 0;
  for (std::size_t at = mpa::octets_to_marker(track.position); at < extent.size; at += mpa::kMarkerPeriod) {
    const std::size_t distance = at < extent.header ? 0 : at - extent.header;
    if (mpa::MarkerLayout::FpduPtr::get(octets.subspan(at)) != static_cast<std::uint16_t>(distance))
      return std::nullopt;
    inside += distance > 0 ? 1 : 0;
  }
  return inside;
}

void FpduReader::read(const Extent& extent, const Track& track, FpduSeen& seen) {
  const Bytes fpdu = seen.piece.octets;
  seen.position = track.position;
  seen.framing = track.framing;
  seen.ulpdu_length = static_cast<std::uint16_t>(extent.ulpdu);
  find_markers(fpdu, extent, track);
  seen.markers = markers_;
  const std::size_t pad = mpa::pad_size(extent.ulpdu);
  const Bytes inside =
      markers_.empty() ? fpdu.subspan(mpa::kLengthSize, extent.ulpdu + pad) : without_markers(fpdu, extent, track);
  seen.ulpdu = inside.first(extent.ulpdu);
  seen.pad = inside.subspan(extent.ulpdu, pad);
  seen.crc_field = crc_field(fpdu);
  if (seen.crc == CrcVerdict::kBad) seen.crc_computed = computed_crc(fpdu);
}

void FpduReader::find_markers(Bytes fpdu, const Extent& extent, const Track& track) {
  markers_.clear();
  if (!track.framing.markers) return;
  for (std::size_t at = mpa::octets_to_marker(track.position); at < fpdu.size(); at += mpa::kMarkerPeriod) {
    const Bytes marker = fpdu.subspan(at);
    const std::size_t distance = at < extent.header ? 0 : at - extent.header;
    markers_.push_back({.at = at,
                        .reserved = mpa::MarkerLayout::Reserved::get(marker),
                        .pointer = mpa::MarkerLayout::FpduPtr::get(marker),
                        .expected_pointer = static_cast<std::uint16_t>(distance)});
  }
}

// ULPDU and PAD. The receiver of the live stack closes the gaps; it is shown the Markers that ought to be there, so
// that it has nothing to object to.
Bytes FpduReader::without_markers(Bytes fpdu, const Extent& extent, const Track& track) {
  scratch_.assign(fpdu.begin(), fpdu.end());
  for (const MarkerSeen& marker : markers_) {
    mpa::MarkerLayout::FpduPtr::put(MutableBytes(scratch_).subspan(marker.at), marker.expected_pointer);
  }
  mpa::FpduReceiver receiver({.crc = false, .markers = true}, track.position);
  const auto result = receiver.next(scratch_);
  if (!result || !*result) return {};  // never: the FPDU is whole and its Markers are right
  return Bytes((*result)->ulpdu.data(), extent.ulpdu + mpa::pad_size(extent.ulpdu));
}

}  // namespace weft::conformance
