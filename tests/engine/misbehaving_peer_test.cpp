// SPDX-License-Identifier: Apache-2.0
// A peer that breaks one rule after another: each is answered with the Terminate of the table, and with nothing else.
#include <gtest/gtest.h>

#include "common/crc32c.hpp"
#include "rdmap/error_table.hpp"
#include "tests/engine/rogue.hpp"

namespace weft::engine::test {
namespace {

using rdmap::Opcode;

struct Sin {
  const char* name;
  rdmap::ErrorCode error;
  bool ddp_header, rdma_header;
  void (*commit)(Rogue&);
};

constexpr rdmap::ErrorCode code(std::uint8_t layer, std::uint8_t type, std::uint8_t code) {
  return {static_cast<rdmap::Layer>(layer), type, code};
}
rdmap::ReadRequest read(std::uint32_t size, std::uint32_t stag, std::uint64_t offset) {
  return {{7}, {0x70}, size, {stag}, {offset}};
}
rdmap::AtomicRequest add(std::uint32_t stag, std::uint64_t offset) { return {{}, 1, {stag}, {offset}}; }
constexpr std::uint64_t kTop = ~0ULL - 3;

void tagged_control(Rogue& rogue, std::uint8_t control, std::uint8_t rdmap_control) {
  Octets ulpdu = Rogue::ulpdu(ddp::TaggedHeader{true, rdmap_control, {1}, {0}}, pattern(4));
  ulpdu[0] = static_cast<std::byte>(control);
  rogue.send(rogue.fpdu(ulpdu));
}
void untagged_control(Rogue& rogue, std::uint8_t control, std::uint8_t rdmap_control, std::uint32_t queue = 0) {
  Octets ulpdu = Rogue::ulpdu(ddp::UntaggedHeader{true, rdmap_control, 0, queue, {1}, {0}}, pattern(4));
  ulpdu[0] = static_cast<std::byte>(control);
  rogue.send(rogue.fpdu(ulpdu));
}

const Sin kSins[] = {
    // DDP, tagged
    {"WriteToUnknownStag", code(1, 1, 0), true, false, [](Rogue& r) { r.tagged(Opcode::kWrite, 99, 0, pattern(8)); }},
    {"WriteWithoutRight", code(1, 1, 0), true, false, [](Rogue& r) { r.tagged(Opcode::kWrite, 2, 0, pattern(8)); }},
    {"WriteBehindTheEnd", code(1, 1, 1), true, false, [](Rogue& r) { r.tagged(Opcode::kWrite, 1, 60, pattern(8)); }},
    {"WriteBeforeTheBase", code(1, 1, 1), true, false, [](Rogue& r) { r.tagged(Opcode::kWrite, 5, 0, pattern(8)); }},
    {"WriteToAnotherDomain", code(1, 1, 2), true, false, [](Rogue& r) { r.tagged(Opcode::kWrite, 3, 0, pattern(8)); }},
    {"WriteWraps", code(1, 1, 3), true, false, [](Rogue& r) { r.tagged(Opcode::kWrite, 1, kTop, pattern(8)); }},
    {"TaggedVersion", code(1, 1, 4), true, false, [](Rogue& r) { tagged_control(r, 0xC2, 0x40); }},
    // DDP, untagged
    {"UnknownQueue", code(1, 2, 1), true, false, [](Rogue& r) { untagged_control(r, 0x41, 0x43, 4); }},
    {"TooManyReads", code(1, 2, 2), true, false,
     [](Rogue& r) {
       for (std::uint32_t i = 1; i <= 5; ++i) r.read_request(i, read(0, 0, 0));
     }},
    {"SecondMsnFirst", code(1, 2, 3), true, false, [](Rogue& r) { r.untagged(Opcode::kSend, 2, pattern(8)); }},
    {"MsnZero", code(1, 2, 3), true, false, [](Rogue& r) { r.untagged(Opcode::kSend, 0, pattern(8)); }},
    {"OffsetOutsideTheReceive", code(1, 2, 4), true, false,
     [](Rogue& r) { r.untagged(Opcode::kSend, 1, pattern(8), 65); }},
    {"HoleInTheMessage", code(1, 2, 4), true, false, [](Rogue& r) { r.untagged(Opcode::kSend, 1, pattern(8), 8); }},
    {"SendTooLong", code(1, 2, 5), true, false, [](Rogue& r) { r.untagged(Opcode::kSend, 1, pattern(65)); }},
    {"UntaggedVersion", code(1, 2, 6), true, false, [](Rogue& r) { untagged_control(r, 0x42, 0x43); }},
    // RDMAP
    {"RdmapVersion", code(0, 2, 5), true, false, [](Rogue& r) { untagged_control(r, 0x41, 0x83); }},
    {"UnknownOpcode", code(0, 2, 6), true, false, [](Rogue& r) { untagged_control(r, 0x41, 0x4C); }},
    {"SendOnTheReadQueue", code(0, 2, 6), true, false, [](Rogue& r) { untagged_control(r, 0x41, 0x43, 1); }},
    {"TaggedSend", code(0, 2, 6), true, false, [](Rogue& r) { tagged_control(r, 0xC1, 0x43); }},
    {"ReadResponseThatNobodyAsked", code(0, 2, 6), true, false,
     [](Rogue& r) { r.tagged(Opcode::kReadResponse, 1, 0, pattern(8)); }},
    {"AtomicResponseThatNobodyAsked", code(1, 2, 2), true, false,
     [](Rogue& r) { r.untagged(Opcode::kAtomicResponse, 1, pattern(12)); }},
    {"ReadRequestTooLong", code(1, 2, 5), true, false,
     [](Rogue& r) { r.untagged(Opcode::kReadRequest, 1, pattern(53)); }},
    {"ReadRequestTooShort", code(0, 2, 0xff), true, false,
     [](Rogue& r) { r.untagged(Opcode::kReadRequest, 1, pattern(27)); }},
    {"ShortRequestOfAnAtomic", code(0, 2, 0xff), true, false,
     [](Rogue& r) { r.untagged(Opcode::kAtomicRequest, 1, pattern(51)); }},
    {"LongRequestOfAnAtomic", code(1, 2, 5), true, false,
     [](Rogue& r) { r.untagged(Opcode::kAtomicRequest, 1, pattern(53)); }},
    {"ImmediateTooLong", code(0, 2, 0xff), true, false,
     [](Rogue& r) { r.untagged(Opcode::kImmediate, 1, pattern(9)); }},
    {"ImmediateTooShort", code(0, 2, 0xff), true, false,
     [](Rogue& r) { r.untagged(Opcode::kImmediate, 1, pattern(7)); }},
    {"UlpduTooShort", code(0, 2, 0xff), false, false, [](Rogue& r) { r.send(r.fpdu(pattern(5))); }},
    {"ReadOfUnknownStag", code(0, 1, 0), true, true, [](Rogue& r) { r.read_request(1, read(8, 99, 0)); }},
    {"ReadBehindTheEnd", code(0, 1, 1), true, true, [](Rogue& r) { r.read_request(1, read(8, 1, 57)); }},
    {"ReadWithoutRight", code(0, 1, 2), true, true, [](Rogue& r) { r.read_request(1, read(8, 2, 0)); }},
    {"ReadOfAnotherDomain", code(0, 1, 3), true, true, [](Rogue& r) { r.read_request(1, read(8, 3, 0)); }},
    {"ReadWraps", code(0, 1, 4), true, true, [](Rogue& r) { r.read_request(1, read(8, 1, kTop)); }},
    {"AtomicOnUnknownStag", code(0, 1, 0), true, false, [](Rogue& r) { r.atomic_request(1, add(99, 0)); }},
    {"AtomicWithoutRight", code(0, 1, 2), true, false, [](Rogue& r) { r.atomic_request(1, add(2, 0)); }},
    {"AtomicUnaligned", code(0, 2, 7), true, false, [](Rogue& r) { r.atomic_request(1, add(1, 4)); }},
    {"InvalidateUnknownStag", code(0, 1, 9), true, false,
     [](Rogue& r) { r.untagged(Opcode::kSendInvalidate, 1, pattern(8), 0, true, 99); }},
    {"InvalidateAnotherDomain", code(0, 1, 9), true, false,
     [](Rogue& r) { r.untagged(Opcode::kSendSolicitedInvalidate, 1, pattern(8), 0, true, 3); }},
    // LLP
    {"BadCrc", code(2, 0, 2), false, false,
     [](Rogue& r) {
       Octets fpdu = r.fpdu(Rogue::ulpdu(ddp::TaggedHeader{true, 0x40, {1}, {0}}, pattern(8)));
       fpdu.back() ^= std::byte{1};
       r.send(fpdu);
     }},
    {"FinInsideAnFpdu", code(2, 0, 1), false, false,
     [](Rogue& r) {
       Octets fpdu = r.fpdu(Rogue::ulpdu(ddp::TaggedHeader{true, 0x40, {1}, {0}}, pattern(8)));
       fpdu.pop_back();
       r.send(fpdu);
       r.fin();
     }},
};

class Misbehaving : public testing::TestWithParam<Sin> {
 protected:
  static Config config() {
    Config config = responder();
    config.mpa.ird = 4;
    return config;
  }
  static void furnish(End& end) {
    end.memory.add(1, 64);
    end.memory.add(2, 64, 0, Access::kLocalWrite);
    end.memory.add(3, 64).grant.domain = 99;
    end.memory.add(5, 64, 0x1000);
    end.memory.post_receive(40, 64);
  }
};

// DDP-6.2.2-02, DDP-6.2.2-04, DDP-7-01, DDP-7.1-18, DDP-7.1-21, RDMAP-3.2-06, RDMAP-3.2-09, RDMAP-5.1-03,
// RDMAP-7.2-07, RDMAP-7.2-08, SEC-5.1.1-02, MPA-8-14, MPA-8-16; and RDMAP-5.2.1-13, RDMAP-7.2-09, RDMAP-7.2-10,
// RDMAP-7.2-12, RDMAP-7.2-13, RDMAP-7.2-14, RDMAP-5.3-15
TEST_P(Misbehaving, GetsTheExactTerminate) {
  const Sin& sin = GetParam();
  Rogue rogue(config());
  furnish(rogue.end);
  rogue.establish();
  const std::uint64_t placed = rogue.end.memory.octets_placed;
  sin.commit(rogue);
  if (sin.error.layer != rdmap::Layer::kRdmap || sin.error.code != 9) {
    const bool atomic = std::string_view(sin.name).starts_with("Atomic");
    const bool hole = std::string_view(sin.name) == "HoleInTheMessage";
    if (!atomic && !hole) {
      EXPECT_EQ(rogue.end.memory.octets_placed, placed) << "memory was touched";
    }
  }
  const auto terminate = rogue.terminate();
  ASSERT_TRUE(terminate);
  EXPECT_EQ(terminate->error.layer, sin.error.layer);
  EXPECT_EQ(terminate->error.type, sin.error.type);
  EXPECT_EQ(terminate->error.code, sin.error.code);
  EXPECT_EQ(terminate->ddp_header.has_value(), sin.ddp_header);
  EXPECT_EQ(terminate->segment_length.has_value(), sin.ddp_header);
  EXPECT_EQ(terminate->read_request.has_value(), sin.rdma_header);

  ASSERT_EQ(rogue.end.count<ProtocolError>(), 1u);
  const auto error = *rogue.end.first<ProtocolError>();
  EXPECT_TRUE(error.terminate_sent);
  EXPECT_EQ(error.report.code, sin.error.code);
  EXPECT_FALSE(error.report.clause.empty());
  EXPECT_FALSE(error.report.sentence.empty());
  EXPECT_GE(error.report.stream_offset, 20u) << "the first FPDU was good";

  // Nothing else is said or done, whatever comes (RDMAP-5.4-10, DDP-7.1-20); then FIN, FIN, Closed.
  rogue.send(pattern(100));
  EXPECT_EQ(rogue.end.last.want, ReceiveResult::Want::kNothing);
  EXPECT_TRUE(rogue.heard().empty());
  EXPECT_EQ(rogue.end.engine.disposition(),
            rogue.end.count<Closed>() ? Disposition::kClose : Disposition::kShutdownWrite);
  rogue.fin();
  ASSERT_EQ(rogue.end.count<Closed>(), 1u);
  EXPECT_FALSE(rogue.end.first<Closed>()->graceful);
  EXPECT_EQ(rogue.end.count<PeerClosed>(), 0U) << "that is for ends without an error";
  EXPECT_EQ(rogue.end.engine.disposition(), Disposition::kClose);
}

INSTANTIATE_TEST_SUITE_P(Sins, Misbehaving, testing::ValuesIn(kSins), [](const auto& info) { return info.param.name; });

TEST(Misbehaving, EveryRowThatAPeerCanCauseIsCovered) {
  // Not for a peer to cause: local and global catastrophes, codes that we do not use, and MPA's startup codes.
  const auto elsewhere = [](const rdmap::ErrorCode& e) {
    const bool local = e.type == 0 && e.layer != rdmap::Layer::kLlp;
    const bool unused = e.layer == rdmap::Layer::kRdmap &&
                        ((e.type == 1 && e.code == 0xff) || (e.type == 2 && (e.code == 8 || e.code == 9)));
    const bool marker = e == code(2, 0, 3);  // below
    const bool startup = e.layer == rdmap::Layer::kLlp && e.code >= 4;
    const bool reserved = e == code(1, 3, 0);
    return local || unused || marker || startup || reserved;
  };
  for (const rdmap::ErrorRow& row : rdmap::kErrorTable) {
    if (elsewhere(row.error)) continue;
    const bool covered = std::ranges::any_of(kSins, [&](const Sin& sin) { return sin.error == row.error; });
    EXPECT_TRUE(covered) << row.sentence;
  }
}

TEST(Misbehaving, MarkerThatContradictsTheLengths) {
  Config config = responder();
  config.mpa.markers = true;
  Rogue rogue(config, {.crc = true, .markers = true});
  rogue.establish({.markers = true, .crc = true, .revision = 1});
  // An FPDU that spans the Marker at 512, with the Marker's pointer off by four and the CRC recomputed over it.
  Octets fpdu = rogue.fpdu(Rogue::ulpdu(ddp::TaggedHeader{true, 0x40, {1}, {0}}, pattern(600)));
  const std::size_t begin = 4 + 20;  // of this FPDU in the stream: after the leading Marker and the first FPDU
  const std::size_t marker = 512 - begin;
  fpdu[marker + 3] ^= std::byte{4};
  const std::uint32_t crc = crc32c(Bytes(fpdu).first(fpdu.size() - 4));
  for (std::size_t i = 0; i < 4; ++i) fpdu[fpdu.size() - 4 + i] = static_cast<std::byte>(crc >> (8 * i) & 0xff);
  rogue.send(fpdu);
  const auto terminate = rogue.terminate();
  ASSERT_TRUE(terminate);
  EXPECT_EQ(terminate->error, code(2, 0, 3));
}

}  // namespace
}  // namespace weft::engine::test
