// SPDX-License-Identifier: Apache-2.0
// Terminate: our own against the figures of RFC 5040, and those of Linux siw, which lays the control field out
// differently.
#include "rdmap/terminate.hpp"

#include <gtest/gtest.h>

#include <random>

#include "rdmap/error_table.hpp"
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

// RFC 5040 section 4.8: what no bit announces, and the reserved octet, is sent as zero, whatever was in the buffer.
TEST(Terminate, OverwritesWhatTheBufferHeld) {
  Octets out(TerminateLayout::kLongest, std::byte{0xff});
  ASSERT_EQ(serialize(make_terminate({Layer::kLlp, 0, 2}), out), 4U);
  out.resize(4);
  EXPECT_EQ(out, octets("20 02 00 00"));
}

// The same events as in siw's captures below, as the RFC writes them: nibbles the right way round, M D R on top, and
// the length of the whole ULPDU.
TEST(Terminate, IsLaidOutAsInTheFigures) {
  const Octets send = octets("4143 00000000 00000000 00000001 00000000 | 0001020304");
  const SegmentInError segment = segment_in_error(send);
  EXPECT_EQ(serialized(make_terminate(error_code(ddp::UntaggedError::kNoBuffer), &segment)),
            octets("12 02 c0 00 | 0017 | 4143 00000000 00000000 00000001 00000000"));
  EXPECT_EQ(serialized(make_terminate({Layer::kLlp, 0, 2})), octets("20 02 00 00"));
}

TEST(Terminate, QuotesAReadRequest) {
  const ReadRequest request{{0x91a32000}, {0x00007fa0db470000}, 0x64, {0x64e43b33}, {0x00007f5676db8000}};
  Octets ulpdu = octets("4141 00000000 00000001 00000001 00000000");
  ulpdu.resize(18 + 28);
  SegmentInError segment = segment_in_error(ulpdu);
  segment.read_request = request;
  EXPECT_EQ(serialized(make_terminate(error_code(ProtectionError::kInvalidStag), &segment)),
            octets("01 00 e0 00 | 002e | 4141 00000000 00000001 00000001 00000000 |"
                   "91a32000 00007fa0db470000 00000064 64e43b33 00007f5676db8000"));
}

TEST(Terminate, ParsesWhatItSerializes) {
  std::mt19937 random(6);
  for (const ErrorRow& row : kErrorTable) {
    for (const bool tagged : {false, true}) {
      Octets ulpdu(46);
      for (std::byte& octet : ulpdu) octet = static_cast<std::byte>(random() & 0xff);
      ulpdu[0] = static_cast<std::byte>(tagged ? 0xc1 : 0x41);
      SegmentInError segment = segment_in_error(ulpdu);
      segment.read_request = *parse_read_request(Bytes(ulpdu).last(28));
      const Octets wire = serialized(make_terminate(row.error, &segment));
      const auto report = parse_terminate(wire);
      ASSERT_TRUE(report);
      EXPECT_FALSE(report->siw_layout) << row.sentence;
      EXPECT_EQ(report->meant().error, row.error);
      EXPECT_EQ(serialized(report->meant()), wire);
    }
  }
}

TEST(Terminate, QuotesAWrongVersionAsItCame) {
  const Octets write = octets("c3 40 00000001 0000000000000002");
  const SegmentInError segment = segment_in_error(write);
  const Terminate message = make_terminate(error_code(ddp::TaggedError::kInvalidVersion), &segment);
  ASSERT_TRUE(message.ddp_header);
  EXPECT_EQ(test::copy(message.ddp_header->octets()), write);
}

// "If possible": where there is no header to quote, the four octets go out alone.
TEST(Terminate, WithoutAHeaderToQuote) {
  const SegmentInError segment = segment_in_error(octets("4143 0000"));
  EXPECT_EQ(serialized(make_terminate(kUlpduTooShort, &segment)), octets("02 ff 00 00"));
  EXPECT_EQ(serialized(make_terminate(error_code(OperationError::kCatastrophicStream))), octets("02 07 00 00"));
  EXPECT_FALSE(segment_in_error({}).header) << "no octet at all";
}

