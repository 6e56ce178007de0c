// SPDX-License-Identifier: Apache-2.0
// RFC 5044 sections 3 and 4.1: the FPDU and what it carries.
#include <catch2/catch.hpp>

#include "support.hpp"

using namespace weft;
using namespace weft::mpa;
using namespace weft::mpa::test;

namespace {

Octets sent(const Octets& ulpdu, Framing framing = {true, false}) {
  FpduSender sender(framing);
  return seal(sender, ulpdu);
}

}  // namespace

TEST_CASE("an FPDU is length, ULPDU, PAD and CRC, and nothing else",
          "[rfc5044/4.1][MPA-4.1-01][MPA-4.1-09][MPA-3-01]") {
  for (std::size_t size = 1; size < 200; ++size) {
    const Octets ulpdu = pattern(size);
    const Octets fpdu = sent(ulpdu);
    const std::size_t pad = (4 - (2 + size) % 4) % 4;
    REQUIRE(fpdu.size() == 2 + size + pad + 4);
    REQUIRE(copy(Bytes(fpdu).subspan(2, size)) == ulpdu);
  }
}

TEST_CASE("ULPDU_Length counts the ULPDU only, most significant octet first", "[rfc5044/4.1][MPA-4.1-02]") {
  for (const bool markers : {false, true}) {
    const Octets fpdu = sent(pattern(0x1234), {true, markers});
    REQUIRE(copy(Bytes(fpdu).subspan(markers ? 4 : 0, 2)) == from_hex("1234"));
  }
}

TEST_CASE("PAD octets are sent as zero, whatever lay in the buffer", "[rfc5044/4.1][MPA-4.1-03]") {
  for (std::size_t size = 1; size <= 8; ++size) {
    FpduSender sender({true, false});
    Octets room(sender.fpdu_size(size), std::byte{0xff});
    sender.seal(room, size);
    for (std::size_t i = 2 + size; i < room.size() - 4; ++i) REQUIRE(room[i] == std::byte{0});
  }
}

TEST_CASE("the receiver ignores what is in the PAD, but the CRC covers it", "[rfc5044/4.1][MPA-4.1-04]") {
  const Octets ulpdu = pattern(5);
  const Octets nonzero = reference_fpdu(ulpdu, false, 0, {.pad = std::byte{0xff}});
  REQUIRE(read_all(FpduReceiver({true, false}), nonzero).ulpdus.size() == 1);
  Octets changed = nonzero;
  changed[7] ^= std::byte{1};
  REQUIRE(read_all(FpduReceiver({true, false}), changed).error == FpduError{Fault::kCrcMismatch, 0});
}

TEST_CASE("the PAD makes every FPDU a multiple of four octets", "[rfc5044/4.1][MPA-4.1-05]") {
  REQUIRE(pad_size(1) == 1);
  REQUIRE(pad_size(2) == 0);
  REQUIRE(pad_size(3) == 3);
  REQUIRE(pad_size(4) == 2);
  for (std::size_t size = 1; size < 100; ++size) REQUIRE(sent(pattern(size)).size() % 4 == 0);
}

TEST_CASE("with CRCs on, the CRC field holds the CRC32c of the FPDU", "[rfc5044/4.1][MPA-4.1-06]") {
  const Octets fpdu = sent(pattern(33));
  const std::uint32_t crc = reference_crc(Bytes(fpdu).first(fpdu.size() - 4));
  for (std::size_t i = 0; i < 4; ++i) {
    REQUIRE(std::to_integer<std::uint32_t>(fpdu[fpdu.size() - 4 + i]) == (crc >> 8 * i & 0xff));
  }
}

TEST_CASE("with CRCs off the CRC field is sent all the same and never looked at",
          "[rfc5044/4.1][MPA-4.1-07][MPA-4.1-08][MPA-4.4-12][MPA-7.1.1-09][MPA-7.1.1-12][MPA-7.1.1-13]") {
  const Octets ulpdu = pattern(21);
  REQUIRE(sent(ulpdu, {false, false}).size() == sent(ulpdu, {true, false}).size());
  for (const std::uint32_t garbage : {0u, 0xffffffffu, 0x12345678u}) {
    const Octets fpdu = reference_fpdu(ulpdu, false, 0, {.crc = garbage});
    const Reading reading = read_all(FpduReceiver({false, false}), fpdu + fpdu);
    REQUIRE(reading.ulpdus == std::vector<Octets>{ulpdu, ulpdu});
  }
}

TEST_CASE("no ULPDU beyond 64768 octets leaves, and all from 1 to 64768 do", "[rfc5044/3][MPA-3-05][MPA-3-06]") {
  static_assert(kMinUlpdu == 1 && kMaxUlpdu == 64768);
  for (const std::size_t size : {std::size_t{1}, std::size_t{2}, std::size_t{64767}, std::size_t{64768}}) {
    const Octets ulpdu = pattern(size);
    for (const bool markers : {false, true}) {
      const Octets fpdu = sent(ulpdu, {true, markers});
      REQUIRE(read_all(FpduReceiver({true, markers}), fpdu).ulpdus == std::vector<Octets>{ulpdu});
    }
  }
}

TEST_CASE("DDP gets the ULPDU octets and their number, nothing of the frame around them",
          "[rfc5044/3][rfc5044/1.2][MPA-1.2-03][MPA-3-09][MPA-4.3-18]") {
  for (const bool markers : {false, true}) {
    for (const std::size_t size : {1u, 18u, 508u, 1500u, 5000u}) {
      const Octets ulpdu = pattern(size);
      REQUIRE(read_all(FpduReceiver({true, markers}), reference_fpdu(ulpdu, markers, 0)).ulpdus ==
              std::vector<Octets>{ulpdu});
    }
  }
}

TEST_CASE("ULPDU boundaries are kept and the order is that of sending",
          "[rfc5044/4.3][rfc5044/2][MPA-4.3-17][MPA-2-04]") {
  for (const bool markers : {false, true}) {
    FpduSender sender({true, markers});
    Octets stream;
    std::vector<Octets> expected;
    for (unsigned i = 1; i < 60; ++i) {
      expected.push_back(pattern(i * i % 97 + 1, i));
      stream = stream + seal(sender, expected.back());
    }
    REQUIRE(read_all(FpduReceiver({true, markers}), stream).ulpdus == expected);
  }
}

TEST_CASE("a ULPDU is passed on when its last octet has arrived, not before",
          "[rfc5044/1.2][rfc5044/6][MPA-1.2-07][MPA-6-06]") {
  for (const bool crc : {false, true}) {
    Octets fpdu = reference_fpdu(pattern(600), true, 0);
    FpduReceiver receiver({crc, true});
    for (std::size_t have = 0; have < fpdu.size(); ++have) {
      const auto result = receiver.next(MutableBytes(fpdu).first(have));
      REQUIRE((result && !*result));
    }
    REQUIRE(receiver.next(fpdu)->has_value());
  }
}

TEST_CASE("an FPDU needs no more buffer than its length says, 140 octets for the smallest MULPDU",
          "[rfc5044/A.5.2][MPA-A.5.2-01]") {
  std::size_t largest = 0;
  for (std::uint64_t position = 0; position < 512; position += 4) {
    for (std::size_t size = 1; size <= 128; ++size)
      largest = std::max(largest, fpdu_size({true, true}, position, size));
  }
  REQUIRE(largest == 140);
}
