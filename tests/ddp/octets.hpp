// SPDX-License-Identifier: Apache-2.0
// Octets for tests, written as people write them: octets("41 43 00 00").
#pragma once

#include <cctype>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "common/wire.hpp"

namespace weft::test {

using Octets = std::vector<std::byte>;

inline Octets octets(std::string_view hex) {
  Octets out;
  int high = -1;
  for (const char c : hex) {
    if (c == ' ' || c == '|') continue;
    const int digit = std::isdigit(static_cast<unsigned char>(c)) != 0 ? c - '0' : std::tolower(c) - 'a' + 10;
    if (high < 0) {
      high = digit;
    } else {
      out.push_back(static_cast<std::byte>(high << 4 | digit));
      high = -1;
    }
  }
  return out;
}

// `count` octets first, first + 1, ...
inline Octets counting(std::size_t count, std::size_t first = 0) {
  Octets out(count);
  for (std::size_t i = 0; i < count; ++i) out[i] = static_cast<std::byte>((first + i) & 0xff);
  return out;
}

inline Octets copy(Bytes bytes) { return {bytes.begin(), bytes.end()}; }

}  // namespace weft::test
