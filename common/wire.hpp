// SPDX-License-Identifier: Apache-2.0
/// @file
/// Fields at fixed octet offsets, big-endian except for the CRC of MPA. A header is a list of such fields; no struct is
/// ever laid over octets.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>

namespace weft {

/// Refers to octets that are only read.
using Bytes = std::span<const std::byte>;
/// Refers to octets that may be written.
using MutableBytes = std::span<std::byte>;

/// Describes a big-endian field of type `T` at octet `Offset`.
template <std::size_t Offset, std::unsigned_integral T>
struct Be {
  /// Offset of the first octet after the field.
  static constexpr std::size_t end = Offset + sizeof(T);

  /// Returns the value of the field. `octets` must contain at least `end` octets; parse functions check that once for
  /// the whole header.
  static constexpr T get(Bytes octets) noexcept {
    std::array<std::byte, sizeof(T)> field;
    std::ranges::copy_n(octets.data() + Offset, sizeof(T), field.begin());
    return in_network_order(std::bit_cast<T>(field));
  }

  /// Sets the value of the field. `octets` must contain at least `end` octets.
  static constexpr void put(MutableBytes octets, T value) noexcept {
    const auto field = std::bit_cast<std::array<std::byte, sizeof(T)>>(in_network_order(value));
    std::ranges::copy_n(field.begin(), sizeof(T), octets.data() + Offset);
  }

 private:
  // One load or store and a byte swap; compilers do not make that of a loop over the octets.
  static constexpr T in_network_order(T value) noexcept {
    return std::endian::native == std::endian::little ? std::byteswap(value) : value;
  }
};

/// Describes a little-endian field of type `T` at octet `Offset`.
template <std::size_t Offset, std::unsigned_integral T>
struct Le {
  static constexpr std::size_t end = Offset + sizeof(T);

  static constexpr T get(Bytes octets) noexcept { return std::byteswap(Be<Offset, T>::get(octets)); }
  static constexpr void put(MutableBytes octets, T value) noexcept { Be<Offset, T>::put(octets, std::byteswap(value)); }
};

/// Holds a value that does not convert to other numbers: an STag is not a length, and a queue number is not an MSN.
template <typename Tag, std::unsigned_integral T>
struct Strong {
  T value{};
  constexpr bool operator==(const Strong&) const = default;
};

}  // namespace weft
