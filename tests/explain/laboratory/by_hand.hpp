// SPDX-License-Identifier: Apache-2.0
// Octets of a peer, put together from the figures of the RFCs without weft's own serializers, and its CRC bit by bit.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/wire.hpp"

namespace weft::explain::laboratory::test {

using Octets = std::vector<std::byte>;

// "00 1f | c1": blanks and bars are for the reader.
inline Octets octets_of(std::string_view text) {
  Octets octets;
  std::string digits;
  for (const char c : text) {
    if (c != ' ' && c != '|') digits += c;
  }
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2) {
    octets.push_back(static_cast<std::byte>(std::stoul(digits.substr(i, 2), nullptr, 16)));
  }
  return octets;
}

inline std::string digits_of(Bytes octets) {
  std::string text;
  for (const std::byte octet : octets) {
    for (const unsigned nibble : {std::to_integer<unsigned>(octet) >> 4, std::to_integer<unsigned>(octet) & 15}) {
      text += "0123456789abcdef"[nibble];
    }
  }
  return text;
}

// The definition: polynomial 0x1EDC6F41, least significant bit first.
inline std::uint32_t crc_by_bits(Bytes octets) {
  std::uint32_t value = 0xffffffff;
  for (const std::byte octet : octets) {
    value ^= std::to_integer<std::uint32_t>(octet);
    for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ ((value & 1) != 0 ? 0x82f63b78 : 0);
  }
  return ~value;
}

inline void repair(Octets& fpdu) {
  const std::uint32_t crc = crc_by_bits(Bytes(fpdu).first(fpdu.size() - 4));
  for (unsigned i = 0; i < 4; ++i) fpdu[fpdu.size() - 4 + i] = static_cast<std::byte>(crc >> (8 * i));
}

// RFC 5044 figure 3: length, ULPDU, PAD, CRC.
inline Octets fpdu(std::string_view ulpdu_text) {
  const Octets ulpdu = octets_of(ulpdu_text);
  Octets octets{static_cast<std::byte>(ulpdu.size() >> 8), static_cast<std::byte>(ulpdu.size())};
  octets.insert(octets.end(), ulpdu.begin(), ulpdu.end());
  octets.resize((octets.size() + 3) / 4 * 4 + 4);
  repair(octets);
  return octets;
}

// RFC 5044 figure 9: the key, then M C R and reserved bits, revision 1, no private data.
inline Octets request(std::string_view flags = "40") {
  return octets_of("4d504120494420526571204672616d65" + std::string(flags) + "010000");
}
inline Octets reply(std::string_view flags = "40") {
  return octets_of("4d504120494420526570204672616d65" + std::string(flags) + "010000");
}

}  // namespace weft::explain::laboratory::test
