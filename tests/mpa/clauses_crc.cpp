// SPDX-License-Identifier: Apache-2.0
// RFC 5044 sections 4.4, 5, 6 and 8: the CRC, verification and errors.
#include <catch2/catch.hpp>

#include "mpa/mulpdu.hpp"
#include "support.hpp"

using namespace weft;
using namespace weft::mpa;
using namespace weft::mpa::test;

namespace {

Agreement agreed(bool request_crc, bool reply_crc) {
  Initiator initiator(Policy{.revision = 1, .crc = request_crc});
  REQUIRE(initiator.start({}));
  StartupFrame reply = frame(FrameKind::kReply);
  reply.crc = reply_crc;
  return outcome<Agreement>(initiator.receive(octets_of(reply))).value();
}

Agreement accepted(bool request_crc, bool reply_crc) {
  Responder responder(Policy{.crc = reply_crc});
  StartupFrame request = frame(FrameKind::kRequest);
  request.crc = request_crc;
  REQUIRE(outcome<RequestReceived>(responder.receive(octets_of(request))));
  return responder.accept({}).value().agreement;
}

const FpduError kCrcAt0{Fault::kCrcMismatch, 0};

}  // namespace

TEST_CASE("CRCs are generated and checked",
          "[rfc5044/4.4][MPA-4.4-01][MPA-4.4-13][MPA-4.4-18][MPA-4.4-19][MPA-6-03][MPA-8-02][DDP-3-07]") {
  const Octets good = reference_fpdu(pattern(50), false, 0);
  FpduSender sender({true, false});
  REQUIRE(seal(sender, pattern(50)) == good);
  REQUIRE(seal(sender, pattern(50)) == good);
  REQUIRE(read_all(FpduReceiver({true, false}), good).ulpdus.size() == 1);
  for (std::size_t i = 2; i < good.size(); ++i) {
    Octets bad = good;
    bad[i] ^= std::byte{0x80};
    REQUIRE(read_all(FpduReceiver({true, false}), bad).error == kCrcAt0);
  }
  REQUIRE(std::to_underlying(wire_code(Fault::kCrcMismatch)) == 0x02);
}

TEST_CASE("an endpoint wants CRCs unless told otherwise",
          "[rfc5044/4.4][MPA-4.4-04][MPA-4.4-05][MPA-4.4-02][MPA-1.2-06]") {
  Initiator initiator(Policy{});
  REQUIRE(parse_startup_frame(initiator.start({}).value(), FrameKind::kRequest)->value().crc);
  Initiator told(Policy{.crc = false});
  REQUIRE_FALSE(parse_startup_frame(told.start({}).value(), FrameKind::kRequest)->value().crc);
  Responder responder(Policy{});
  StartupFrame request = frame(FrameKind::kRequest);
  request.crc = false;
  REQUIRE(outcome<RequestReceived>(responder.receive(octets_of(request))));
  REQUIRE(parse_startup_frame(responder.accept({})->octets, FrameKind::kReply)->value().crc);
}

TEST_CASE("CRCs are off only when both frames say so; one C bit turns both directions on",
          "[rfc5044/4.4][rfc5044/7.1.1][MPA-4.4-06][MPA-4.4-09][MPA-4.4-10][MPA-7.1.1-11]") {
  for (const bool request : {false, true}) {
    for (const bool reply : {false, true}) {
      for (const Agreement& agreement : {agreed(request, reply), accepted(request, reply)}) {
        REQUIRE(agreement.inbound().crc == (request || reply));
        REQUIRE(agreement.outbound().crc == (request || reply));
      }
    }
  }
}

TEST_CASE("the ULP sees no difference between CRCs on and off", "[rfc5044/4.4][MPA-4.4-08]") {
  for (const bool markers : {false, true}) {
    std::vector<Reading> readings;
    for (const bool crc : {false, true}) {
      FpduSender sender({crc, markers});
      Octets stream;
      for (unsigned i = 1; i < 30; ++i) stream = stream + seal(sender, pattern(i * 31, i));
      readings.push_back(read_all(FpduReceiver({crc, markers}), stream));
    }
    REQUIRE(readings[0].ulpdus.size() == 29);
    REQUIRE(readings[0] == readings[1]);
  }
}

TEST_CASE("with CRCs off a sender may generate them or not", "[rfc5044/4.4][rfc5044/7.1.1][MPA-4.4-11][MPA-7.1.1-10]") {
  FpduSender with({true, false});
  FpduSender without({false, false});
  const Octets stream = seal(with, pattern(9)) + seal(without, pattern(9));
  REQUIRE(read_all(FpduReceiver({false, false}), stream).ulpdus == std::vector<Octets>{pattern(9), pattern(9)});
}

TEST_CASE("without a leading Marker the CRC begins at the length field and covers embedded Markers and PAD",
          "[rfc5044/4.4][MPA-4.4-14][MPA-4.4-17]") {
  const Octets fpdu = vector_named("RFC5044-fig6");
  REQUIRE(reference_crc(Bytes(fpdu).first(48)) == 0x98589284);
  FpduSender sender({true, true}, 0x1ec);
  REQUIRE(seal(sender, read_all(FpduReceiver({true, true}, 0x1ec), fpdu).ulpdus.at(0)) == fpdu);
}

