// SPDX-License-Identifier: Apache-2.0
// From ULPDUs to a byte stream, RFC 5044 section 4. Each FPDU carries one ULPDU (MPA-3-01). With Markers (every
// sender can, MPA-4.3-03; it does only when the peer asked, MPA-7.1.1-07, MPA-1.2-04) the stream begins with one
// (MPA-7.1.2-22), without them with the first length field (MPA-7.1.2-23). Two ways to frame one ULPDU:
//
//   in place: write the ULPDU at room[prefix_size()], then seal(): the payload is copied once, by the caller, and
//             the CRC runs over that copy, which nothing else writes.
//   borrowed: without CRC and Markers the payload may stay in user memory; frame_borrowed() writes what goes around it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/wire.hpp"
#include "mpa/fpdu.hpp"

namespace weft::mpa {

class FpduSender {
 public:
  // `position`: octets of the stream before the first FPDU; not 0 only for one that joins a stream midway.
  explicit FpduSender(Framing framing, std::uint64_t position = 0) noexcept : framing_(framing), position_(position) {}

  // Octets that the next FPDU takes in the stream for a ULPDU of `ulpdu` octets, Markers at the current position
  // included.
  [[nodiscard]] std::size_t fpdu_size(std::size_t ulpdu) const noexcept {
    return mpa::fpdu_size(framing_, position_, ulpdu);
  }

  // Where the ULPDU's first octet goes in the room given to seal(): after the length field and a leading Marker.
  [[nodiscard]] std::size_t prefix_size() const noexcept { return kLengthSize + (leading_marker() ? kMarkerSize : 0); }

  // The ULPDU lies contiguous at room[prefix_size()]. Adds length, PAD, CRC and Markers (which move parts of the ULPDU)
  // and returns the size of the FPDU, now at the front of the room. `room` holds fpdu_size(ulpdu) octets; 1 <= ulpdu <=
  // 64768.
  std::size_t seal(MutableBytes room, std::size_t ulpdu) noexcept;

  // Returns whether a payload may be sent from where it lies.
  [[nodiscard]] bool can_borrow() const noexcept { return !framing_.crc && !framing_.markers; }

  // What goes around a borrowed payload: room[0, prefix) before it, room[prefix, prefix + suffix) after it.
  struct Ends {
    std::size_t prefix{};
    std::size_t suffix{};
  };
  static constexpr std::size_t kMaxEnds =
      kLengthSize + 3 + kCrcSize;  // octets of room needed besides those of `header`

  // can_borrow() holds. The ULPDU is `header` and then `payload` octets, 1 to 64768 together.
  Ends frame_borrowed(MutableBytes room, Bytes header, std::size_t payload) noexcept;

  // Where in the stream the next FPDU begins.
  [[nodiscard]] std::uint64_t position() const noexcept { return position_; }
  [[nodiscard]] const Framing& framing() const noexcept { return framing_; }

 private:
  [[nodiscard]] bool leading_marker() const noexcept { return framing_.markers && octets_to_marker(position_) == 0; }

  Framing framing_;
  std::uint64_t position_;
};

}  // namespace weft::mpa
