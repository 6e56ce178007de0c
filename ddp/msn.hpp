// SPDX-License-Identifier: Apache-2.0
// Serial arithmetic of Message Sequence Numbers (RFC 5041 section 4.3). They wrap, so "smaller" means nothing: there is
// no operator<, only a successor and a distance from a number that the asker names.
#pragma once

#include "ddp/header.hpp"

namespace weft::ddp {

inline constexpr Msn kFirstMsn{1};  // DDP-4.3-11: each queue of each direction starts at 1

// DDP-4.3-10: plus one modulo 2^32; after 0xFFFFFFFF comes 0 (DDP-4.3-12).
[[nodiscard]] constexpr Msn next(Msn msn) noexcept { return {msn.value + 1U}; }

// Returns how many steps forward lead from one number to the other.
[[nodiscard]] constexpr std::uint32_t distance(Msn from, Msn to) noexcept { return to.value - from.value; }

// Numbers outgoing messages of one queue.
class MsnSource {
 public:
  explicit constexpr MsnSource(Msn first = kFirstMsn) noexcept : next_(first) {}
  constexpr Msn take() noexcept {
    const Msn taken = next_;
    next_ = next(next_);
    return taken;
  }

 private:
  Msn next_;
};

}  // namespace weft::ddp
