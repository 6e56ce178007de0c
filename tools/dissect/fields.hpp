// SPDX-License-Identifier: Apache-2.0
// A startup frame or FPDU with all its fields, as text or as a line of JSON.
#pragma once

#include <string>
#include <vector>

#include "common/json.hpp"
#include "conformance/dissection.hpp"
#include "tools/dissect/part.hpp"

namespace weft::tools::dissect {

struct Frame {
  std::size_t connection{};
  const conformance::Piece& piece;
  std::string what{};
  std::vector<conformance::Field> fields{};
  bool terminate{};  // a Terminate message
};

// What is told of a direction between its FPDUs.
struct Remark {
  std::size_t connection{};
  conformance::Direction from{};
  std::uint64_t packet{};
  std::string sentence{};
};

// Stands once above all fields: what their columns are.
[[nodiscard]] std::string fields_heading(const Palette& palette);
// `explain`: below each field, and for each of its bits, what it is for.
[[nodiscard]] std::string fields_text(const std::vector<conformance::Field>& fields, const Palette& palette,
                                      bool explain, bool terminate);
void put_fields(JsonWriter& json, const std::vector<conformance::Field>& fields);
[[nodiscard]] std::string text_of(const Frame& frame, const Palette& palette, bool explain);
[[nodiscard]] std::string text_of(const Remark& remark, const Palette& palette);
[[nodiscard]] std::string json_of(const Frame& frame);
[[nodiscard]] std::string json_of(const Remark& remark);

}  // namespace weft::tools::dissect
