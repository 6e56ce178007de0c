// SPDX-License-Identifier: Apache-2.0
// Parts of the model's JSON.
#pragma once

#include <string_view>
#include <vector>

#include "explain/model/json_text.hpp"
#include "explain/model/model.hpp"

namespace weft::explain {

/// Octets as hexadecimal digits.
void put_hex(JsonText& json, std::string_view key, Bytes octets);
/// [at, size, name, value, meaning] of each; without a meaning where there is none.
void put_fields(JsonText& json, const std::vector<FieldAt>& fields);
/// Octets, fields, Markers, PAD and CRC.
void put_wire(JsonText& json, const Wire& wire);
/// What it does at the end that receives it.
void put_effect(JsonText& json, const Effect& effect);
/// Regions and receives of both ends.
void put_memory(JsonText& json, const Connection& connection);
/// The scripts of both ends, where they are known.
void put_laboratory(JsonText& json, const Connection& connection);

/// Nothing where there are none.
template <typename Numbers>
void put_numbers(JsonText& json, std::string_view key, const Numbers& numbers) {
  if (numbers.empty()) return;
  json.key(key).begin('[');
  for (const auto number : numbers) json.value(number);
  json.end(']');
}

}  // namespace weft::explain
