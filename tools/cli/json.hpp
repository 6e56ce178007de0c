// SPDX-License-Identifier: Apache-2.0
// Writes JSON text, indented, in the order of the calls. Enough for reports of a screenful; it reads nothing.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace weft::tools {

class JsonWriter {
 public:
  JsonWriter() { open('{'); }

  JsonWriter& text(std::string_view key, std::string_view value);
  JsonWriter& number(std::string_view key, double value);  // infinities and NaN become null
  JsonWriter& integer(std::string_view key, std::uint64_t value);
  JsonWriter& boolean(std::string_view key, bool value);
  JsonWriter& numbers(std::string_view key, std::span<const double> values);
  JsonWriter& texts(std::string_view key, std::span<const std::string> values);
  JsonWriter& begin_object(std::string_view key = {});  // without a key: an element of an array
  JsonWriter& end_object();
  JsonWriter& begin_array(std::string_view key);
  JsonWriter& end_array();

  // Closes the outermost object; the writer is finished then.
  [[nodiscard]] std::string finish();

 private:
  void open(char bracket);
  void close(char bracket);
  void separate();
  void put_key(std::string_view key);

  std::string out_{};
  std::size_t depth_ = 0;
  bool first_ = true;  // nothing written yet at this depth
};

// A JSON string of text of any origin: shown_text() with the escapes of JSON.
[[nodiscard]] std::string json_quote(std::string_view text);

}  // namespace weft::tools
