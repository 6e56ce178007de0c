// SPDX-License-Identifier: Apache-2.0
#include "mpa/startup_frame.hpp"

#include <gtest/gtest.h>

#include "support.hpp"

namespace weft::mpa::test {
namespace {

Octets fixed_part(std::string_view key, unsigned flags, unsigned revision, unsigned length) {
  Octets octets = from_text(key);
  for (const unsigned value : {flags, revision, length >> 8, length & 0xff})
    octets.push_back(static_cast<std::byte>(value));
  return octets;
}
constexpr std::string_view kRequestKey = "MPA ID Req Frame";
constexpr std::string_view kReplyKey = "MPA ID Rep Frame";

std::expected<std::optional<StartupFrame>, Fault> parse_request(const Octets& octets) {
  return parse_startup_frame(octets, FrameKind::kRequest);
}

// MPA-7.1.1-23: however the octets arrive, the frame is complete exactly at its end, and missing_octets says how far
// that is.
TEST(StartupFrame, IsCompleteExactlyAtItsEnd) {
  for (const char* name : {"D-req-v1", "D-req-v1-m-pd", "D-req-v2-p2p"}) {
    const Octets octets = vector_named(name);
    for (std::size_t size = 0; size < octets.size(); ++size) {
      const Bytes part = Bytes(octets).first(size);
      const auto parsed = parse_startup_frame(part, FrameKind::kRequest);
      ASSERT_TRUE(parsed) << name << " " << size;
      EXPECT_FALSE(*parsed);
      EXPECT_EQ(missing_octets(part), (size < 20 ? 20 : octets.size()) - size);
    }
    EXPECT_TRUE(parse_request(octets)->has_value());
    EXPECT_EQ(missing_octets(octets), 0u);
  }
}

TEST(StartupFrame, OctetsBehindItAreNotItsPrivateData) {
  const auto parsed = parse_request(vector_named("D-req-v1-m-pd") + from_text("surplus"));
  ASSERT_TRUE(parsed && *parsed);
  EXPECT_EQ((*parsed)->size(), 25u);
  EXPECT_EQ((*parsed)->private_data.size(), 5u);
}

TEST(StartupFrame, EveryFieldSurvivesSerializeAndParse) {
  const Octets data = pattern(508);
  for (unsigned bits = 0; bits < 512; ++bits) {
    StartupFrame in = frame((bits & 1) != 0 ? FrameKind::kReply : FrameKind::kRequest, (bits & 256) != 0 ? 3 : 2);
    in.markers = (bits & 2) != 0;
    in.crc = (bits & 4) != 0;
    in.reject = (bits & 8) != 0;
    in.reserved = static_cast<std::uint8_t>(bits % 16);
    in.private_data = Bytes(data).first(bits % 509);
    if ((bits & 16) != 0) {
      in.enhanced = EnhancedData{.peer_to_peer = (bits & 32) != 0,
                                 .rtr = {(bits & 64) != 0, (bits & 128) != 0, (bits & 2) != 0},
                                 .ird = static_cast<std::uint16_t>(bits * 31 % 0x4000),
                                 .ord = static_cast<std::uint16_t>(0x3fff - bits)};
    }
    const Octets octets = octets_of(in);
    const auto out = parse_startup_frame(octets, in.kind);
    ASSERT_TRUE(out && *out);
    EXPECT_EQ((*out)->kind, in.kind);
    EXPECT_EQ((*out)->markers, in.markers);
    EXPECT_EQ((*out)->crc, in.crc);
    EXPECT_EQ((*out)->reject, in.reject);
    EXPECT_EQ((*out)->reserved, in.reserved);
    EXPECT_EQ((*out)->revision, in.revision);
    EXPECT_EQ((*out)->enhanced, in.enhanced);
    EXPECT_EQ(copy((*out)->private_data), copy(in.private_data));
  }
}

// MPA-7.1.1-03, MPA-7.1.1-05: each octet of the key counts, and it is refused as soon as it is there.
TEST(StartupFrame, AWrongKeyIsRefusedOnSight) {
  const Octets good = vector_named("D-req-v1");
  for (std::size_t i = 0; i < 16; ++i) {
    Octets bad = good;
    bad[i] ^= std::byte{0x20};
    for (std::size_t size = 0; size <= bad.size(); ++size) {
      const auto parsed = parse_startup_frame(Bytes(bad).first(size), FrameKind::kRequest);
      EXPECT_EQ(parsed.has_value(), size <= i) << i << " " << size;
      if (!parsed) {
        EXPECT_EQ(parsed.error(), Fault::kBadKey);
      }
    }
  }
}

// MPA-7.1.2-25: a Request where a Reply is due. Only the whole key tells it from noise.
TEST(StartupFrame, ARequestWhereAReplyIsDueIsAClash) {
  const Octets request = vector_named("D-req-v1");
  for (std::size_t size = 0; size <= request.size(); ++size) {
    const auto parsed = parse_startup_frame(Bytes(request).first(size), FrameKind::kReply);
    EXPECT_EQ(parsed.has_value(), size < 16);
    if (!parsed) {
      EXPECT_EQ(parsed.error(), Fault::kRoleClash);
    }
  }
  EXPECT_EQ(parse_request(vector_named("D-rep-v1")).error(), Fault::kBadKey);
}

// MPA-7.1.1-26, MPA-7.1.2-27
TEST(StartupFrame, PrivateDataBeyond512OctetsIsRefusedOnSight) {
  for (const unsigned length : {513u, 0x7fffu, 0xffffu}) {
    EXPECT_EQ(parse_request(fixed_part(kRequestKey, 0x40, 1, length)).error(), Fault::kPrivateDataTooLong);
    EXPECT_EQ(parse_request(fixed_part(kRequestKey, 0x50, 2, length)).error(), Fault::kPrivateDataTooLong);
  }
  const auto longest = parse_request(fixed_part(kRequestKey, 0x40, 1, 512) + pattern(512));
  ASSERT_TRUE(longest && *longest);
  EXPECT_EQ((*longest)->private_data.size(), 512u);
}

// MPA2-6-11
TEST(StartupFrame, EnhancedDataNeedsFourOctets) {
  for (unsigned length = 0; length < 4; ++length) {
    EXPECT_EQ(parse_request(fixed_part(kRequestKey, 0x50, 2, length)).error(), Fault::kEnhancedDataMissing);
  }
  EXPECT_TRUE(parse_request(fixed_part(kRequestKey, 0x50, 2, 4)).has_value());
}

// MPA-7.1.1-18: in revision 1 the S bit is one of the reserved ones.
TEST(StartupFrame, ReservedBitsChangeNothing) {
  for (unsigned reserved = 0; reserved < 32; ++reserved) {
    const auto parsed = parse_request(fixed_part(kRequestKey, 0x40 | reserved, 1, 2) + from_text("pd"));
    ASSERT_TRUE(parsed && *parsed);
    EXPECT_EQ((*parsed)->reserved, reserved);
    EXPECT_FALSE((*parsed)->enhanced);
    EXPECT_EQ((*parsed)->private_data.size(), 2u);
  }
}

TEST(StartupFrame, FrameKindReadsTheKeyOnly) {
  EXPECT_EQ(frame_kind(from_text(kRequestKey)), FrameKind::kRequest);
  EXPECT_EQ(frame_kind(from_text(kReplyKey)), FrameKind::kReply);
  EXPECT_EQ(frame_kind(from_text(kReplyKey.substr(0, 15))), std::nullopt);
  EXPECT_EQ(frame_kind(from_text("GET / HTTP/1.1\r\n")), std::nullopt);
}

}  // namespace
}  // namespace weft::mpa::test
