// SPDX-License-Identifier: Apache-2.0
#include "explain/laboratory/json.hpp"

namespace weft::explain::laboratory {
namespace {

constexpr std::string_view kDigits = "0123456789abcdef";

}  // namespace

// Everything that the laboratory says is ASCII. What is not is escaped octet by octet, so that the JSON stays valid.
void JsonWriter::text(std::string_view value) {
  put("\"");
  for (const char c : value) {
    const auto octet = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') out_ += '\\';
    if (octet >= 0x20 && octet < 0x7f) {
      out_ += c;
    } else {
      out_ += "\\u00";
      out_ += kDigits[octet >> 4];
      out_ += kDigits[octet & 15];
    }
  }
  out_ += '"';
}

void JsonWriter::octets(Bytes value) {
  put("\"");
  for (const std::byte octet : value) {
    out_ += kDigits[std::to_integer<unsigned>(octet) >> 4];
    out_ += kDigits[std::to_integer<unsigned>(octet) & 15];
  }
  out_ += '"';
}

}  // namespace weft::explain::laboratory
