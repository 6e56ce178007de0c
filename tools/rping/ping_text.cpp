// SPDX-License-Identifier: Apache-2.0
#include "tools/rping/ping_text.hpp"

#include <algorithm>
#include <string>

namespace weft::tools::rping {
namespace {

constexpr char kFirst = 'A';
constexpr std::uint32_t kCharacters = 'z' - 'A' + 1;

}  // namespace

void fill_ping_text(std::span<char> buffer, std::uint32_t ping) {
  const std::string prefix = "rdma-ping-" + std::to_string(ping) + ": ";
  const std::size_t begin = std::min(prefix.size(), buffer.size());
  std::copy_n(prefix.begin(), begin, buffer.begin());
  std::uint32_t step = ping % kCharacters;
  for (char& c : buffer.subspan(begin)) {
    c = static_cast<char>(kFirst + static_cast<int>(step));
    step = (step + 1) % kCharacters;
  }
  buffer.back() = '\0';
}

std::string_view text_in(std::span<const char> buffer) {
  const auto end = std::find(buffer.begin(), buffer.end(), '\0');
  return {buffer.data(), static_cast<std::size_t>(end - buffer.begin())};
}

std::string shown_text(std::span<const char> buffer) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  for (const char c : text_in(buffer)) {
    const auto octet = static_cast<unsigned char>(c);
    if (octet >= 0x20 && octet < 0x7f) {
      out += c;
    } else {
      out.append("\\x").push_back(kDigits[octet >> 4]);
      out += kDigits[octet & 0xf];
    }
  }
  return out;
}

}  // namespace weft::tools::rping
