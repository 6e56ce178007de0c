// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/json.hpp"

#include <cmath>
#include <cstdio>

#include "common/shown_text.hpp"

namespace weft::tools {
namespace {

std::string number_text(double value) {
  if (!std::isfinite(value)) return "null";
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

}  // namespace

std::string json_quote(std::string_view text) {
  std::string out = "\"";
  for (const char c : shown_text(text, Lines::kSeveral)) {
    if (c == '\n') {
      out += "\\n";
      continue;
    }
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

void JsonWriter::open(char bracket) {
  out_ += bracket;
  ++depth_;
  first_ = true;
}

void JsonWriter::close(char bracket) {
  --depth_;
  if (!first_) out_ += '\n' + std::string(2 * depth_, ' ');
  out_ += bracket;
  first_ = false;
}

void JsonWriter::separate() {
  if (!first_) out_ += ',';
  out_ += '\n' + std::string(2 * depth_, ' ');
  first_ = false;
}

void JsonWriter::put_key(std::string_view key) {
  separate();
  if (!key.empty()) out_ += json_quote(key) + ": ";
}

JsonWriter& JsonWriter::text(std::string_view key, std::string_view value) {
  put_key(key);
  out_ += json_quote(value);
  return *this;
}

JsonWriter& JsonWriter::number(std::string_view key, double value) {
  put_key(key);
  out_ += number_text(value);
  return *this;
}

JsonWriter& JsonWriter::integer(std::string_view key, std::uint64_t value) {
  put_key(key);
  out_ += std::to_string(value);
  return *this;
}

JsonWriter& JsonWriter::boolean(std::string_view key, bool value) {
  put_key(key);
  out_ += value ? "true" : "false";
  return *this;
}

JsonWriter& JsonWriter::numbers(std::string_view key, std::span<const double> values) {
  put_key(key);
  out_ += '[';
  for (std::size_t i = 0; i < values.size(); ++i) out_ += (i == 0 ? "" : ", ") + number_text(values[i]);
  out_ += ']';
  return *this;
}

JsonWriter& JsonWriter::texts(std::string_view key, std::span<const std::string> values) {
  put_key(key);
  out_ += '[';
  for (std::size_t i = 0; i < values.size(); ++i) out_ += (i == 0 ? "" : ", ") + json_quote(values[i]);
  out_ += ']';
  return *this;
}

JsonWriter& JsonWriter::begin_object(std::string_view key) {
  put_key(key);
  open('{');
  return *this;
}

JsonWriter& JsonWriter::end_object() {
  close('}');
  return *this;
}

JsonWriter& JsonWriter::begin_array(std::string_view key) {
  put_key(key);
  open('[');
  return *this;
}

JsonWriter& JsonWriter::end_array() {
  close(']');
  return *this;
}

std::string JsonWriter::finish() {
  close('}');
  return std::move(out_) + '\n';
}

}  // namespace weft::tools
