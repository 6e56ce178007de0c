// SPDX-License-Identifier: Apache-2.0
// Octets of startup frames, ULPDUs and FPDUs for the tests, written out from the figures of the RFCs. Nothing of weft's
// senders, layouts or CRC is used: what they had in common with the auditor, a test would not see.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace weft::conformance::test {

using Octets = std::vector<std::byte>;

Octets octets(std::string_view text);  // the characters
Octets zeros(std::size_t count);
Octets pattern(std::size_t count, unsigned seed = 1);  // never looks like a DDP header
Octets operator+(Octets left, const Octets& right);
void put(Octets& to, std::uint64_t value, unsigned size);  // big-endian
std::uint32_t crc32c_bit_by_bit(std::span<const std::byte> octets);

// RFC 5044 figure 8, RFC 6581 figure 4.
struct Frame {
  std::string_view key = "MPA ID Req Frame";
  unsigned flags = 0x40;  // M 80, C 40, R 20, S 10
  unsigned revision = 1;
  Octets private_data{};
  std::optional<unsigned> pd_length{};  // as written, when it is not the size
};
Octets build(const Frame& frame);
inline constexpr std::string_view kReplyKey = "MPA ID Rep Frame";
// A B IRD, C D ORD.
Octets enhanced(unsigned ird_word, unsigned ord_word);

// RFC 5041 figures 3 and 4 with the control octet of RFC 5040.
Octets untagged(unsigned opcode, unsigned queue, unsigned msn, const Octets& payload, unsigned offset = 0,
                bool last = true);
Octets tagged(unsigned opcode, unsigned stag, std::uint64_t offset, const Octets& payload, bool last = true);
inline Octets send(unsigned msn, const Octets& payload) { return untagged(3, 0, msn, payload); }
inline Octets write(const Octets& payload) { return tagged(0, 0x1234, 0x1000, payload); }
Octets read_request(unsigned msn, unsigned size);
Octets terminate_message();

// RFC 5044 section 4, octet by octet.
class FpduStream {
 public:
  struct Wrong {  // what is not as it should be
    std::optional<unsigned> length{};
    std::optional<Octets> pad{};
    std::optional<std::uint32_t> crc{};  // least significant octet first
    std::uint32_t crc_flip = 0;
    std::optional<std::uint32_t> marker{};  // the first Marker of the FPDU
  };
  FpduStream(bool crc, bool markers) : crc_(crc), markers_(markers) {}
  Octets add(const Octets& ulpdu, const Wrong& wrong);
  Octets add(const Octets& ulpdu) { return add(ulpdu, Wrong{}); }

 private:
  bool crc_;
  bool markers_;
  std::uint64_t position_ = 0;
};

}  // namespace weft::conformance::test
