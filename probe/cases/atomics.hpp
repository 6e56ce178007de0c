// SPDX-License-Identifier: Apache-2.0
// Atomic operations of the prober's.
#pragma once

#include "probe/cases/steps.hpp"

namespace weft::probe::atomics {

using Kind = rdmap::AtomicOperation::Kind;
using rdmap::AtomicOperation;

inline AtomicOperation add(std::uint64_t value, std::uint64_t mask = 0) { return {Kind::kFetchAdd, value, mask, 0, 0}; }
inline AtomicOperation swap(std::uint64_t compare, std::uint64_t compare_mask, std::uint64_t value,
                            std::uint64_t mask) {
  return {Kind::kCmpSwap, value, mask, compare, compare_mask};
}
// On this place of a region.
inline rdmap::AtomicRequest request(const Region& region, std::int64_t offset, AtomicOperation operation = add(1)) {
  return {.operation = operation, .request_id = 5, .stag = region.stag, .offset = at(region, offset)};
}

// A peer program without memory for atomics may lack RFC 7306, and refuse each of them by 0/2/06.
inline void need_memory(const Scene& scene) {
  if (scene.offers(kOrders)) static_cast<void>(scene.region(Region::kPlain, kAllRights));
}

}  // namespace weft::probe::atomics
