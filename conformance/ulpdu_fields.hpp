// SPDX-License-Identifier: Apache-2.0
// Collects the fields of one ULPDU: offsets in the ULPDU become offsets in the piece, between whose octets Markers lie.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "conformance/dissection.hpp"
#include "conformance/text.hpp"

namespace weft::conformance {

// The fields of one ULPDU, in the order of the calls.
class UlpduFields {
 public:
  // Both have to outlive it.
  UlpduFields(const FpduSeen& fpdu, std::vector<Field>& out) : fpdu_(fpdu), out_(out) {}

  // A field of `size` octets, `at` octets behind the beginning of the ULPDU.
  void add(std::size_t at, std::size_t size, const FieldName& name, std::string value, std::string meaning = {}) {
    out_.push_back({fpdu_.ulpdu_at(at), size, name, std::move(value), std::move(meaning)});
  }
  // Some bits of the field that was added last.
  void part(const FieldName& name, std::uint64_t value) {
    out_.push_back({out_.back().at, 0, name, std::to_string(value), {}});
  }
  // `base`: where in the ULPDU the header begins that F is a field of.
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

// What is behind the DDP header: the message's own header, or the payload of the ULP.
void put_message(UlpduFields& fields, std::size_t base, std::uint8_t opcode, Bytes payload);

}  // namespace weft::conformance
