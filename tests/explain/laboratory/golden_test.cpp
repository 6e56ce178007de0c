// SPDX-License-Identifier: Apache-2.0
// What the laboratory answers to errors, octet by octet as the RFCs have it: RFC 5040 section 4.8 for the Terminate, its
// codes from RFC 5041 section 7.2, RFC 5040 section 7.2 and RFC 5044 section 8.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "explain/laboratory/laboratory.hpp"
#include "tests/explain/laboratory/by_hand.hpp"

namespace weft::explain::laboratory::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr std::string_view kScript =
    "role responder\nrevision 2\ncrc 1\nmarkers 0\nird 4\nord 4\n"
    "region 0x1100 0x5000 16 rw 0001020304050607\nregion 0x2200 0x0 64 -\nreceive 8\nreceive 8\n";

Script script_of(std::string_view text) {
  auto script = parse_script(text);
  EXPECT_TRUE(script) << script.error();
  return script.value_or(Script{});
}

// A responder that has had its Request.
struct Established : Laboratory {
  explicit Established(std::string_view text = kScript) : Laboratory(script_of(text)) {
    static_cast<void>(start());
    const Step step = feed(request());
    EXPECT_EQ(step.state, State::kRdmaMode) << step.refused;
    EXPECT_THAT(step.out, SizeIs(1));
    EXPECT_EQ(digits_of(step.out.at(0).octets), digits_of(reply()));
  }
};

// One message of the peer and the ULPDU of the Terminate that it deserves: MSN 1 of queue 2, then RFC 5040 figure 8.
struct Golden {
  std::string_view name;
  std::string_view ulpdu;
  std::string_view terminate;  // after the DDP header
};
constexpr std::string_view kTerminateHeader = "4147 00000000 00000002 00000001 00000000";

class Terminates : public testing::TestWithParam<Golden> {};

TEST_P(Terminates, AsTheRfcHasThem) {
  Established end;
  const Step step = end.feed(fpdu(GetParam().ulpdu));
  ASSERT_THAT(step.out, SizeIs(1));
  EXPECT_EQ(digits_of(step.out[0].octets),
            digits_of(fpdu(std::string(kTerminateHeader) + std::string(GetParam().terminate))));
  EXPECT_EQ(step.state, State::kTerminating);
  ASSERT_TRUE(step.error);
  EXPECT_FALSE(step.error->remote);
  EXPECT_THAT(step.placed, IsEmpty());
  EXPECT_THAT(step.in, SizeIs(1));
  EXPECT_FALSE(step.in.at(0).accepted);
}

INSTANTIATE_TEST_SUITE_P(
    Laboratory, Terminates,
    testing::Values(
        // layer 1 type 1: tagged buffer errors; M and D; the segment's length; its header as it came
        Golden{"WriteToUnknownStag", "c140 00003300 0000000000005000 aabb",
               "1100 c000 0010 c140000033000000000000005000"},
        Golden{"WriteWithoutRight", "c140 00002200 0000000000000000 aabb",
               "1100 c000 0010 c140000022000000000000000000"},
        Golden{"WriteOutOfBounds", "c140 00001100 000000000000500f aabb",
               "1101 c000 0010 c14000001100000000000000500f"},
        Golden{"WriteThatWraps", "c140 00001100 ffffffffffffffff aabb", "1103 c000 0010 c14000001100ffffffffffffffff"},
        Golden{"TaggedDdpVersion", "c240 00001100 0000000000005000 aabb",
               "1104 c000 0010 c240000011000000000000005000"},
        // layer 1 type 2: untagged buffer errors
        Golden{"UnknownQueue", "4143 00000000 00000009 00000001 00000000 aa",
               "1201 c000 0013 414300000000000000090000000100000000"},
        Golden{"MsnOutOfRange", "4143 00000000 00000000 00000005 00000000 aa",
               "1203 c000 0013 414300000000000000000000000500000000"},
        Golden{"InvalidMo", "4143 00000000 00000000 00000001 00000009 aa",
               "1204 c000 0013 414300000000000000000000000100000009"},
        Golden{"SendTooLong", "4143 00000000 00000000 00000001 00000000 010203040506070809",
               "1205 c000 001b 414300000000000000000000000100000000"},
        Golden{"UntaggedDdpVersion", "4243 00000000 00000000 00000001 00000000 aa",
               "1206 c000 0013 424300000000000000000000000100000000"},
        // layer 0 type 1: remote protection errors of a Read Request, which is quoted, too (R)
        Golden{"ReadOfUnknownStag",
               "4141 00000000 00000001 00000001 00000000 00000007 0000000000000000 00000004 00003300 0000000000005000",
               "0100 e000 002e 414100000000000000010000000100000000 "
               "00000007000000000000000000000004000033000000000000005000"},
        Golden{"ReadOutOfBounds",
               "4141 00000000 00000001 00000001 00000000 00000007 0000000000000000 00000004 00001100 000000000000500d",
               "0101 e000 002e 414100000000000000010000000100000000 "
               "0000000700000000000000000000000400001100000000000000500d"},
        // layer 0 type 2: remote operation errors
        Golden{"RdmapVersion", "c180 00001100 0000000000005000 aabb", "0205 c000 0010 c180000011000000000000005000"},
        Golden{"UnassignedOpcode", "c14c 00001100 0000000000005000 aabb",
               "0206 c000 0010 c14c000011000000000000005000"},
        Golden{"UnsolicitedReadResponse", "c142 00001100 0000000000005000 aabb",
               "0206 c000 0010 c142000011000000000000005000"}),
    [](const auto& info) { return std::string(info.param.name); });