struct Seen {
  std::string_view what;
  std::string_view hex;
  ErrorCode meant;
  std::size_t quoted_header;
  bool quoted_request;
};

// Payloads of siw's Terminates, from captures and probes of Linux 6.1.
const Seen kSiw[] = {
    {"Write of a bad STag", "11000300 0064 c1409b51300000007f6947a61000", error_code(ddp::TaggedError::kInvalidStag),
     14, false},
    {"Write past the end", "11010300 0fa0 c140e8a1b60000007f4ffc7c6830", error_code(ddp::TaggedError::kBaseOrBounds),
     14, false},
    {"Read of a bad STag",
     "10000700 0000 414100000000000000010000000100000000 91a32000 00007fa0db470000 00000064 64e43b33 00007f5676db8000",
     error_code(ProtectionError::kInvalidStag), 18, true},
    {"Read past the end",
     "10010700 0000 414100000000000000010000000100000fa0 b85d5e00 00007f6bd8278000 00000fa0 57f18e00 00007f4320219830",
     error_code(ProtectionError::kBaseOrBounds), 18, true},
    {"Send without a receive", "21020300 0064 414300000000000000000000000100000000",
     error_code(ddp::UntaggedError::kNoBuffer), 18, false},
    {"CRC error", "02020000", {Layer::kLlp, 0, 2}, 0, false},
};

TEST(Terminate, RecognisesSiwsLayout) {
  for (const Seen& seen : kSiw) {
    const auto report = parse_terminate(octets(seen.hex));
    ASSERT_TRUE(report) << seen.what;
    EXPECT_TRUE(report->siw_layout) << seen.what;
    EXPECT_EQ(report->meant().error, seen.meant) << seen.what;
    EXPECT_EQ(report->meant().ddp_header ? report->meant().ddp_header->octets().size() : 0, seen.quoted_header)
        << seen.what;
    EXPECT_EQ(report->meant().read_request.has_value(), seen.quoted_request) << seen.what;
  }
}

TEST(Terminate, SiwsReadRequestIsReadable) {
  const auto report = parse_terminate(octets(kSiw[2].hex));
  ASSERT_TRUE(report && report->meant().read_request);
  EXPECT_EQ(report->meant().read_request->source_stag.value, 0x64e43b33U);
  EXPECT_EQ(report->meant().segment_length, 0);
}

// The reading of the RFC is always there too.
TEST(Terminate, ReportsTheRfcsReadingOfSiwsOctets) {
  const auto report = parse_terminate(octets(kSiw[4].hex));
  ASSERT_TRUE(report);
  EXPECT_EQ(report->as_rfc.error, (ErrorCode{Layer::kLlp, 1, 2}));
  EXPECT_FALSE(report->as_rfc.ddp_header);
}

// 20 05 is MPA's set-up error to the RFC and a wrong RDMAP version to siw; nothing in these four octets decides.
TEST(Terminate, LeavesTheUndecidableToTheRfc) {
  const auto report = parse_terminate(octets("20050000"));
  ASSERT_TRUE(report);
  EXPECT_FALSE(report->siw_layout);
  EXPECT_EQ(report->meant().error, (ErrorCode{Layer::kLlp, 0, 5}));
  ASSERT_TRUE(report->as_siw);
  EXPECT_EQ(report->as_siw->error, error_code(OperationError::kInvalidVersion));
}

// DDP type 0 has no code 1, and the nibbles swapped would make a known error; but M and D stand where the RFC has them.
TEST(Terminate, HeaderBitsSayMoreThanAnUnknownError) {
  const auto report = parse_terminate(octets("1001c000 003e 8140102030400000000000001000"));
  ASSERT_TRUE(report);
  EXPECT_FALSE(report->siw_layout);
  EXPECT_EQ(report->meant().segment_length, 0x3e);
  ASSERT_TRUE(report->meant().ddp_header);
  EXPECT_EQ(report->meant().ddp_header->octets().size(), 14U);
}

