// SPDX-License-Identifier: Apache-2.0
// Big-endian fields at fixed octet offsets. A header is a list of such fields; no struct is ever laid over bytes.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>

namespace weft {

using Bytes = std::span<const std::byte>;
using MutableBytes = std::span<std::byte>;

template <std::size_t Offset, std::unsigned_integral T>
struct Be {
  static constexpr std::size_t end = Offset + sizeof(T);

  // The caller has checked that `octets` holds at least `end` octets; parse functions do so once, for the whole header.
  static constexpr T get(Bytes octets) noexcept {
    T value{};
    for (std::size_t i = 0; i < sizeof(T); ++i) {
      value =
          static_cast<T>(static_cast<std::uint64_t>(value) << 8 | std::to_integer<std::uint64_t>(octets[Offset + i]));
    }
    return value;
  }

  static constexpr void put(MutableBytes octets, T value) noexcept {
    for (std::size_t i = 0; i < sizeof(T); ++i) {
      octets[Offset + i] = static_cast<std::byte>(value >> (8 * (sizeof(T) - 1 - i)) & 0xff);
    }
  }
};

// A value that does not mix with other numbers: an STag is not a length, a queue number is not an MSN.
template <typename Tag, std::unsigned_integral T>
struct Strong {
  T value{};
  constexpr bool operator==(const Strong&) const = default;
};

}  // namespace weft
