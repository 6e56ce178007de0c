// SPDX-License-Identifier: Apache-2.0
/// @file
/// One element of a scatter/gather list.
#pragma once

#include <cstdint>

namespace weft {

/// Represents one element of the scatter/gather list of a work request: `length` octets from `address` on.
/// The list itself is read only while the work request is posted. The memory must stay registered, and its content
/// unchanged (for a source) or unused (for a sink), until the work request completes. The key is checked at each use,
/// because memory may be deregistered while work is outstanding: an element that is invalid by then fails its work
/// request, and no octet outside registered memory is accessed.
struct LocalSegment {
  /// Address of the first octet, relative to the region's iova (verbs::MemoryRegion::iova()): by default its virtual
  /// address. The 8 octets that an atomic operation returns may have any alignment here; the 8 octets that it changes
  /// at the peer must be aligned to 8 (RFC 7306 section 5).
  std::uint64_t address{};
  std::uint32_t length{};  ///< length in octets; 0 accesses nothing, whatever address and key are
  std::uint32_t lkey{};    ///< key of the region: verbs::MemoryRegion::lkey(); not used for inline data
  /// Compares all members.
  bool operator==(const LocalSegment&) const = default;
};

}  // namespace weft
