// SPDX-License-Identifier: Apache-2.0
/// @file
/// Collection of the fields of a startup frame or ULPDU, by the tables of mpa/, ddp/ and rdmap/.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "common/text.hpp"
#include "conformance/dissection.hpp"

namespace weft::conformance {

/// Appends fields to a list, in the order of the calls. Not thread-safe.
class FieldList {
 public:
  /// Creates a collector for a startup frame, or for the ULPDU of `fpdu`: then offsets in the ULPDU become offsets in
  /// the piece, whose octets include Markers. The arguments must outlive it.
  FieldList(Bytes octets, std::vector<Field>& out, const FpduSeen* fpdu = nullptr)
      : octets_(octets), out_(out), fpdu_(fpdu) {}

  /// Adds a field of `size` octets, which begins `at` octets after the beginning.
  Field& add(std::size_t at, std::size_t size, const FieldInfo& info, std::string value, std::string meaning = {}) {
    return out_.emplace_back(fpdu_ == nullptr ? at : fpdu_->ulpdu_at(at), size, &info, std::move(value),
                             std::move(meaning), info.filter);
  }
  /// Adds octets as the value, `most` of them.
  Field& octets(std::size_t at, std::size_t size, const FieldInfo& info, std::string meaning = {},
                std::size_t most = 16) {
    return add(at, size, info, hex(octets_.subspan(at, size), most), std::move(meaning));
  }
  /// Adds a number, or bits of the number before it. Without words of its own, a number consists of its bits.
  Field& number(std::size_t base, const FieldInfo& info) {
    const std::uint64_t value = info.value(octets_.subspan(base));
    if (info.bits != 0) return bits(info, std::to_string(value));
    whole_ = out_.size();
    return add(base + info.at, info.size, info, hex_number(value, info.size),
               info.meaning == nullptr ? std::string() : info.meaning(value));
  }
  /// Adds all numbers of a header that begins `base` octets after the beginning.
  void header(std::size_t base, std::span<const FieldInfo> table) {
    for (const FieldInfo& info : table) number(base, info);
  }
  /// Returns the last field that `info` describes.
  Field& last(const FieldInfo& info) { return *std::ranges::find(out_.rbegin(), out_.rend(), &info, &Field::info); }

 private:
  Field& bits(const FieldInfo& info, std::string value) {
    Field& whole = out_[whole_];
    if (whole.info->meaning == nullptr) {
      if (!whole.meaning.empty()) whole.meaning += ' ';
      whole.meaning.append(info.name).append("=").append(value);
    }
    return out_.emplace_back(whole.at, std::size_t{0}, &info, std::move(value), std::string(), info.filter);
  }

  Bytes octets_;
  std::vector<Field>& out_;
  const FpduSeen* fpdu_;
  std::size_t whole_ = 0;  // the last number
};

/// Adds the fields after the DDP header: the header of the message, or the payload of the ULP.
void put_message(FieldList& fields, std::size_t base, std::uint8_t opcode, Bytes payload);

}  // namespace weft::conformance
