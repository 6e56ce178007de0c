// SPDX-License-Identifier: Apache-2.0
/// @file
/// Descriptions of the fields of a wire format, for people and for programs that show octets. Each format has a table;
/// the data path does not use it.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "common/wire.hpp"

namespace weft {

/// Describes a field, or some bits of one. All strings have static storage.
struct FieldInfo {
  std::string_view layer{};      ///< "mpa", "ddp", "rdmap" or "ulp"; outside iWARP also "tcp", "ip" and the like
  std::string_view name{};       ///< name in the RFC's figure
  std::string_view filter{};     ///< Wireshark's name for display filters; empty if Wireshark has no such field
  std::string_view sentence{};   ///< purpose of the field, one sentence
  std::string_view reference{};  ///< section of the RFC: "RFC 5041 section 4.2"
  std::array<std::string_view, 4> clause_ids{};  ///< see clauses(); empty ones at the end
  /// Puts a value into words. Null if the value is self-explanatory, or if its words depend on other fields.
  std::string (*meaning)(std::uint64_t value){};
  std::uint8_t at{};     ///< first octet, counted from the beginning of its header
  std::uint8_t size{};   ///< size in octets, for bits that of the field around them; 0 if it varies
  std::uint8_t shift{};  ///< number of less significant bits in that field
  std::uint8_t bits{};   ///< number of bits; 0 for a field that is not a part of another

  /// Returns the ids of the clauses (docs/clauses/) about the field.
  [[nodiscard]] constexpr std::span<const std::string_view> clauses() const noexcept {
    const auto end = std::ranges::find(clause_ids, std::string_view());
    return {clause_ids.begin(), end};
  }
  /// Returns the value of the field. `header` must contain it, and `size` must be 1 to 8.
  [[nodiscard]] constexpr std::uint64_t value(Bytes header) const noexcept {
    std::uint64_t value = 0;
    for (const std::byte octet : header.subspan(at, size)) value = value << 8 | std::to_integer<std::uint64_t>(octet);
    return bits == 0 ? value : value >> shift & ((std::uint64_t{1} << bits) - 1);
  }
  /// Returns the same field in another section than the rest of its table.
  [[nodiscard]] constexpr FieldInfo in(std::string_view section) const noexcept {
    FieldInfo other = *this;
    return other.reference = section, other;
  }
};

/// Describes a field of `size` octets; 0: the size varies.
[[nodiscard]] consteval FieldInfo octet_field(std::size_t size, std::string_view name, std::string_view filter,
                                              std::string_view sentence, std::array<std::string_view, 4> clauses = {},
                                              std::string (*meaning)(std::uint64_t) = nullptr) {
  return {{}, name, filter, sentence, {}, clauses, meaning, 0, static_cast<std::uint8_t>(size)};
}
/// Describes the next `count` bits of the octets before them in the table, most significant bits first.
[[nodiscard]] consteval FieldInfo bit_field(unsigned count, std::string_view name, std::string_view filter,
                                            std::string_view sentence, std::array<std::string_view, 4> clauses = {}) {
  return {{}, name, filter, sentence, {}, clauses, nullptr, 0, 0, 0, static_cast<std::uint8_t>(count)};
}

/// Returns a table of fields that follow each other in a header, from octet `at` on.
template <std::size_t N>
[[nodiscard]] consteval std::array<FieldInfo, N> field_table(std::string_view layer, std::string_view reference,
                                                             const FieldInfo (&rows)[N], unsigned at = 0) {
  auto table = std::to_array(rows);
  unsigned size = 0, left = 0;
  for (FieldInfo& field : table) {
    if (field.bits == 0) {
      at += size;
      size = field.size;
      left = 8 * size;
    } else {
      left -= field.bits;
    }
    field.layer = layer;
    if (field.reference.empty()) field.reference = reference;
    field.at = static_cast<std::uint8_t>(at);
    field.size = static_cast<std::uint8_t>(size);
    field.shift = static_cast<std::uint8_t>(field.bits == 0 ? 0 : left);
  }
  return table;
}

/// Returns the offset of the first octet after the fields of a table.
[[nodiscard]] constexpr std::size_t end_of(std::span<const FieldInfo> table) noexcept {
  return table.empty() ? 0 : std::size_t{table.back().at} + table.back().size;
}

}  // namespace weft
