// SPDX-License-Identifier: Apache-2.0
#include "mpa/fpdu_sender.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "common/crc32c.hpp"

namespace weft::mpa {
namespace {

// The caller's arithmetic is wrong: stop before the stream is ruined.
void require(bool condition) noexcept {
  if (!condition) std::abort();
}

void zero(MutableBytes octets) noexcept { std::ranges::fill(octets, std::byte{0}); }

// MPA-4.2-01, MPA-4.2-02, MPA-4.2-05: the distance is a multiple of four.
void write_marker(MutableBytes room, std::size_t distance) noexcept {
  MarkerLayout::Reserved::put(room, 0);
  MarkerLayout::FpduPtr::put(room, static_cast<std::uint16_t>(distance));
}

// Opens a gap for each Marker at `first`, `first` + 512 ... and fills it, from the last one to the first so that each
// octet moves once. Length field, ULPDU and PAD lie contiguous from `header`. Every Marker points at the length field
// (MPA-4.3-05, MPA-4.3-15, MPA-4.3-16), over earlier Markers of the same FPDU (MPA-4.2-04).
void insert_markers(MutableBytes fpdu, std::size_t header, std::size_t first) noexcept {
  std::size_t end = fpdu.size() - kCrcSize;
  for (std::size_t left = first < end ? 1 + (end - first - 1) / kMarkerPeriod : 0; left > 0; --left) {
    const std::size_t at = first + (left - 1) * kMarkerPeriod;
    const std::size_t behind = at + kMarkerSize;
    std::memmove(fpdu.data() + behind, fpdu.data() + behind - left * kMarkerSize, end - behind);
    write_marker(fpdu.subspan(at), at - header);
    end = at;
  }
}

// MPA-4.4-13, MPA-4.4-14, MPA-4.4-15, MPA-4.4-16, MPA-4.4-17: over all that is before the CRC field, Markers included
// (MPA-4.3-01); least significant octet first.
void write_crc(MutableBytes fpdu) noexcept {
  const std::size_t covered = fpdu.size() - kCrcSize;
  CrcField::put(fpdu.subspan(covered), crc32c(fpdu.first(covered)));
}

}  // namespace

std::size_t FpduSender::seal(MutableBytes room, std::size_t ulpdu) noexcept {
  const std::size_t size = fpdu_size(ulpdu);
  require(ulpdu >= kMinUlpdu && ulpdu <= kMaxUlpdu && size <= room.size());
  const MutableBytes fpdu = room.first(size);
  const std::size_t begin = prefix_size();
  const std::size_t header = begin - kLengthSize;
  UlpduLength::put(fpdu.subspan(header), static_cast<std::uint16_t>(ulpdu));
  zero(fpdu.subspan(begin + ulpdu, pad_size(ulpdu)));  // MPA-4.1-03
  if (framing_.markers) {
    if (header > 0) write_marker(fpdu, 0);  // MPA-4.3-07, MPA-4.3-11, MPA-4.3-12
    insert_markers(fpdu, header, header > 0 ? kMarkerPeriod : octets_to_marker(position_));
  }
  if (framing_.crc) {
    write_crc(fpdu);
  } else {
    zero(fpdu.last(kCrcSize));  // MPA-4.4-12: the field is there all the same
  }
  position_ += size;
  return size;
}

FpduSender::Ends FpduSender::frame_borrowed(MutableBytes room, Bytes header, std::size_t payload) noexcept {
  const std::size_t ulpdu = header.size() + payload;
  const Ends ends{.prefix = kLengthSize + header.size(), .suffix = pad_size(ulpdu) + kCrcSize};
  require(can_borrow() && ulpdu >= kMinUlpdu && ulpdu <= kMaxUlpdu && ends.prefix + ends.suffix <= room.size());
  UlpduLength::put(room, static_cast<std::uint16_t>(ulpdu));
  std::ranges::copy(header, room.begin() + kLengthSize);
  zero(room.subspan(ends.prefix, ends.suffix));
  position_ += fpdu_size(ulpdu);
  return ends;
}

}  // namespace weft::mpa
