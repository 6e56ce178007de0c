// SPDX-License-Identifier: Apache-2.0
#include "tests/conformance/octets.hpp"

namespace weft::conformance::test {

Octets octets(std::string_view text) {
  Octets result;
  for (const char c : text) result.push_back(static_cast<std::byte>(c));
  return result;
}

Octets zeros(std::size_t count) { return Octets(count); }

Octets pattern(std::size_t count, unsigned seed) {
  Octets result;
  for (std::size_t i = 0; i < count; ++i) result.push_back(static_cast<std::byte>((i * 7 + seed * 13) % 251 | 0x20));
  return result;
}

Octets operator+(Octets left, const Octets& right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

void put(Octets& to, std::uint64_t value, unsigned size) {
  for (unsigned i = size; i > 0; --i) to.push_back(static_cast<std::byte>(value >> (8 * (i - 1)) & 0xff));
}

std::uint32_t crc32c_bit_by_bit(std::span<const std::byte> octets) {
  std::uint32_t crc = 0xffffffff;
  for (const std::byte octet : octets) {
    crc ^= std::to_integer<std::uint32_t>(octet);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0x82f63b78U : 0U);
  }
  return ~crc;
}

Octets build(const Frame& frame) {
  Octets result = octets(frame.key);
  put(result, frame.flags, 1);
  put(result, frame.revision, 1);
  put(result, frame.pd_length.value_or(static_cast<unsigned>(frame.private_data.size())), 2);
  return result + frame.private_data;
}

Octets enhanced(unsigned ird_word, unsigned ord_word) {
  Octets result;
  put(result, ird_word, 2);
  put(result, ord_word, 2);
  return result;
}

Octets untagged(unsigned opcode, unsigned queue, unsigned msn, const Octets& payload, unsigned offset, bool last) {
  Octets result;
  put(result, last ? 0x41 : 0x01, 1);
  put(result, 0x40 | opcode, 1);
  put(result, 0, 4);
  put(result, queue, 4);
  put(result, msn, 4);
  put(result, offset, 4);
  return result + payload;
}

Octets tagged(unsigned opcode, unsigned stag, std::uint64_t offset, const Octets& payload, bool last) {
  Octets result;
  put(result, last ? 0xc1 : 0x81, 1);
  put(result, 0x40 | opcode, 1);
  put(result, stag, 4);
  put(result, offset, 8);
  return result + payload;
}

Octets read_request(unsigned msn, unsigned size) {
  Octets payload;
  put(payload, 0x55, 4);
  put(payload, 0x2000, 8);
  put(payload, size, 4);
  put(payload, 0x66, 4);
  put(payload, 0x3000, 8);
  return untagged(1, 1, msn, payload);
}

// Layer 2, error 02: a CRC error, without a copied header.
Octets terminate_message() {
  Octets payload;
  put(payload, 0x20020000, 4);
  return untagged(7, 2, 1, payload);
}

// A Marker goes in front of the octet whose position is a multiple of 512, where there is an octet to come. It tells
// the distance from the length field, which a Marker in front of that knows to be zero.
Octets FpduStream::add(const Octets& ulpdu, const Wrong& wrong) {
  Octets plain;
  put(plain, wrong.length.value_or(static_cast<unsigned>(ulpdu.size())), 2);
  plain = plain + ulpdu;
  const std::size_t pad = (4 - plain.size() % 4) % 4;
  plain = plain + wrong.pad.value_or(zeros(pad));
  Octets fpdu;
  std::uint64_t header = position_;
  bool first_marker = true;
  const auto append = [&](std::byte octet, bool is_header) {
    if (markers_ && (position_ + fpdu.size()) % 512 == 0) {
      const std::uint64_t distance = is_header ? 0 : position_ + fpdu.size() - header;
      put(fpdu, first_marker && wrong.marker ? *wrong.marker : distance, 4);
      first_marker = false;
    }
    if (is_header) header = position_ + fpdu.size();
    fpdu.push_back(octet);
  };
  for (std::size_t i = 0; i < plain.size(); ++i) append(plain[i], i == 0);
  // A Marker right in front of the CRC belongs to what it covers.
  if (markers_ && (position_ + fpdu.size()) % 512 == 0) {
    put(fpdu, first_marker && wrong.marker ? *wrong.marker : position_ + fpdu.size() - header, 4);
  }
  const std::uint32_t crc = wrong.crc.value_or(crc_ ? crc32c_bit_by_bit(fpdu) : 0) ^ wrong.crc_flip;
  for (unsigned i = 0; i < 4; ++i) fpdu.push_back(static_cast<std::byte>(crc >> (8 * i) & 0xff));
  position_ += fpdu.size();
  return fpdu;
}

}  // namespace weft::conformance::test
