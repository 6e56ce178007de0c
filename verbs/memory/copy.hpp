// SPDX-License-Identifier: Apache-2.0
// The copy between the octets of a stream and user memory.
#pragma once

#include <atomic>
#include <cstring>

#include "common/wire.hpp"

namespace weft::verbs::detail {

// In pieces. From some 4096 octets on glibc's memcpy leaves the copy to one instruction (`rep movsb`), which on many
// processors falls to a tenth of its speed when the target lies 1 to 31 octets behind the source, modulo 4096; and
// payload behind a header of 16 to 20 octets often does. Shorter copies are a loop of vectors, as fast in any position.
inline void copy_octets(std::byte* to, const std::byte* from, std::size_t octets) noexcept {
  constexpr std::size_t kPiece = 2048;
  for (; octets > kPiece; octets -= kPiece, to += kPiece, from += kPiece) std::memcpy(to, from, kPiece);
  std::memcpy(to, from, octets);
}

// Applications wait for an RDMA Write by polling its last octet, so that octet becomes visible after all others. A copy
// promises no order; a store with release order does.
inline void place_last_octet_last(std::byte* to, Bytes from) noexcept {
  const std::size_t before = from.size() - 1;
  copy_octets(to, from.data(), before);
  std::atomic_ref(to[before]).store(from[before], std::memory_order_release);
}

}  // namespace weft::verbs::detail
