// SPDX-License-Identifier: Apache-2.0
// Tagged segments: placement through the STag, and the messages that the L flag delimits (RFC 5041
// sections 4.2, 5.2, 7.1).
#pragma once

#include <cstdint>
#include <expected>
#include <limits>
#include <optional>

#include "ddp/errors.hpp"
#include "ddp/placement.hpp"

namespace weft::ddp {

// DDP-7.1-16: does [offset, offset + length) pass 2^64? The end is exclusive, so a range may end exactly there: its
// last octet still has a Tagged Offset. A range without octets passes nothing.
[[nodiscard]] constexpr bool offset_wraps(TaggedOffset offset, std::uint64_t length) noexcept {
  return length > 0 && offset.value > std::numeric_limits<std::uint64_t>::max() - (length - 1);
}

// Places a tagged segment. A segment without payload touches nothing and its STag and TO are not looked at
// (DDP-5.2-13). The owner of memory makes the checks of section 7.1; on error no octet has been written (DDP-7.1-17,
// DDP-8.1-01).
inline std::expected<void, TaggedError> place_tagged(const TaggedHeader& header, Bytes payload, Placement& placement) {
  if (payload.empty()) return {};
  const auto placed = placement.place_tagged(header.stag, header.offset, payload);
  if (!placed) return std::unexpected(tagged_error(placed.error()));
  return {};
}

// What DDP hands up when the last segment of a tagged message was placed (DDP-4.2-05, DDP-4.2-09).
struct TaggedMessage {
  std::uint8_t rsvd_ulp{};
  Stag stag{};
  std::uint64_t length{};
};

// Follows tagged messages by their L flags; they have no other mark (DDP-5.2-06). Nothing is refused here.
class TaggedTracker {
 public:
  // A segment that was placed. Returns the message that it completes.
  constexpr std::optional<TaggedMessage> advance(const TaggedHeader& header, std::size_t length) noexcept {
    length_ += length;
    open_ = !header.last;
    if (open_) return std::nullopt;
    const TaggedMessage done{header.rsvd_ulp, header.stag, length_};
    length_ = 0;
    return done;
  }

  // A message has begun and not ended: a stream that closes now was cut.
  [[nodiscard]] constexpr bool open() const noexcept { return open_; }

 private:
  std::uint64_t length_ = 0;
  bool open_ = false;
};

}  // namespace weft::ddp
