// SPDX-License-Identifier: Apache-2.0
// The one copy between a stream's octets and user memory.
#pragma once

#include <atomic>
#include <cstring>

#include "common/wire.hpp"

namespace weft::verbs::detail {

// Applications wait for an RDMA Write by polling its last octet, so that octet becomes visible after all others. memcpy
// promises no order; a store with release order does.
inline void place_last_octet_last(std::byte* to, Bytes from) noexcept {
  const std::size_t before = from.size() - 1;
  std::memcpy(to, from.data(), before);
  std::atomic_ref(to[before]).store(from[before], std::memory_order_release);
}

}  // namespace weft::verbs::detail
