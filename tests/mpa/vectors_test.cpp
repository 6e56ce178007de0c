// SPDX-License-Identifier: Apache-2.0
// Octets that come from outside: RFC 5044 figures 4, 5 and 6, the iSCSI digests, and frames worked out by hand.
#include <gtest/gtest.h>

#include "common/crc32c.hpp"
#include "common/crc32c_routine.hpp"
#include "mpa/negotiation.hpp"
#include "support.hpp"

namespace weft::mpa::test {
namespace {

struct FpduVector {
  const char* name;
  bool markers;
  std::uint64_t position;
  std::size_t ulpdu;
};

class GoldenFpdu : public testing::TestWithParam<FpduVector> {};

void expect_received(const FpduVector& p) {
  Octets octets = vector_named(p.name);
  FpduReceiver receiver({true, p.markers}, p.position);
  const auto result = receiver.next(octets);
  ASSERT_TRUE(result && *result);
  EXPECT_EQ((*result)->ulpdu.size(), p.ulpdu);
  EXPECT_EQ((*result)->consumed, octets.size());
  EXPECT_FALSE((*result)->pad_nonzero);
}

TEST_P(GoldenFpdu, IsReceived) { expect_received(GetParam()); }

// MPA-4.4-13
TEST_P(GoldenFpdu, IsReceivedWithEitherCrcRoutine) {
  const Crc32cRoutine before = crc32c_in_use().routine;
  for (const auto routine : {Crc32cRoutine::kIsaL, Crc32cRoutine::kPortable}) {
    use_crc32c(routine);
    expect_received(GetParam());
  }
  use_crc32c(before);
}

TEST_P(GoldenFpdu, IsWhatTheSenderMakesOfItsUlpdu) {
  const auto& p = GetParam();
  const Octets golden = vector_named(p.name);
  Octets octets = golden;
  const auto received = FpduReceiver({true, p.markers}, p.position).next(octets);
  ASSERT_TRUE(received && *received);
  FpduSender sender({true, p.markers}, p.position);
  EXPECT_EQ(seal(sender, (*received)->ulpdu), golden);
}

INSTANTIATE_TEST_SUITE_P(Vectors, GoldenFpdu,
                         testing::Values(FpduVector{"RFC5044-fig5", true, 0, 42},         //
                                         FpduVector{"RFC5044-fig6", true, 0x1ec, 42},     //
                                         FpduVector{"D-fig6-predecessor", true, 0, 482},  //
                                         FpduVector{"D-fig4-shape", true, 500, 16},       //
                                         FpduVector{"D-marker-between", true, 512, 18},   //
                                         FpduVector{"D-marker-before-crc", true, 488, 22},
                                         FpduVector{"D-marker-ptr4", true, 508, 18},   //
                                         FpduVector{"D-fig5-nomarker", false, 0, 42},  //
                                         FpduVector{"D-rtr-send", false, 0, 18},       //
                                         FpduVector{"D-rtr-write", false, 0, 14},      //
                                         FpduVector{"D-rtr-read", false, 0, 46},       //
                                         FpduVector{"D-rtr-readresp", false, 0, 14},   //
                                         FpduVector{"D-term-02", false, 0, 22},        //
                                         FpduVector{"D-term-03", false, 0, 22},        //
                                         FpduVector{"D-term-05", false, 0, 22},        //
                                         FpduVector{"D-term-06", false, 0, 22},        //
                                         FpduVector{"D-term-07", false, 0, 22}));

TEST(GoldenFpdu, Figures5And6AsOneStream) {
  const Reading reading =
      read_all(FpduReceiver({true, true}), vector_named("D-fig6-predecessor") + vector_named("RFC5044-fig6"));
  EXPECT_FALSE(reading.error);
  ASSERT_EQ(reading.ulpdus.size(), 2u);
  EXPECT_EQ(reading.offsets[1], 0x1ecu);
  EXPECT_EQ(reading.ulpdus[1], from_hex("41 43 00000000 00000000 00000002 00000000") + Octets(24));
}

TEST(GoldenFpdu, Figure4PutsTheMarkerIntoTheUlpdu) {
  Octets octets = vector_named("D-fig4-shape");
  const auto result = FpduReceiver({true, true}, 500).next(octets);
  ASSERT_TRUE(result && *result);
  EXPECT_EQ(copy((*result)->ulpdu), from_hex("000102030405060708090a0b0c0d0e0f"));
}

// MPA-4.4-13: the printed iSCSI digests fix bit and octet order.
TEST(GoldenCrc, IscsiDigests) {
  for (const char* name : {"iSCSI-00x32", "iSCSI-ffx32", "iSCSI-incr32", "iSCSI-decr32"}) {
    const Octets octets = vector_named(name);
    std::uint32_t digest = 0;
    for (std::size_t i = 0; i < 4; ++i) digest |= std::to_integer<std::uint32_t>(octets[32 + i]) << (8 * i);
    EXPECT_EQ(crc32c(Bytes(octets).first(32)), digest) << name;
  }
}

struct FrameVector {
  const char* name;
  FrameKind kind;
};
class GoldenFrame : public testing::TestWithParam<FrameVector> {};

TEST_P(GoldenFrame, ParseAndSerializeAreInverse) {
  const Octets octets = vector_named(GetParam().name);
  const auto parsed = parse_startup_frame(octets, GetParam().kind);
  ASSERT_TRUE(parsed && *parsed);
  EXPECT_EQ((*parsed)->size(), octets.size());
  EXPECT_EQ(octets_of(**parsed), octets);
}

INSTANTIATE_TEST_SUITE_P(
    Vectors, GoldenFrame,
    testing::Values(FrameVector{"D-req-v1", FrameKind::kRequest}, FrameVector{"D-req-v1-m-pd", FrameKind::kRequest},
                    FrameVector{"D-rep-v1", FrameKind::kReply}, FrameVector{"D-rep-v1-reject", FrameKind::kReply},
                    FrameVector{"D-req-v2-p2p", FrameKind::kRequest}, FrameVector{"D-rep-v2-p2p", FrameKind::kReply},
                    FrameVector{"D-req-v2-cs", FrameKind::kRequest}, FrameVector{"D-req-v2-noneg", FrameKind::kRequest},
                    FrameVector{"D-req-rdmac", FrameKind::kRequest}));

TEST(GoldenFrame, FieldsOfThePeerToPeerRequest) {
  const Octets octets = vector_named("D-req-v2-p2p");
  const auto parsed = parse_startup_frame(octets, FrameKind::kRequest);
  ASSERT_TRUE(parsed && *parsed);
  const StartupFrame& f = **parsed;
  EXPECT_EQ(f.revision, 2);
  EXPECT_TRUE(f.crc);
  EXPECT_FALSE(f.markers);
  EXPECT_EQ(f.enhanced, (EnhancedData{.peer_to_peer = true, .rtr = {false, true, true}, .ird = 16, .ord = 4}));
  EXPECT_EQ(copy(f.private_data), from_text("app"));
}

// The two machines, given the policies that the vectors describe, produce and accept exactly these octets.
TEST(GoldenFrame, TheMachinesSpeakThePeerToPeerVectors) {
  Policy client{.peer_to_peer = true, .rtr = {false, true, true}, .ird = 16, .ord = 4};
  Policy server{.rtr = {false, true, false}, .ird = 4, .ord = 16};
  Initiator initiator(client);
  Responder responder(server);
  const Octets request = copy(initiator.start(from_text("app")).value());
  EXPECT_EQ(request, vector_named("D-req-v2-p2p"));
  ASSERT_TRUE(outcome<RequestReceived>(responder.receive(request)));
  const auto reply = responder.accept({});
  ASSERT_TRUE(reply);
  EXPECT_EQ(copy(reply->octets), vector_named("D-rep-v2-p2p"));
  const auto agreement = outcome<Agreement>(initiator.receive(reply->octets));
  ASSERT_TRUE(agreement);
  EXPECT_EQ(agreement->rtr, Rtr::kWrite);
  EXPECT_EQ(agreement->ord, 4);
  EXPECT_EQ(agreement->ird, 16);
}

TEST(GoldenFrame, TheMachinesSpeakTheRevision1Vectors) {
  Initiator initiator(Policy{.revision = 1});
  EXPECT_EQ(copy(initiator.start({}).value()), vector_named("D-req-v1"));
  Initiator with_markers(Policy{.revision = 1, .markers = true});
  EXPECT_EQ(copy(with_markers.start(from_text("hello")).value()), vector_named("D-req-v1-m-pd"));
  Responder responder(Policy{});
  ASSERT_TRUE(outcome<RequestReceived>(responder.receive(vector_named("D-req-v1"))));
  EXPECT_EQ(copy(responder.accept({})->octets), vector_named("D-rep-v1"));
  Responder refuser(Policy{});
  ASSERT_TRUE(outcome<RequestReceived>(refuser.receive(vector_named("D-req-v1-m-pd"))));
  EXPECT_EQ(copy(refuser.reject(from_text("no")).value()), vector_named("D-rep-v1-reject"));
}

}  // namespace
}  // namespace weft::mpa::test
