// SPDX-License-Identifier: Apache-2.0
// Enumerations of the C interfaces. A C program may pass any number where one is expected, and C++ has no meaning for
// an object of an enumeration that holds a value beyond its range. So such an object is looked at as a number, and
// becomes an enumerator only once it is known to be one.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace weft::compat {

// By reference: a copy would be of the enumeration's type.
template <typename Enum>
  requires std::is_enum_v<Enum>
[[nodiscard]] constexpr std::int64_t number(const Enum& value) noexcept {
  return std::bit_cast<std::int32_t>(value);
}

// Whatever the number is: for a structure that is handed on.
template <typename Enum>
  requires std::is_enum_v<Enum>
void set_number(Enum& to, std::int64_t value) noexcept {
  const auto octets = static_cast<std::int32_t>(value);
  std::memcpy(&to, &octets, sizeof to);
}

}  // namespace weft::compat
