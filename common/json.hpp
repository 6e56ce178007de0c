// SPDX-License-Identifier: Apache-2.0
/// @file
/// JSON text, written in the order of the calls. A report never exists as a tree of values: that of a large capture
/// would need many times the memory of its text.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/wire.hpp"

namespace weft {

/// Selects the white space of JSON text, and its escapes.
enum class JsonForm : std::uint8_t {
  kIndented,  ///< a line for each member, indented by two blanks for each level; a line feed at the end
  kCompact,   ///< no white space
  kInScript,  ///< kCompact, with "<" escaped, so that no text ends the <script> of HTML that contains it
};

/// Writes one JSON object.
///
///     JsonWriter(JsonForm::kCompact).put("a", 1).begin_array("b").value("x").end().finish()   {"a":1,"b":["x"]}
///
/// The calls have to make sense: a key before each value of an object, none before an element of an array.
class JsonWriter {
 public:
  /// Begins the object.
  explicit JsonWriter(JsonForm form = JsonForm::kIndented) : form_(form) { open('{'); }

  /// Writes the name of the value that comes next.
  JsonWriter& key(std::string_view name);
  /// Writes a value: bool, an integer, a double (six significant digits; null unless it is finite), text of any origin
  /// (see shown_text()), octets as a string of hexadecimal digits, or a range of these as an array on one line.
  template <typename T>
  JsonWriter& value(const T& one) {
    separate();
    write(one);
    return *this;
  }
  /// Writes `json`, which has to be a JSON value, as it is.
  JsonWriter& raw(std::string_view json) {
    separate();
    out_ += json;
    return *this;
  }
  /// Writes a name and its value.
  template <typename T>
  JsonWriter& put(std::string_view name, const T& one) {
    return key(name).value(one);
  }
  /// Writes a name and its value if there is one.
  template <typename T>
  JsonWriter& put(std::string_view name, const std::optional<T>& one) {
    return one ? put(name, *one) : *this;
  }

  /// Begins an object that is the value of `name`, or an element of an array.
  JsonWriter& begin_object(std::string_view name = {}) { return begin(name, '{'); }
  /// Begins an array that is the value of `name`, or an element of an array.
  JsonWriter& begin_array(std::string_view name = {}) { return begin(name, '['); }
  /// Ends the object or array that began last.
  JsonWriter& end();

  /// Ends all that has begun and returns the text. The writer cannot be used any more.
  [[nodiscard]] std::string finish();

 private:
  template <typename T>
  void write(const T& one) {
    if constexpr (std::same_as<T, bool>) {
      out_ += one ? "true" : "false";
    } else if constexpr (std::integral<T>) {
      out_ += std::to_string(one);
    } else if constexpr (std::floating_point<T>) {
      write_number(one);
    } else if constexpr (std::convertible_to<const T&, std::string_view>) {
      write_text(one);
    } else if constexpr (std::convertible_to<const T&, Bytes>) {
      write_octets(one);
    } else {
      write_row(one);
    }
  }
  void write_row(const auto& all) {
    out_ += '[';
    std::string_view comma{};
    for (const auto& one : all) {
      out_ += comma;
      write(one);
      comma = form_ == JsonForm::kIndented ? ", " : ",";
    }
    out_ += ']';
  }
  void write_number(double number);
  void write_text(std::string_view text);
  void write_octets(Bytes octets);
  JsonWriter& begin(std::string_view name, char bracket);
  void open(char bracket);
  void separate();
  void new_line();

  JsonForm form_;
  std::string out_{};
  std::string open_{};  // the brackets that are open
  bool first_ = true;   // nothing is written yet at this level
  bool named_ = false;  // a key is written, and its value is not
};

}  // namespace weft
