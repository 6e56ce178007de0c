// SPDX-License-Identifier: Apache-2.0
// Writes JSON without a blank, for a page: it may stand in a <script> of HTML as it is.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace weft::explain {

/// Text of any origin as a JSON string: shown_text(). "<" is escaped, so that no text ends a script of HTML.
[[nodiscard]] std::string json_string(std::string_view text);

/// Writes values one behind the other, and the commas between them.
class JsonText {
 public:
  /// What is written goes to the end of `out`.
  explicit JsonText(std::string& out) : out_(out) {}

  /// Begins an object '{' or a list '['.
  JsonText& begin(char bracket) {
    separate();
    out_ += bracket;
    fresh_ = true;
    return *this;
  }
  /// Ends it: '}' or ']'.
  JsonText& end(char bracket) {
    out_ += bracket;
    fresh_ = false;
    return *this;
  }
  /// The name of the value that comes next; it needs no escapes.
  JsonText& key(std::string_view name) {
    separate();
    out_ += '"';
    out_ += name;
    out_ += "\":";
    fresh_ = true;
    return *this;
  }
  /// A text.
  JsonText& value(std::string_view text) { return raw(json_string(text)); }
  /// A text.
  JsonText& value(const char* text) { return value(std::string_view(text)); }
  /// A number, or true and false.
  template <std::integral T>
  JsonText& value(T number) {
    if constexpr (std::same_as<T, bool>) return raw(number ? "true" : "false");
    return raw(std::to_string(number));
  }
  /// What is JSON already.
  JsonText& raw(std::string_view text) {
    separate();
    out_ += text;
    return *this;
  }
  /// A name and its value.
  template <typename T>
  JsonText& put(std::string_view name, const T& one) {
    return key(name).value(one);
  }
  /// A name and its value, where there is one.
  template <typename T>
  JsonText& put(std::string_view name, const std::optional<T>& one) {
    return one ? put(name, *one) : *this;
  }

 private:
  void separate() {
    if (!fresh_) out_ += ',';
    fresh_ = false;
  }

  std::string& out_;
  bool fresh_ = true;  // nothing stands in front that a comma would separate from
};

}  // namespace weft::explain
