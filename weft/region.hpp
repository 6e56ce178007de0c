// SPDX-License-Identifier: Apache-2.0
/// @file
/// Registered memory of this end, and the peer's.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <ranges>
#include <span>
#include <type_traits>
#include <utility>

#include "common/access.hpp"
#include "verbs/memory.hpp"
#include "weft/error.hpp"

namespace weft {

namespace detail {
class Link;
}

/// Memory of the peer that this end may access: what the peer's Region::remote() returned. A value without ownership;
/// the peer may revoke it at any time, and an access then ends the connection with WcStatus::kRemoteAccessError.
///
/// Lengths have 32 bits, like those of messages: no operation moves more. A peer that offers a larger region sends
/// several RemoteRegions.
struct RemoteRegion {
  std::uint64_t address{};  ///< tagged offset of the first octet at the peer
  std::uint32_t length{};   ///< length in octets
  std::uint32_t rkey{};     ///< STag of the peer

  /// Returns `count` octets from `offset` on. Errors: Errc::kInvalidArgument if they are not all inside.
  [[nodiscard]] Result<RemoteRegion> subspan(std::size_t offset, std::size_t count) const;

  static constexpr std::size_t kWireSize = 16;  ///< octets of the wire format
  /// Returns the wire format: address (8 octets), length (4), rkey (4), each with its most significant octet first.
  [[nodiscard]] std::array<std::byte, kWireSize> to_wire() const noexcept;
  /// Reads the wire format from the first 16 octets, for example of Connection::peer_data(). Further octets are the
  /// application's. Errors: Errc::kInvalidArgument if there are fewer, or if address + length exceeds 2^64.
  [[nodiscard]] static Result<RemoteRegion> from_wire(std::span<const std::byte> octets);

  /// Compares all members.
  bool operator==(const RemoteRegion&) const = default;
};

/// Part of a Region: the local memory of an operation. A value without ownership; the Region must exist until the
/// operation completes. If it does not, the operation fails with WcStatus::kLocalProtectionError, and weft does not
/// access the memory.
class Slice {
 public:
  /// An empty slice: a message without octets.
  Slice() = default;
  /// Returns the octets. To write to them, use the memory itself: it may be const.
  [[nodiscard]] std::span<const std::byte> octets() const noexcept { return octets_; }
  /// Returns the length in octets.
  [[nodiscard]] std::size_t size() const noexcept { return octets_.size(); }
  /// Returns the scatter/gather element, for a work request of one's own. Errors: Errc::kMessageTooLong from 2^32
  /// octets on.
  [[nodiscard]] Result<verbs::Sge> sge() const {
    const auto length = static_cast<std::uint32_t>(size());
    if (length != size()) return std::unexpected(too_long());
    return verbs::Sge{reinterpret_cast<std::uintptr_t>(octets_.data()), length, lkey_};
  }
  /// Returns `count` octets from `offset` on. Errors: Errc::kInvalidArgument if they are not all inside.
  [[nodiscard]] Result<Slice> subspan(std::size_t offset, std::size_t count) const;

 private:
  friend class Region;
  Slice(std::span<std::byte> octets, std::uint32_t lkey) noexcept : octets_(octets), lkey_(lkey) {}
  [[nodiscard]] static Error too_long();
  std::span<std::byte> octets_{};
  std::uint32_t lkey_{};
};

/// Registered memory of this end. Connection::register_memory() creates it, and only that connection, and its peer, can
/// use it. The memory stays the program's: it must remain mapped as long as the Region exists.
///
/// The destructor revokes the access: once it returns, neither weft nor the peer accesses the memory. So declare memory
/// before its Region. Concurrent calls of const functions are safe. Movable: the other object can then only be
/// destroyed or assigned to.
class Region {
 public:
  /// Returns the whole region.
  [[nodiscard]] Slice all() const noexcept { return {{region_.address(), region_.length()}, region_.lkey()}; }
  /// Converts to the whole region.
  operator Slice() const noexcept { return all(); }  // NOLINT(google-explicit-constructor)
  /// Returns `count` octets from `offset` on. Errors: Errc::kInvalidArgument if they are not all inside.
  [[nodiscard]] Result<Slice> subspan(std::size_t offset, std::size_t count) const {
    return all().subspan(offset, count);
  }
  /// Returns what the peer needs to access the region, to be sent to it (RemoteRegion::to_wire()). What the peer may do
  /// is the Access of the registration. Of a region of 2^32 octets or more, only the first 2^32 - 1 octets are
  /// described; for the others, add to RemoteRegion::address.
  [[nodiscard]] RemoteRegion remote() const noexcept;
  /// Returns the region as verbs know it.
  [[nodiscard]] const verbs::MemoryRegion& verbs() const noexcept { return region_; }

 private:
  friend class Connection;
  friend class detail::Link;
  explicit Region(verbs::MemoryRegion region) noexcept : region_(std::move(region)) {}
  verbs::MemoryRegion region_;
};

namespace detail {

// The octets of a contiguous range, or of one object.
template <typename Memory>
auto octets_of(Memory& memory) noexcept {
  const auto octets = [](auto span) {
    static_assert(std::is_trivially_copyable_v<typename decltype(span)::element_type>, "octets arrive in this memory");
    if constexpr (std::is_const_v<typename decltype(span)::element_type>) {
      return std::span<const std::byte>(std::as_bytes(span));
    } else {
      return std::span<std::byte>(std::as_writable_bytes(span));
    }
  };
  static_assert(!std::is_pointer_v<Memory>, "a span says how long the memory is");
  if constexpr (std::ranges::contiguous_range<Memory&>) {
    return octets(std::span(memory));
  } else {
    return octets(std::span(&memory, 1));
  }
}

// What an end may do with its own memory.
template <typename Memory>
inline constexpr Access kDefaultAccess =
    std::is_same_v<decltype(octets_of(std::declval<Memory&>())), std::span<const std::byte>> ? Access::kNone
                                                                                             : Access::kLocalWrite;

}  // namespace detail
}  // namespace weft
