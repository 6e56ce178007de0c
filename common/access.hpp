// SPDX-License-Identifier: Apache-2.0
/// @file
/// Rights to registered memory (RFC 5040 section 7.2).
#pragma once

#include <cstdint>

namespace weft {

/// Specifies rights to a memory region or window. Local reading is always permitted.
/// The calls of verbs/ reject other bits with Errc::kInvalidArgument, "access" or "bind.access".
enum class Access : std::uint32_t {
  kNone = 0,                ///< local reading only
  kLocalWrite = 1U << 0,    ///< local writing: receives, and sinks of RDMA Reads
  kRemoteWrite = 1U << 1,   ///< RDMA Writes of the peer; requires kLocalWrite
  kRemoteRead = 1U << 2,    ///< RDMA Reads of the peer
  kRemoteAtomic = 1U << 3,  ///< atomics of the peer; requires kLocalWrite
  kWindowBind = 1U << 4,    ///< binding of memory windows to the region
  kZeroBased = 1U << 5,     ///< not a right: tagged offsets count from 0
};
/// Returns the union of two sets of rights.
[[nodiscard]] constexpr Access operator|(Access a, Access b) noexcept {
  return static_cast<Access>(static_cast<std::uint32_t>(a) | static_cast<std::uint32_t>(b));
}
[[nodiscard]] constexpr Access operator&(Access a, Access b) noexcept {
  return static_cast<Access>(static_cast<std::uint32_t>(a) & static_cast<std::uint32_t>(b));
}
/// Returns whether `set` contains all bits of `right`.
[[nodiscard]] constexpr bool has(Access set, Access right) noexcept {
  return (static_cast<std::uint32_t>(set) & static_cast<std::uint32_t>(right)) == static_cast<std::uint32_t>(right);
}
/// All rights, without kZeroBased.
inline constexpr Access kAllAccess =
    Access::kLocalWrite | Access::kRemoteWrite | Access::kRemoteRead | Access::kRemoteAtomic | Access::kWindowBind;

}  // namespace weft
