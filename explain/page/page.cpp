// SPDX-License-Identifier: Apache-2.0
#include "explain/page/page.hpp"

#include <array>
#include <ostream>

#include "explain/page/page_octets.hpp"

namespace weft::explain {
namespace {

std::string_view page_text() {
  const auto octets = page_octets();
  return {reinterpret_cast<const char*>(octets.data()), octets.size()};
}

// HTML ends a script at "</script", and reads on differently after "<!--". In JSON, "<" stands in strings only, and
// there it may be escaped.
void write_json(std::ostream& out, std::string_view json) {
  for (std::size_t at = json.find('<'); at != std::string_view::npos; at = json.find('<')) {
    out << json.substr(0, at) << "\\u003c";
    json.remove_prefix(at + 1);
  }
  out << json;
}

// Encodes up to three octets as four characters.
std::array<char, 4> base64_group(std::span<const std::byte> octets) {
  static constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  unsigned bits = 0;
  for (std::size_t i = 0; i < 3; ++i)
    bits = bits << 8 | (i < octets.size() ? std::to_integer<unsigned>(octets[i]) : 0U);
  std::array<char, 4> group{};
  for (std::size_t i = 0; i < group.size(); ++i)
    group[i] = i <= octets.size() ? kDigits[bits >> (18 - 6 * i) & 63] : '=';
  return group;
}

void write_base64(std::ostream& out, std::span<const std::byte> octets) {
  for (; !octets.empty(); octets = octets.subspan(octets.size() < 3 ? octets.size() : 3)) {
    const auto group = base64_group(octets.first(octets.size() < 3 ? octets.size() : 3));
    out.write(group.data(), group.size());
  }
}

// Writes the page up to a hole, and takes that off.
void write_to_hole(std::ostream& out, std::string_view& page, std::string_view hole) {
  const std::size_t at = page.find(hole);
  out << page.substr(0, at);
  page.remove_prefix(at + hole.size());
}

}  // namespace

void write_page(std::ostream& out, std::string_view model_json, std::span<const std::byte> laboratory_wasm) {
  std::string_view page = page_text();
  write_to_hole(out, page, "@WEFT_MODEL@");
  write_json(out, model_json);
  write_to_hole(out, page, "@WEFT_WASM@");
  write_base64(out, laboratory_wasm);
  out << page;
}

}  // namespace weft::explain