// Octet 2 has M, D and R on top, or in its lowest bits as siw writes them: D is the second of both. Each announces its
// own part, R only after a header. One of them alone decides, even against what the error itself suggests: 10 01 is an
// error of siw's layout alone, 20 05 one of either.
TEST(Terminate, EachHeaderBitAnnouncesItsOwnPart) {
  const Octets parts = octets(
      "002e | 4141 00000000 00000001 00000001 00000000 |"
      "91a32000 00007fa0db470000 00000064 64e43b33 00007f5676db8000");
  const auto report = [&](std::string_view error, unsigned bits) {
    Octets payload = octets(error);
    payload.insert(payload.end(), {static_cast<std::byte>(bits), std::byte{0}});
    payload.insert(payload.end(), parts.begin(), parts.end());
    return parse_terminate(payload).value();
  };
  const auto expect_parts = [](const Terminate& read, bool length, bool header, bool request) {
    EXPECT_EQ(read.segment_length.has_value(), length);
    EXPECT_EQ(read.ddp_header.has_value(), header);
    EXPECT_EQ(read.read_request.has_value(), header && request);
  };
  for (unsigned bits = 1; bits < 8; ++bits) {
    const bool first = (bits & 1) != 0, second = (bits & 2) != 0, third = (bits & 4) != 0;
    SCOPED_TRACE(bits);
    const TerminateReport siw = report("20 05", bits);
    EXPECT_TRUE(siw.siw_layout);
    expect_parts(siw.meant(), first, second, third);
    const TerminateReport rfc = report("10 01", bits << 5);
    EXPECT_FALSE(rfc.siw_layout);
    expect_parts(rfc.meant(), third, second, first);
  }
}

TEST(Terminate, AnErrorNobodyKnowsIsReportedAsItCame) {
  const auto report = parse_terminate(octets("77770000"));
  ASSERT_TRUE(report);
  EXPECT_FALSE(report->as_siw);
  EXPECT_EQ(report->meant().error, (ErrorCode{static_cast<Layer>(7), 7, 0x77}));
  EXPECT_EQ(sentence(report->meant().error), "an error that no registry knows");
}

// Figure 7: M announces the length alone, without a header after it.
TEST(Terminate, ALengthMayStandAlone) {
  const Terminate message{error_code(ddp::UntaggedError::kNoBuffer), 0x17, {}, {}};
  EXPECT_EQ(serialized(message), octets("12 02 80 00 | 0017"));
}

TEST(Terminate, ShorterThanItsControlFieldIsMalformed) {
  for (const std::size_t size : {0U, 3U}) {
    EXPECT_EQ(parse_terminate(Octets(size)).error(), OperationError::kUnspecified);
  }
}

TEST(Terminate, TakesOnlyWhatIsThere) {
  const Octets whole = octets(
      "01 00 e0 00 | 002e | 4141 00000000 00000001 00000001 00000000 |"
      "91a32000 00007fa0db470000 00000064 64e43b33 00007f5676db8000");
  for (std::size_t length = 0; length <= whole.size(); ++length) {
    const Octets there(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length));  // and nothing after it
    const auto report = parse_terminate(there);
    ASSERT_EQ(report.has_value(), length >= 4) << length;
    if (!report) continue;
    EXPECT_EQ(report->as_rfc.segment_length.has_value(), length >= 6) << length;
    EXPECT_EQ(report->as_rfc.ddp_header.has_value(), length >= 24) << length;
    EXPECT_EQ(report->as_rfc.read_request.has_value(), length >= 52) << length;
  }
}

}  // namespace
}  // namespace weft::rdmap