// Its payload is good and is placed; only then RDMAP looks at the STag.
TEST(Laboratory, AnInvalidateOfAnUnknownStagComesTooLateForThePayload) {
  Established end;
  const Step step = end.feed(fpdu("4144 00003300 00000000 00000001 00000000 aa"));
  ASSERT_THAT(step.out, SizeIs(1));
  EXPECT_EQ(digits_of(step.out[0].octets),
            digits_of(fpdu(std::string(kTerminateHeader) + "0109 c000 0013 414400003300000000000000000100000000")));
  EXPECT_THAT(step.placed, SizeIs(1));
}

// A Write first, for a responder has to wait for a valid FPDU before it may say anything (RFC 5044 section 7.1.2).
TEST(Laboratory, AWrongCrcIsAnErrorOfMpaThatQuotesNothing) {
  Established end;
  static_cast<void>(end.feed(fpdu("c140 00001100 0000000000005000 aabb")));
  Octets damaged = fpdu("c140 00001100 0000000000005000 aabb");
  damaged[16] ^= std::byte{1};
  const Step step = end.feed(damaged);
  ASSERT_THAT(step.out, SizeIs(1));
  EXPECT_EQ(digits_of(step.out[0].octets), digits_of(fpdu(std::string(kTerminateHeader) + "2002 0000")));
  EXPECT_THAT(step.placed, IsEmpty());
  ASSERT_TRUE(step.error);
  EXPECT_EQ(step.error->report.clause, "MPA-8-02");
  EXPECT_THAT(step.in.at(0).words, HasSubstr("CRC is wrong"));
}

TEST(Laboratory, AResponderThatHasSeenNoValidFpduSaysNothing) {
  Established end;
  Octets damaged = fpdu("c140 00001100 0000000000005000 aabb");
  damaged[16] ^= std::byte{1};
  const Step step = end.feed(damaged);
  EXPECT_THAT(step.out, IsEmpty());
  EXPECT_TRUE(step.error);
  EXPECT_EQ(step.state, State::kClosed);
}

// DDP-7.1-16: the end is exclusive.
TEST(Laboratory, AWriteMayEndExactlyAt2To64) {
  constexpr std::string_view kAtTheTop =
      "role responder\nrevision 2\ncrc 1\nmarkers 0\nird 4\nord 4\n"
      "region 0x1100 0xfffffffffffffff0 16 w\n";
  Established end(kAtTheTop);
  const Step step = end.feed(fpdu("c140 00001100 fffffffffffffffe aabb"));
  ASSERT_THAT(step.placed, SizeIs(1));
  EXPECT_EQ(step.placed[0].offset, 14U);
  EXPECT_THAT(step.out, IsEmpty());
  const Step beyond = end.feed(fpdu("c140 00001100 fffffffffffffffe aabbcc"));
  ASSERT_THAT(beyond.out, SizeIs(1));
  EXPECT_EQ(digits_of(beyond.out[0].octets),
            digits_of(fpdu(std::string(kTerminateHeader) + "1103 c000 0011 c14000001100fffffffffffffffe")));
}

