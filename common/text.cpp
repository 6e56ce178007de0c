// SPDX-License-Identifier: Apache-2.0
#include "common/text.hpp"

#include <algorithm>
#include <bit>
#include <string_view>

namespace weft {
namespace {

constexpr std::string_view kHexDigits = "0123456789abcdef";

void put_octet(std::string& text, std::byte octet) {
  text += kHexDigits[std::to_integer<unsigned>(octet >> 4)];
  text += kHexDigits[std::to_integer<unsigned>(octet & std::byte{15})];
}

std::string in_hex(std::uint64_t value, std::size_t digits) {
  std::string text = "0x";
  while (digits-- > 0) text += kHexDigits[value >> 4 * digits & 15];
  return text;
}

}  // namespace

std::string hex(Bytes octets, std::size_t most) {
  std::string text;
  for (const std::byte octet : octets.first(std::min(octets.size(), most))) {
    if (!text.empty()) text += ' ';
    put_octet(text, octet);
  }
  return octets.size() > most ? text + " ..." : text;
}

std::string hex_digits(Bytes octets) {
  std::string text;
  text.reserve(2 * octets.size());
  append_hex_digits(text, octets);
  return text;
}

void append_hex_digits(std::string& text, Bytes octets) {
  for (const std::byte octet : octets) put_octet(text, octet);
}

std::string hex_number(std::uint64_t value, std::size_t octets) { return in_hex(value, 2 * octets); }

std::string short_hex(std::uint64_t value) {
  return in_hex(value, std::max<std::size_t>(1, (static_cast<std::size_t>(std::bit_width(value)) + 3) / 4));
}

std::string octets_text(std::uint64_t count) { return std::to_string(count) + (count == 1 ? " octet" : " octets"); }

std::string seconds_text(std::int64_t nanoseconds) {
  constexpr std::size_t kDigits = 6;
  const bool negative = nanoseconds < 0;
  const auto microseconds = static_cast<std::uint64_t>(negative ? -nanoseconds : nanoseconds) / 1000;
  const std::string fraction = std::to_string(microseconds % 1'000'000);
  return (negative ? "-" : "") + std::to_string(microseconds / 1'000'000) + '.' +
         std::string(kDigits - fraction.size(), '0') + fraction;
}

}  // namespace weft
