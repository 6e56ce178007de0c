// SPDX-License-Identifier: Apache-2.0
// RFC 5040 sections 4.8 and 7.1, RFC 7306 section 8: what a Terminate says.
#include <catch2/catch.hpp>

#include "rdmap/error_table.hpp"
#include "rdmap/terminate.hpp"
#include "tests/ddp/octets.hpp"

namespace weft::rdmap {
namespace {

using test::octets;
using test::Octets;

Octets serialized(const Terminate& message) {
  Octets out(TerminateLayout::kLongest);
  out.resize(serialize(message, out));
  return out;
}

const Octets kWrite = octets("c140 01020304 1112131415161718 | aabbcc");
const Octets kRequest = octets(
    "4141 00000000 00000001 00000005 00000000 |"
    "01020304 1112131415161718 00001000 31323334 4142434445464748");

SegmentInError read_in_error() {
  SegmentInError segment = segment_in_error(kRequest);
  segment.read_request = *parse_read_request(Bytes(kRequest).subspan(18));
  return segment;
}

TEST_CASE("Octet 0 is layer and type, octet 1 the code, the top of octet 2 M D R",
          "[RDMAP-4.8-01][RDMAP-4.8-03][RDMAP-4.8-04][RDMAP-4.8-05][RDMAP-4.8-06][RDMAP-4.8-11][RFC5040-4.8]") {
  const SegmentInError segment = read_in_error();
  for (const ErrorRow& row : kErrorTable) {
    const Octets wire = serialized(make_terminate(row.error, &segment));
    CHECK(std::to_integer<unsigned>(wire[0]) >> 4 == std::to_underlying(row.error.layer));
    CHECK((std::to_integer<unsigned>(wire[0]) & 0xf) == row.error.type);
    CHECK(std::to_integer<unsigned>(wire[1]) == row.error.code);
    CHECK((std::to_integer<unsigned>(wire[2]) & 0x1f) == 0);
    CHECK(wire[3] == std::byte{0});
  }
}

TEST_CASE("The parts are packed: 4, 20, 24 or 52 octets",
          "[RDMAP-4.8-02][RDMAP-5.4-05][RDMAP-4.8-14][RDMAP-4.8-17][RDMAP-4.8-19][RFC5040-4.8]") {
  const SegmentInError write = segment_in_error(kWrite);
  const SegmentInError request = segment_in_error(kRequest);
  const SegmentInError read = read_in_error();
  CHECK(serialized(make_terminate(kLocalCatastrophic)).size() == 4);
  CHECK(serialized(make_terminate(error_code(ddp::TaggedError::kInvalidStag), &write)).size() == 20);
  CHECK(serialized(make_terminate(error_code(ddp::UntaggedError::kNoBuffer), &request)).size() == 24);
  CHECK(serialized(make_terminate(error_code(ProtectionError::kInvalidStag), &read)).size() == 52);
}

TEST_CASE("The failing segment's header is quoted, with the segment's length",
          "[RDMAP-4.8-13][RDMAP-4.8-15][RDMAP-7.1-03][RDMAP-3.1-09][DDP-7.1-19][RFC5040-4.8]") {
  const SegmentInError segment = segment_in_error(kWrite);
  CHECK(serialized(make_terminate(error_code(ddp::TaggedError::kBaseOrBounds), &segment)) ==
        octets("1101 c000 0011 c140 01020304 1112131415161718"));
}

// The last column of figure 10.
TEST_CASE("What is quoted depends on the error alone",
          "[RDMAP-4.8-08][RDMAP-4.8-09][RDMAP-4.8-10][RDMAP-4.8-16][RDMAP-4.8-37][RDMAP-4.8-38][RDMAP-4.8-39]"
          "[RDMAP-4.8-40][RDMAP-4.8-41][RDMAP-7.1-04][RFC5040-4.8]") {
  const SegmentInError segment = read_in_error();
  const auto bits = [&](const ErrorCode& error) {
    return std::to_integer<unsigned>(serialized(make_terminate(error, &segment))[2]);
  };
  CHECK(bits(kLocalCatastrophic) == 0x00);
  CHECK(bits(error_code(ProtectionError::kAccessRights)) == 0xe0);
  CHECK(bits(error_code(OperationError::kUnexpectedOpcode)) == 0xc0);
  CHECK(bits(error_code(ddp::UntaggedError::kMsnRange)) == 0xc0);
  CHECK(bits(error_code(ddp::TaggedError::kOffsetWrap)) == 0xc0);
  CHECK(bits({Layer::kLlp, 0, 2}) == 0x00);
}

TEST_CASE("Only a Read Request has an RDMA header to quote",
          "[RDMAP-4.8-18][RDMAP-7.1-03][RDMAPX-8.1-02][RFC7306-8.1]") {
  const SegmentInError send = segment_in_error(octets("4144 000000ff 00000000 00000001 00000000"));
  CHECK(serialized(make_terminate(kCannotInvalidate, &send)) ==
        octets("0109 c000 0012 4144 000000ff 00000000 00000001 00000000"));
  const SegmentInError atomic = segment_in_error(octets("414a 00000000 00000001 00000001 00000000"));
  CHECK(std::to_integer<unsigned>(serialized(make_terminate(error_code(ProtectionError::kInvalidStag), &atomic))[2]) ==
        0xc0);
}

TEST_CASE("The Read Request is quoted unchanged when nothing was answered, else what is left",
          "[RDMAP-4.8-18][RDMAP-4.8-20][RDMAP-4.8-21][RDMAP-7.1-04][RFC5040-4.8]") {
  SegmentInError segment = read_in_error();
  const Octets whole = serialized(make_terminate(error_code(ProtectionError::kInvalidStag), &segment));
  CHECK(test::copy(Bytes(whole).last(28)) == test::copy(Bytes(kRequest).last(28)));
  segment.read_request = remainder(*segment.read_request, 0x400);
  const Octets part = serialized(make_terminate(error_code(ProtectionError::kInvalidStag), &segment));
  CHECK(test::copy(Bytes(part).last(28)) == octets("01020304 1112131415161b18 00000c00 31323334 4142434445464b48"));
}

TEST_CASE("An error of our own quotes nothing", "[RDMAP-7.1-02][RDMAPX-8.1-01][RDMAP-4.8-23][RFC5040-7.1]") {
  CHECK(serialized(make_terminate(kLocalCatastrophic)) == octets("00000000"));
  CHECK(serialized(make_terminate(error_code(OperationError::kCatastrophicGlobal))) == octets("02080000"));
}

TEST_CASE("Reserved bits of a Terminate are ignored", "[RDMAP-4.8-12][RFC5040-4.8]") {
  const auto report = parse_terminate(octets("1202 dfff 0012 4143 00000000 00000000 00000001 00000000"));
  REQUIRE(report);
  CHECK(report->meant().error == error_code(ddp::UntaggedError::kNoBuffer));
  CHECK(report->meant().segment_length == 18);
  CHECK(report->meant().ddp_header.has_value());
  CHECK_FALSE(report->meant().read_request.has_value());
}

TEST_CASE("Reserved bits beside M, D and R are no sign of another layout", "[RDMAP-4.8-12][RFC5040-4.8]") {
  const auto report = parse_terminate(octets("0100 c700 0012 4141 00000000 00000001 00000001 00000000"));
  REQUIRE(report);
  CHECK_FALSE(report->siw_layout);
  CHECK(report->meant().error == error_code(ProtectionError::kInvalidStag));
}

TEST_CASE("A local catastrophic error may have any code", "[RDMAP-4.8-23][RDMAP-IANA-3.1-01][RFC6580-3.1]") {
  for (unsigned code = 0; code < 256; ++code) {
    CHECK(find_error({Layer::kRdmap, 0, static_cast<std::uint8_t>(code)}) != nullptr);
  }
}

TEST_CASE("DDP's local catastrophic error has the code 0 and no other",
          "[RDMAP-IANA-3.2-01][DDP-7.2-02][RFC6580-3.2]") {
  for (unsigned code = 0; code < 256; ++code) {
    CHECK((find_error({Layer::kDdp, 0, static_cast<std::uint8_t>(code)}) != nullptr) == (code == 0));
  }
}

struct Named {
  ErrorCode error;
  std::string_view wire;
};

TEST_CASE("Each error is spelled as the registry spells it",
          "[RDMAP-4.8-05][RDMAP-4.8-07][RDMAP-4.8-23][RDMAP-4.8-24][RDMAP-4.8-25][RDMAP-4.8-26][RDMAP-4.8-27]"
          "[RDMAP-4.8-28][RDMAP-4.8-29][RDMAP-4.8-30][RDMAP-4.8-31][RDMAP-4.8-32][RDMAP-4.8-33][RDMAP-4.8-34]"
          "[RDMAP-4.8-35][RDMAP-4.8-36][DDP-7.2-01][DDP-7.2-03][DDP-7.2-12][DDP-7.2-13][RFC5040-4.8]") {
  const Named named[] = {{kLocalCatastrophic, "0000"},
                         {error_code(ProtectionError::kInvalidStag), "0100"},
                         {error_code(ProtectionError::kBaseOrBounds), "0101"},
                         {error_code(ProtectionError::kAccessRights), "0102"},
                         {error_code(ProtectionError::kNotAssociated), "0103"},
                         {error_code(ProtectionError::kOffsetWrap), "0104"},
                         {error_code(ProtectionError::kCannotInvalidate), "0109"},
                         {error_code(ProtectionError::kUnspecified), "01ff"},
                         {error_code(OperationError::kInvalidVersion), "0205"},
                         {error_code(OperationError::kUnexpectedOpcode), "0206"},
                         {error_code(OperationError::kCatastrophicStream), "0207"},
                         {error_code(OperationError::kCatastrophicGlobal), "0208"},
                         {error_code(OperationError::kCannotInvalidate), "0209"},
                         {error_code(OperationError::kUnspecified), "02ff"},
                         {error_code(ddp::TaggedError::kInvalidStag), "1100"},
                         {error_code(ddp::UntaggedError::kTooLong), "1205"},
                         {error_code(ddp::UntaggedError::kInvalidVersion), "1206"}};
  for (const Named& each : named) {
    CHECK(test::copy(Bytes(serialized(make_terminate(each.error))).first(2)) == octets(each.wire));
    CHECK(find_error(each.error) != nullptr);
  }
}

TEST_CASE("The LLP's errors are named too",
          "[RDMAP-4.8-07][RDMAP-IANA-3.3-01][RDMAP-IANA-3.3-02][RDMAP-IANA-3.3-03][RDMAP-IANA-3.3-04]"
          "[RDMAP-IANA-3.3-05][RDMAP-IANA-3.3-06][RDMAP-IANA-3.3-07][RFC6580-3.3]") {
  const auto says = [](std::uint8_t code, std::string_view word) {
    return sentence({Layer::kLlp, 0, code}).find(word) != std::string_view::npos;
  };
  CHECK(says(1, "closed"));
  CHECK(says(2, "CRC"));
  CHECK(says(3, "Marker"));
  CHECK(says(4, "Request or Reply"));
  CHECK(says(5, "locally"));
  CHECK(says(6, "IRD"));
  CHECK(says(7, "RTR"));
  CHECK(find_error({Layer::kLlp, 0, 8}) == nullptr);
}

TEST_CASE("A refused request is reported by what was wrong with it",
          "[RDMAP-7.2-11][RDMAP-5.2.1-05][RDMAPX-8.2-06][RFC5040-7.2]") {
  CHECK(request_error(ddp::AccessError::kInvalidStag) == error_code(ProtectionError::kInvalidStag));
  CHECK(request_error(ddp::AccessError::kNotAssociated) == error_code(ProtectionError::kNotAssociated));
  CHECK(request_error(ddp::AccessError::kAccessRights) == error_code(ProtectionError::kAccessRights));
  CHECK(request_error(ddp::AccessError::kBaseOrBounds) == error_code(ProtectionError::kBaseOrBounds));
  CHECK(request_error(ddp::AccessError::kOffsetWrap) == error_code(ProtectionError::kOffsetWrap));
}

TEST_CASE("A misaligned atomic is a catastrophic error of the stream", "[RFC7306-8.2]") {
  CHECK(request_error(ddp::AccessError::kUnaligned) == error_code(OperationError::kCatastrophicStream));
}

}  // namespace
}  // namespace weft::rdmap