TEST(Laboratory, AWriteIsPlacedAndASendIsDelivered) {
  Established end;
  const Step write = end.feed(fpdu("c140 00001100 0000000000005004 aabb"));
  ASSERT_THAT(write.placed, SizeIs(1));
  EXPECT_EQ(write.placed[0].where, Placed::Where::kRegion);
  EXPECT_EQ(write.placed[0].index, 0U);
  EXPECT_EQ(write.placed[0].offset, 4U);
  EXPECT_EQ(digits_of(write.placed[0].octets), "aabb");
  EXPECT_THAT(write.events, IsEmpty()) << "its target hears nothing";
  const Step send = end.feed(fpdu("4143 00000000 00000000 00000001 00000000 010203"));
  ASSERT_THAT(send.placed, SizeIs(1));
  EXPECT_EQ(send.placed[0].where, Placed::Where::kReceive);
  EXPECT_EQ(send.placed[0].index, 0U);
  ASSERT_THAT(send.events, SizeIs(1));
  EXPECT_EQ(send.events[0].what, "message delivered");
  EXPECT_THAT(send.queues.msn, ElementsAre(2U, 1U, 1U, 1U));
}

TEST(Laboratory, AReadIsAnsweredWithWhatTheRegionHolds) {
  Established end;
  static_cast<void>(end.feed(fpdu("c140 00001100 0000000000005001 aa")));
  const Step step = end.feed(
      fpdu("4141 00000000 00000001 00000001 00000000 00000007 0000000000000020 00000004 00001100 0000000000005000"));
  ASSERT_THAT(step.out, SizeIs(1));
  EXPECT_EQ(digits_of(step.out[0].octets), digits_of(fpdu("c142 00000007 0000000000000020 00aa0203")));
  EXPECT_EQ(step.queues.ird, 0U);
  EXPECT_THAT(step.queues.msn, ElementsAre(1U, 2U, 1U, 1U));
}

TEST(Laboratory, OneOctetAtATimeLeadsToTheSame) {
  Established whole, cut;
  const Octets octets = fpdu("c140 00001100 0000000000005004 aabb");
  const Step at_once = whole.feed(octets);
  for (std::size_t i = 0; i + 1 < octets.size(); ++i) {
    const Step step = cut.feed(Bytes(octets).subspan(i, 1));
    EXPECT_EQ(step.consumed, 0U);
    EXPECT_EQ(step.held, i + 1);
    EXPECT_THAT(step.waiting, HasSubstr("more octets of the peer's FPDU"));
  }
  const Step last = cut.feed(Bytes(octets).last(1));
  EXPECT_EQ(last.consumed, octets.size());
  EXPECT_EQ(to_json(last), to_json(at_once));
}

TEST(Laboratory, ASendWithoutAReceiveWaitsAndInTheEndIsRefused) {
  Established end("role responder\n");
  const Step stalled = end.feed(fpdu("4143 00000000 00000000 00000001 00000000 aa"));
  EXPECT_EQ(stalled.state, State::kRdmaMode);
  EXPECT_EQ(stalled.consumed, 0U);
  EXPECT_THAT(stalled.waiting, HasSubstr("a receive"));
  const Step ended = end.pass_time();
  ASSERT_THAT(ended.out, SizeIs(1));
  EXPECT_EQ(digits_of(ended.out[0].octets),
            digits_of(fpdu(std::string(kTerminateHeader) + "1202 c000 0013 414300000000000000000000000100000000")));
}

TEST(Laboratory, AReceiveThatComesInTimeTakesTheSend) {
  Established end("role responder\n");
  static_cast<void>(end.feed(fpdu("4143 00000000 00000000 00000001 00000000 aa")));
  const Step step = end.post_receive(4);
  ASSERT_THAT(step.placed, SizeIs(1));
  EXPECT_EQ(step.consumed, 28U);
  EXPECT_EQ(step.held, 0U);
}

TEST(Laboratory, StrictlyASendWithoutAReceiveIsRefusedAtOnce) {
  Established end("role responder\nno_receive terminate\n");
  const Step step = end.feed(fpdu("4143 00000000 00000000 00000001 00000000 aa"));
  ASSERT_THAT(step.out, SizeIs(1));
  EXPECT_EQ(step.held, 0U);
}

