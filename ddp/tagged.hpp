// SPDX-License-Identifier: Apache-2.0
// Tagged segments: placement through the STag (RFC 5041 sections 4.2, 5.2, 7.1).
#pragma once

#include <cstdint>
#include <expected>
#include <limits>

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

}  // namespace weft::ddp
