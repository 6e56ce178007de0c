// SPDX-License-Identifier: Apache-2.0
#include "common/json.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "common/shown_text.hpp"
#include "common/text.hpp"

namespace weft {

namespace {

// Stands in a JSON string as it is, in each form. Most texts have only such characters.
bool needs_no_escape(char c) noexcept { return c >= 0x20 && c < 0x7F && c != '"' && c != '\\' && c != '<'; }

}  // namespace

void JsonWriter::write_number(double number) {
  if (!std::isfinite(number)) {
    out_ += "null";
    return;
  }
  std::array<char, 32> text{};
  constexpr int kDigits = 6;
  const auto end = std::to_chars(text.data(), text.data() + text.size(), number, std::chars_format::general, kDigits);
  out_.append(text.data(), end.ptr);
}

void JsonWriter::write_text(std::string_view text) {
  out_ += '"';
  if (std::ranges::all_of(text, needs_no_escape)) {
    out_.append(text) += '"';
    return;
  }
  for (const char c : shown_text(text, Lines::kSeveral)) {
    switch (c) {
      case '\n': out_ += "\\n"; break;
      case '<': out_ += form_ == JsonForm::kInScript ? "\\u003c" : "<"; break;
      case '"':
      case '\\': out_ += '\\'; [[fallthrough]];
      default: out_ += c;
    }
  }
  out_ += '"';
}

void JsonWriter::write_octets(Bytes octets) {
  out_ += '"';
  append_hex_digits(out_, octets);
  out_ += '"';
}

JsonWriter& JsonWriter::key(std::string_view name) {
  separate();
  write_text(name);
  out_ += form_ == JsonForm::kIndented ? ": " : ":";
  named_ = true;
  return *this;
}

JsonWriter& JsonWriter::begin(std::string_view name, char bracket) {
  if (!name.empty()) key(name);
  separate();
  open(bracket);
  return *this;
}

JsonWriter& JsonWriter::end() {
  const char bracket = open_.back() == '{' ? '}' : ']';
  open_.pop_back();
  if (!first_) new_line();
  out_ += bracket;
  first_ = false;
  return *this;
}

std::string JsonWriter::finish() {
  while (!open_.empty()) end();
  if (form_ == JsonForm::kIndented) out_ += '\n';
  return std::move(out_);
}

void JsonWriter::open(char bracket) {
  out_ += bracket;
  open_ += bracket;
  first_ = true;
}

void JsonWriter::separate() {
  if (!named_) {
    if (!first_) out_ += ',';
    new_line();
  }
  first_ = named_ = false;
}

void JsonWriter::new_line() {
  if (form_ == JsonForm::kIndented) out_.append(1, '\n').append(2 * open_.size(), ' ');
}

}  // namespace weft
