// SPDX-License-Identifier: Apache-2.0
// RFC 5044 sections 4.2 and 4.3: Markers.
#include <catch2/catch.hpp>

#include "support.hpp"

using namespace weft;
using namespace weft::mpa;
using namespace weft::mpa::test;

namespace {

struct Stream {
  Octets octets{};
  std::vector<std::uint64_t> headers{};  // where each length field lies
};

// Small and large FPDUs, so that Markers fall within, between and before CRC fields.
Stream long_stream() {
  FpduSender sender({true, true});
  Stream stream;
  for (unsigned i = 0; i < 400; ++i) {
    const Octets ulpdu = pattern(1 + i * 37 % 230 + (i % 50 == 0 ? 1500 : 0), i);
    stream.headers.push_back(stream.octets.size() + sender.prefix_size() - kLengthSize);
    stream.octets = stream.octets + seal(sender, ulpdu);
  }
  return stream;
}

std::uint16_t word(const Octets& octets, std::uint64_t at) {
  return Be<0, std::uint16_t>::get(Bytes(octets).subspan(static_cast<std::size_t>(at)));
}

Reading receive(const Octets& fpdu, std::uint64_t position) {
  return read_all(FpduReceiver({true, true}, position), fpdu);
}

}  // namespace

TEST_CASE(
    "a Marker stands at every 512th octet of the stream, from its first octet on",
    "[rfc5044/4.3][rfc5044/2][MPA-4.3-04][MPA-4.3-11][MPA-4.3-12][MPA-4.3-13][MPA-2-05][MPA-7.1.1-08][MPA-7.1.2-22]") {
  const Stream stream = long_stream();
  REQUIRE(copy(Bytes(stream.octets).first(4)) == from_hex("00000000"));
  REQUIRE(stream.headers.front() == 4);
  for (std::uint64_t at = 0; at + 4 <= stream.octets.size(); at += 512) {
    const std::uint64_t pointer = word(stream.octets, at + 2);
    const std::uint64_t header = pointer == 0 ? at + 4 : at - pointer;
    REQUIRE(std::ranges::count(stream.headers, header) == 1);
  }
}

TEST_CASE("a Marker is two reserved octets of zero and a pointer whose low bits are zero",
          "[rfc5044/4.2][MPA-4.2-01][MPA-4.2-02][MPA-4.2-05]") {
  const Stream stream = long_stream();
  for (std::uint64_t at = 0; at + 4 <= stream.octets.size(); at += 512) {
    REQUIRE(word(stream.octets, at) == 0);
    REQUIRE(word(stream.octets, at + 2) % 4 == 0);
  }
}

TEST_CASE("FPDUPTR is the distance from the length field of the FPDU that holds the Marker",
          "[rfc5044/4.3][rfc5044/4.2][MPA-4.2-04][MPA-4.3-05][MPA-4.3-15][MPA-4.3-16]") {
  const Stream stream = long_stream();
  for (std::size_t i = 0; i + 1 < stream.headers.size(); ++i) {
    const std::uint64_t header = stream.headers[i];
    std::uint64_t end = stream.headers[i + 1];
    if (end % 512 == 4) end -= 4;  // a Marker before the next header belongs to that
    for (std::uint64_t at = (header / 512 + 1) * 512; at < end; at += 512) {
      REQUIRE(word(stream.octets, at + 2) == at - header);
    }
  }
}

TEST_CASE("a Marker between two FPDUs has FPDUPTR zero and travels with the second",
          "[rfc5044/4.3][MPA-4.3-07][MPA-4.3-08][MPA-4.3-09]") {
  FpduSender sender({true, true});
  const Octets first = seal(sender, pattern(502));  // 4 + 2 + 502 + 4 = 512
  REQUIRE(first.size() == 512);
  REQUIRE(sender.prefix_size() == kMarkerSize + kLengthSize);
  const Octets second = seal(sender, pattern(18));
  REQUIRE(copy(Bytes(second).first(6)) == from_hex("00000000 0012"));
  REQUIRE(second == reference_fpdu(pattern(18), true, 512));
  // its octets are in the CRC of the second FPDU
  Octets changed = second;
  changed[0] ^= std::byte{1};
  REQUIRE(receive(changed, 512).error == FpduError{Fault::kCrcMismatch, 512});
}

