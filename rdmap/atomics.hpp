// SPDX-License-Identifier: Apache-2.0
// The arithmetic of atomic operations, RFC 7306 section 5.1, on values in the byte order of the host
// (RDMAPX-5.1.1-08, RDMAPX-5.1.2-04). The owner of the memory makes them atomic.
#pragma once

#include <cstdint>
#include <utility>

#include "rdmap/memory.hpp"

namespace weft::rdmap {

inline constexpr std::uint64_t kAtomicAlignment = 8;  // of the address, not of TO (RDMAPX-5.2.1-08)

// Adds field by field. A 1 in `mask` marks the highest bit of a field, where the carry is dropped (RDMAPX-5.1.1-02).
// The sum without those bits cannot carry past a field's end; the bits themselves are then added without carry.
[[nodiscard]] constexpr std::uint64_t masked_add(std::uint64_t value, std::uint64_t addend,
                                                 std::uint64_t mask) noexcept {
  return ((value & ~mask) + (addend & ~mask)) ^ ((value ^ addend) & mask);
}

// RDMAPX-5.1.2-01 and RDMAPX-5.1.2-02.
[[nodiscard]] constexpr std::uint64_t masked_compare_swap(std::uint64_t value, std::uint64_t compare,
                                                          std::uint64_t compare_mask, std::uint64_t swap,
                                                          std::uint64_t swap_mask) noexcept {
  if (((value ^ compare) & compare_mask) != 0) return value;
  return (value & ~swap_mask) | (swap & swap_mask);
}

// What memory holds after the operation; what it held before is the answer to the peer in every case (RDMAPX-5.1.2-03).
[[nodiscard]] constexpr std::uint64_t apply(const AtomicOperation& op, std::uint64_t value) noexcept {
  switch (op.kind) {
    case AtomicOperation::Kind::kFetchAdd: return masked_add(value, op.add_or_swap, op.add_or_swap_mask);
    case AtomicOperation::Kind::kCmpSwap:
      return masked_compare_swap(value, op.compare, op.compare_mask, op.add_or_swap, op.add_or_swap_mask);
  }
  std::unreachable();
}

}  // namespace weft::rdmap
