// SPDX-License-Identifier: Apache-2.0
// Fields at fixed octet offsets, big-endian but for MPA's CRC. A header is a list of such fields; no struct is ever
// laid over bytes.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
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
    std::array<std::byte, sizeof(T)> field;
    std::ranges::copy_n(octets.data() + Offset, sizeof(T), field.begin());
    return in_network_order(std::bit_cast<T>(field));
  }

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

// The same with the least significant octet first.
template <std::size_t Offset, std::unsigned_integral T>
struct Le {
  static constexpr std::size_t end = Offset + sizeof(T);

  static constexpr T get(Bytes octets) noexcept { return std::byteswap(Be<Offset, T>::get(octets)); }
  static constexpr void put(MutableBytes octets, T value) noexcept { Be<Offset, T>::put(octets, std::byteswap(value)); }
};

// A value that does not mix with other numbers: an STag is not a length, a queue number is not an MSN.
template <typename Tag, std::unsigned_integral T>
struct Strong {
  T value{};
  constexpr bool operator==(const Strong&) const = default;
};

}  // namespace weft