// The script's Read is posted when its row is reached; the responder's answer lands in the sink.
TEST(Laboratory, AnInitiatorAsksAndPlacesTheAnswer) {
  Laboratory end(
      script_of("role initiator\nrevision 1\nregion 0x44 0x100 8 -\npost 5 read 0x44 0x102 0x9900 0x7000 3\n"));
  const Step first = end.start();
  ASSERT_THAT(first.out, SizeIs(1));
  EXPECT_EQ(digits_of(first.out[0].octets), digits_of(request()));
  const Step established = end.feed(reply(), 2);
  EXPECT_EQ(established.state, State::kRdmaMode);
  EXPECT_THAT(established.out, IsEmpty());
  const Step step = end.feed(fpdu("c142 00000044 0000000000000102 abcdef"), 6);
  ASSERT_THAT(step.out, SizeIs(1));
  EXPECT_EQ(digits_of(step.out[0].octets),
            digits_of(fpdu("4141 00000000 00000001 00000001 00000000 00000044 0000000000000102 00000003 00009900 "
                           "0000000000007000")));
  ASSERT_THAT(step.placed, SizeIs(1));
  EXPECT_EQ(step.placed[0].offset, 2U);
  EXPECT_EQ(digits_of(step.placed[0].octets), "abcdef");
  EXPECT_EQ(step.queues.ord, 0U);
  ASSERT_THAT(step.events, SizeIs(1));
  EXPECT_EQ(step.events[0].words, "RDMA Read done, 3 octets");
}

TEST(Laboratory, ThePeersTerminateIsToldAndNotAnswered) {
  Established end;
  const Step step = end.feed(fpdu(std::string(kTerminateHeader) + "1101 0000"));
  EXPECT_THAT(step.out, IsEmpty());
  ASSERT_TRUE(step.error);
  EXPECT_TRUE(step.error->remote);
  EXPECT_EQ(step.error->report.code, 1);
  EXPECT_EQ(step.state, State::kTerminating);
}

TEST(Laboratory, BothEndsClose) {
  Established end;
  const Step step = end.end();
  EXPECT_EQ(step.state, State::kClosed);
  ASSERT_FALSE(step.events.empty());
  EXPECT_EQ(step.events.front().what, "peer closed");
  EXPECT_EQ(end.feed(request()).refused, "the peer has sent its FIN");
}

TEST(Laboratory, NoiseInsteadOfAStartupFrame) {
  Laboratory end(script_of(kScript));
  static_cast<void>(end.start());
  Octets octets = request();
  octets[3] ^= std::byte{1};
  const Step step = end.feed(octets);
  ASSERT_TRUE(step.error);
  EXPECT_EQ(step.error->report.clause, "MPA-7.1.2-18");
  EXPECT_EQ(step.error->report.startup_octet, 0);
  EXPECT_THAT(step.out, IsEmpty());
  EXPECT_EQ(step.state, State::kClosed);
}

TEST(Laboratory, TheUserOfAResponderMaySayNo) {
  Laboratory end(script_of("role responder\nreject 1\nprivate_data 4e6f\n"));
  static_cast<void>(end.start());
  const Step step = end.feed(request());
  ASSERT_THAT(step.out, SizeIs(1));
  EXPECT_EQ(digits_of(step.out[0].octets), digits_of(octets_of("4d504120494420526570204672616d65 6001 0002 4e6f")));
}

TEST(Laboratory, WhatItKeepsIsBounded) {
  Laboratory end(script_of("role responder\nregion 1 0 0xffffffffffffffff w\n"));
  static_cast<void>(end.start());
  static_cast<void>(end.feed(request("00")));
  EXPECT_THAT(end.feed(Octets(Laboratory::kMostHeld + 1)).refused, HasSubstr("256 KiB"));
  std::string said;
  for (unsigned page = 0; page < 20000 && said.empty(); ++page) {  // one octet in each page of 4 KiB
    Octets octets = fpdu("c140 00000001 0000000000000000 aa");
    for (unsigned i = 0; i < 4; ++i) octets[12 + i] = static_cast<std::byte>((page << 12) >> (8 * (3 - i)));
    repair(octets);
    said = end.feed(octets).refused;
  }
  EXPECT_THAT(said, HasSubstr("32 MiB"));
}

}  // namespace
}  // namespace weft::explain::laboratory::test
