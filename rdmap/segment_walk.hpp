// SPDX-License-Identifier: Apache-2.0
/// @file
/// The walk along a scatter/gather list.
#pragma once

#include <algorithm>
#include <cstdint>
#include <expected>

#include "rdmap/memory.hpp"

namespace weft::rdmap {

/// Calls visit(segment, octets of it to skip, octets of it to use) for the part [offset, offset + length) of a list,
/// and stops at the first error that `visit` returns. Segments without octets in the part are left out.
/// Returns kBaseOrBounds if the list is too short.
template <typename Visit>
std::expected<void, ddp::LocalFault> walk_segments(LocalSegments list, std::uint64_t offset, std::uint64_t length,
                                                   Visit visit) {
  for (const LocalSegment& segment : list) {
    if (length == 0) break;
    const std::uint64_t skip = std::min<std::uint64_t>(offset, segment.length);
    const std::uint64_t use = std::min(length, segment.length - skip);
    offset -= skip;
    length -= use;
    if (use == 0) continue;
    if (const auto done = visit(segment, skip, use); !done) return done;
  }
  if (length != 0) return std::unexpected(ddp::LocalFault::kBaseOrBounds);
  return {};
}

}  // namespace weft::rdmap
