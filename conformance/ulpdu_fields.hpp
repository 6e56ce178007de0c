// SPDX-License-Identifier: Apache-2.0
/// @file
/// Collection of the fields of one ULPDU. Offsets in the ULPDU become offsets in the piece, whose octets include
/// Markers.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "conformance/dissection.hpp"
#include "conformance/text.hpp"

namespace weft::conformance {

/// Appends the fields of one ULPDU to a list, in the order of the calls. Not thread-safe.
class UlpduFields {
 public:
  /// Creates a collector. Both arguments must outlive it.
  UlpduFields(const FpduSeen& fpdu, std::vector<Field>& out) : fpdu_(fpdu), out_(out) {}

  /// Adds a field of `size` octets, which begins `at` octets after the beginning of the ULPDU.
  void add(std::size_t at, std::size_t size, const FieldName& name, std::string value, std::string meaning = {}) {
    out_.push_back({fpdu_.ulpdu_at(at), size, name, std::move(value), std::move(meaning)});
  }
  /// Adds bits of the last field.
  void part(const FieldName& name, std::uint64_t value) {
    out_.push_back({out_.back().at, 0, name, std::to_string(value), {}});
  }
  /// Adds the numeric field F of a header that begins at offset `base` of the ULPDU.
  template <typename F>
  void number(std::size_t base, const FieldName& name, std::string meaning = {}) {
    constexpr std::size_t kSize = sizeof(F::get(Bytes{}));
    const auto value = F::get(fpdu_.ulpdu.subspan(base));
    add(base + F::end - kSize, kSize, name, hex(value), std::move(meaning));
  }

 private:
  const FpduSeen& fpdu_;
  std::vector<Field>& out_;
};

/// Adds the fields after the DDP header: the header of the message, or the payload of the ULP.
void put_message(UlpduFields& fields, std::size_t base, std::uint8_t opcode, Bytes payload);

}  // namespace weft::conformance
