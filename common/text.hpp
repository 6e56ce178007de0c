// SPDX-License-Identifier: Apache-2.0
/// @file
/// Octets, numbers and counts as text. The core has no formatting library.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>

#include "common/wire.hpp"

namespace weft {

/// Returns octets as "0a 00". After `most` octets, "..." follows.
[[nodiscard]] std::string hex(Bytes octets, std::size_t most = 16);

/// Returns all octets as "0a00", for programs.
[[nodiscard]] std::string hex_digits(Bytes octets);
/// Appends hex_digits(octets) to `text`.
void append_hex_digits(std::string& text, Bytes octets);

/// Returns a value as "0x0a", with two digits per octet of a type that has `octets` octets.
[[nodiscard]] std::string hex_number(std::uint64_t value, std::size_t octets);
/// Returns a value in hexadecimal, with two digits per octet of its type.
template <std::unsigned_integral T>
[[nodiscard]] std::string hex(T value) {
  return hex_number(value, sizeof value);
}
/// Returns a value as "0xa", without leading zeros.
[[nodiscard]] std::string short_hex(std::uint64_t value);

/// Returns "1 octet" or "17 octets".
[[nodiscard]] std::string octets_text(std::uint64_t count);

/// Returns nanoseconds as "-1.000345", seconds with six digits of their fraction.
[[nodiscard]] std::string seconds_text(std::int64_t nanoseconds);

}  // namespace weft