TEST_CASE("each Marker is covered by the CRC of the FPDU that holds it", "[rfc5044/4.3][MPA-4.3-01]") {
  const Octets good = reference_fpdu(pattern(1200), true, 300);
  for (const std::size_t marker : {std::size_t{212}, std::size_t{724}}) {
    for (std::size_t i = 0; i < 4; ++i) {
      Octets bad = good;
      bad[marker + i] ^= std::byte{0x10};
      REQUIRE(receive(bad, 300).error == FpduError{Fault::kCrcMismatch, 300});
    }
  }
}

TEST_CASE("the receiver ignores the reserved half of a Marker, but the CRC covers it as it came",
          "[rfc5044/4.2][MPA-4.2-03]") {
  const Octets ulpdu = pattern(700);
  const Reading reading = receive(reference_fpdu(ulpdu, true, 0, {.reserved = 0xffff}), 0);
  REQUIRE(reading.ulpdus == std::vector<Octets>{ulpdu});
}

TEST_CASE("the receiver masks the low bits of FPDUPTR in its arithmetic only (erratum 1427)",
          "[rfc5044/4.2][rfc5044/4.3][MPA-4.2-06][MPA-4.3-10]") {
  const Octets ulpdu = pattern(700);
  for (const std::uint16_t low : {std::uint16_t{1}, std::uint16_t{2}, std::uint16_t{3}}) {
    const Octets fpdu = reference_fpdu(ulpdu, true, 100, {.pointer_or = low});
    REQUIRE(receive(fpdu, 100).ulpdus == std::vector<Octets>{ulpdu});
    Octets cleared = fpdu;  // a CRC over the masked value would be wrong
    cleared[412 + 3] &= std::byte{0xfc};
    REQUIRE(receive(cleared, 100).error == FpduError{Fault::kCrcMismatch, 100});
  }
}

TEST_CASE("positions may pass 2^32 without harm", "[rfc5044/4.3][MPA-4.3-06]") {
  const Octets ulpdu = pattern(1000);
  const std::uint64_t position = (1ull << 32) - 200;
  REQUIRE(receive(reference_fpdu(ulpdu, true, position), position).ulpdus == std::vector<Octets>{ulpdu});
}

TEST_CASE("a Marker never splits a length or a CRC field, but may stand between PAD and CRC",
          "[rfc5044/4.3][MPA-4.3-19]") {
  bool before_crc = false;
  for (std::uint64_t position = 0; position < 512; position += 4) {
    const Octets fpdu = reference_fpdu(pattern(18), true, position);
    const std::uint64_t marker = octets_to_marker(position);
    before_crc = before_crc || (marker != 0 && marker + 8 == fpdu.size());
    REQUIRE(receive(fpdu, position).ulpdus.size() == 1);
    REQUIRE((marker % 4 == 0 && marker != 2 && marker + 2 != fpdu.size()));
  }
  REQUIRE(before_crc);
  REQUIRE(receive(vector_named("D-marker-before-crc"), 488).ulpdus.size() == 1);
}

TEST_CASE("every sender can generate Markers and adds none when they are not wanted",
          "[rfc5044/4.3][rfc5044/1.2][MPA-4.3-03][MPA-7.1.1-07][MPA-1.2-04][MPA-7.1.2-23]") {
  const Octets ulpdu = pattern(2000);
  for (const bool wanted : {false, true}) {
    StartupFrame request = frame(FrameKind::kRequest);
    request.markers = wanted;
    Responder responder(Policy{});
    REQUIRE(outcome<RequestReceived>(responder.receive(octets_of(request))));
    FpduSender sender(responder.accept({})->agreement.outbound());
    REQUIRE(seal(sender, ulpdu) == reference_fpdu(ulpdu, wanted, 0));
  }
}

TEST_CASE("with a good CRC a Marker that disagrees with the lengths is error 3",
          "[rfc5044/8][rfc5044/5.2][MPA-8-03][MPA-8-06][MPA-5.2-02]") {
  const Octets good = reference_fpdu(pattern(40), true, 0);
  const Octets bad = reference_fpdu(pattern(900), true, good.size(), {.pointer_add = 8});
  const Reading reading = receive(good + bad, 0);
  REQUIRE(reading.ulpdus.size() == 1);
  REQUIRE(reading.error == FpduError{Fault::kMarkerMismatch, good.size()});
  REQUIRE(std::to_underlying(wire_code(Fault::kMarkerMismatch)) == 0x03);
}
