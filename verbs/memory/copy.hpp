// SPDX-License-Identifier: Apache-2.0
// The copy between the octets of a stream and user memory.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

#include "common/sanitizers.hpp"
#include "common/wire.hpp"

#if WEFT_THREAD_SANITIZER
#include <sanitizer/tsan_interface.h>
#endif

namespace weft::verbs::detail {

// A long copy is fastest as one instruction (`rep movsb`), which glibc's memcpy uses from some 8192 octets on. On many
// processors, that falls to a tenth of its speed when the target lies 1 to 31 octets after the source, modulo 4096.
// Then pieces are copied instead, each by a loop of vectors. Their size is hidden from the compiler, which would make
// `rep movsq` of a known one.
inline void copy_octets(std::byte* to, const std::byte* from, std::size_t octets) noexcept {
  const auto apart = (std::bit_cast<std::uintptr_t>(to) - std::bit_cast<std::uintptr_t>(from)) % 4096;
  if (apart >= 1 && apart <= 31) {
    std::size_t piece = 2048;
    asm("" : "+r"(piece));
    for (; octets > piece; octets -= piece, to += piece, from += piece) std::memcpy(to, from, piece);
  }
  std::memcpy(to, from, octets);
}

// The number of octets, 8, 4 or 1, at the end of a piece of memory that one aligned store can write.
[[nodiscard]] inline std::size_t octets_of_last_store(const std::byte* to, std::size_t octets) noexcept {
  const auto end = std::bit_cast<std::uintptr_t>(to + octets);
  if (octets >= 8 && end % 8 == 0) return 8;
  return octets >= 4 && end % 4 == 0 ? 4 : 1;
}

// Writes octets with one store, which is visible after all earlier ones. `to` is aligned for T.
template <typename T>
WEFT_UNSEEN_BY_THREAD_SANITIZER void store_with_release(std::byte* to, const std::byte* from) noexcept {
  T value;
  __builtin_memcpy(&value, from, sizeof value);
  __atomic_store_n(reinterpret_cast<T*>(to), value, __ATOMIC_RELEASE);
}

// ThreadSanitizer pairs a load with a store of the same address only, and an application may look at the last word or
// at any end of it. So each is reported as released, and the store itself is not seen.
inline void release_ends([[maybe_unused]] std::byte* word, [[maybe_unused]] std::size_t octets) noexcept {
#if WEFT_THREAD_SANITIZER
  for (std::size_t end = octets; end != 0; end /= 2) __tsan_release(word + octets - end);
#endif
}

// Applications wait for an RDMA Write by polling its last octet or its last word (a flag, a sequence number, a length).
// That word becomes visible after all other octets, and as a whole where it is aligned, as an adapter writes it. A copy
// promises neither; one store with release order does.
inline void place_last_octet_last(std::byte* to, Bytes from) noexcept {
  const std::size_t last = octets_of_last_store(to, from.size());
  const std::size_t before = from.size() - last;
  copy_octets(to, from.data(), before);
  release_ends(to + before, last);
  switch (last) {
    case 8: return store_with_release<std::uint64_t>(to + before, from.data() + before);
    case 4: return store_with_release<std::uint32_t>(to + before, from.data() + before);
    default: return store_with_release<std::uint8_t>(to + before, from.data() + before);
  }
}

}  // namespace weft::verbs::detail