TEST_CASE("a Marker right before the CRC field is covered", "[rfc5044/4.4][MPA-4.4-15]") {
  const Octets golden = vector_named("D-marker-before-crc");
  const Reading reading = read_all(FpduReceiver({true, true}, 488), golden);
  FpduSender sender({true, true}, 488);
  REQUIRE(seal(sender, reading.ulpdus.at(0)) == golden);
  Octets bad = golden;
  bad[24] ^= std::byte{1};  // reserved half of that Marker
  REQUIRE(read_all(FpduReceiver({true, true}, 488), bad).error == FpduError{Fault::kCrcMismatch, 488});
}

TEST_CASE("a leading Marker is covered", "[rfc5044/4.4][MPA-4.4-16]") {
  const Octets golden = vector_named("RFC5044-fig5");
  FpduSender sender({true, true});
  REQUIRE(seal(sender, read_all(FpduReceiver({true, true}), golden).ulpdus.at(0)) == golden);
  Octets bad = golden;
  bad[1] ^= std::byte{1};
  REQUIRE(read_all(FpduReceiver({true, true}), bad).error == kCrcAt0);
}

TEST_CASE("the receiver finds FPDUs by their lengths, whatever the segmentation",
          "[rfc5044/5.1][rfc5044/5.2][rfc5044/6][rfc5044/A.4][MPA-5.1-06][MPA-5.2-01][MPA-6-02][MPA-6-04][MPA-A.4-01]"
          "[MPA-A.4-02]") {
  for (const bool markers : {false, true}) {
    FpduSender sender({true, markers});
    Octets stream;
    for (unsigned i = 1; i < 40; ++i) stream = stream + seal(sender, pattern(i * 11, i));
    const Reading whole = read_all(FpduReceiver({true, markers}), stream);
    REQUIRE(whole.ulpdus.size() == 39);
    for (const std::size_t step : {1u, 2u, 3u, 7u, 512u, 1000u}) {
      std::vector<std::size_t> cuts;
      for (std::size_t cut = step; cut < stream.size(); cut += step) cuts.push_back(cut);
      REQUIRE(read_in_pieces(FpduReceiver({true, markers}), stream, cuts) == whole);
    }
  }
}

TEST_CASE("nothing of an FPDU is seen before the whole of it has been verified", "[rfc5044/6][MPA-6-01]") {
  Octets fpdu = reference_fpdu(pattern(3000), true, 0);
  fpdu.back() ^= std::byte{1};
  REQUIRE(read_all(FpduReceiver({true, true}), fpdu).ulpdus.empty());
}

TEST_CASE("noise at an FPDU boundary ends in an error, not in data", "[rfc5044/9.1][MPA-9.1-01]") {
  const Octets good = reference_fpdu(pattern(30), false, 0);
  const Reading reading = read_all(FpduReceiver({true, false}), good + pattern(kMaxFpduSize, 9));
  REQUIRE(reading.ulpdus.size() == 1);
  REQUIRE(reading.error == FpduError{Fault::kCrcMismatch, good.size()});
}

TEST_CASE("after an error no further FPDU is delivered", "[rfc5044/8][MPA-8-13]") {
  const Octets good = reference_fpdu(pattern(30), false, 0);
  Octets bad = good;
  bad[9] ^= std::byte{4};
  FpduReceiver receiver({true, false});
  REQUIRE(receiver.next(bad).error() == kCrcAt0);
  for (int i = 0; i < 3; ++i) {
    Octets more = good;
    REQUIRE(receiver.next(more).error() == kCrcAt0);
  }
}

TEST_CASE("errors carry the MPA code that DDP reports in a Terminate",
          "[rfc5044/8][rfc6581/8][MPA-8-05][MPA2-8-02][MPA2-8-03]") {
  REQUIRE(kErrorLayer == 2);
  REQUIRE(kErrorType == 0);
  REQUIRE(std::to_underlying(wire_code(Fault::kConnectionLost)) == 1);
  REQUIRE(std::to_underlying(wire_code(Fault::kCrcMismatch)) == 2);
  REQUIRE(std::to_underlying(wire_code(Fault::kMarkerMismatch)) == 3);
  REQUIRE(std::to_underlying(wire_code(Fault::kBadKey)) == 4);
  REQUIRE(std::to_underlying(wire_code(Fault::kLocalFailure)) == 5);
  REQUIRE(std::to_underlying(wire_code(Fault::kInsufficientIrd)) == 6);
  REQUIRE(std::to_underlying(wire_code(Fault::kNoMatchingRtr)) == 7);
}

TEST_CASE(
    "MULPDU follows the formulas of section 4.5",
    "[rfc5044/4.5][rfc5044/3][rfc5044/5.1][MPA-4.5-01][MPA-4.5-02][MPA-4.5-03][MPA-4.5-07][MPA-3-02][MPA-5.1-01]") {
  for (std::uint32_t emss = 200; emss < 60000; emss += 13) {
    REQUIRE(mulpdu(emss, false) == emss - (6 + emss % 4));
    const std::uint32_t ceiling = emss / 512 + (emss % 512 != 0 ? 1 : 0);
    REQUIRE(mulpdu(emss, true) == emss - (6 + 4 * ceiling + emss % 4));
  }
}

TEST_CASE("MULPDU stays within 128 and 64768", "[rfc5044/4.5][rfc5044/3][MPA-3-04][MPA-4.5-08][MPA-4.5-10]") {
  for (const bool markers : {false, true}) {
    for (const std::uint32_t emss : {0u, 1u, 88u, 127u, 134u}) REQUIRE(mulpdu(emss, markers) == 128);
    for (const std::uint32_t emss : {65483u, 65535u, 0xffffffffu}) REQUIRE(mulpdu(emss, markers) == 64768);
  }
}
