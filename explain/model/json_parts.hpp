// SPDX-License-Identifier: Apache-2.0
// Parts of the model's JSON.
#pragma once

#include <string_view>
#include <vector>

#include "common/json.hpp"
#include "explain/model/model.hpp"

namespace weft::explain {

/// [at, size, name, value, meaning] of each; without a meaning where there is none.
void put_fields(JsonWriter& json, const std::vector<FieldAt>& fields);
/// Octets, fields, Markers, PAD and CRC.
void put_wire(JsonWriter& json, const Wire& wire);
/// What it does at the end that receives it.
void put_effect(JsonWriter& json, const Effect& effect);
/// Regions and receives of both ends.
void put_memory(JsonWriter& json, const Connection& connection);
/// The scripts of both ends, where they are known.
void put_laboratory(JsonWriter& json, const Connection& connection);

/// Writes the numbers as an array; nothing if there are none.
template <typename Numbers>
void put_numbers(JsonWriter& json, std::string_view key, const Numbers& numbers) {
  if (numbers.empty()) return;
  json.put(key, numbers);
}

}  // namespace weft::explain
