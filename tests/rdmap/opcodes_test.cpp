// SPDX-License-Identifier: Apache-2.0
// What the opcodes of RFC 5040 figure 4 and RFC 7306 figure 2 have in common.
#include "rdmap/opcodes.hpp"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "rdmap/atomic_messages.hpp"
#include "rdmap/immediate.hpp"
#include "rdmap/read_request.hpp"
#include "rdmap/terminate.hpp"

namespace weft::rdmap {
namespace {

TEST(Opcodes, EightAndNineAreImmediateData) {  // RDMAPX-4.1-05, RDMAPX-4.1-06
  for (const OpcodeRow& kind : kOpcodeTable) {
    const auto value = std::to_underlying(kind.opcode);
    EXPECT_EQ(is_immediate(kind.opcode), value == 8 || value == 9) << kind.name;
  }
}

TEST(Opcodes, AreTwelve) {  // RDMAP-4.1-15
  for (std::uint8_t value = 0; value < 12; ++value) {
    ASSERT_NE(find_opcode(value), nullptr);
    EXPECT_EQ(std::to_underlying(find_opcode(value)->opcode), value);
  }
  for (const std::uint8_t value : std::to_array<std::uint8_t>({12, 13, 14, 15, 255}))
    EXPECT_EQ(find_opcode(value), nullptr);
}

TEST(Opcodes, HaveThePayloadThatTheirFormatsAllow) {
  using Size = std::pair<std::size_t, std::size_t>;
  const auto size = [](Opcode opcode) { return Size(row(opcode).payload.least, row(opcode).payload.most); };
  const auto fixed = [](std::size_t octets) { return Size(octets, octets); };
  EXPECT_EQ(size(Opcode::kReadRequest), fixed(ReadRequestLayout::kSize));
  EXPECT_EQ(size(Opcode::kTerminate), Size(TerminateLayout::kShortest, TerminateLayout::kLongest));
  EXPECT_EQ(size(Opcode::kImmediate), fixed(sizeof(ImmediateData)));
  EXPECT_EQ(size(Opcode::kImmediateSolicited), fixed(sizeof(ImmediateData)));
  EXPECT_EQ(size(Opcode::kAtomicRequest), fixed(AtomicRequestLayout::kSize));
  EXPECT_EQ(size(Opcode::kAtomicResponse), fixed(AtomicResponseLayout::kSize));
  for (const OpcodeRow& kind : kOpcodeTable) {
    const bool placed = kind.content == Content::kPlaced;
    EXPECT_EQ(kind.payload.allows(0), placed) << kind.name;
    EXPECT_EQ(kind.payload.allows(0xffff), placed) << kind.name;
    EXPECT_EQ(kind.payload.is_fixed(), !placed && kind.part != Part::kEnd) << kind.name;
  }
}

// RFC 5040 section 5.5: each request has a response, and nothing else has.
TEST(Opcodes, AreRequestsResponsesOrNeither) {
  const auto in = [](Part part) {
    std::vector<Opcode> out;
    for (const OpcodeRow& kind : kOpcodeTable) {
      if (kind.part == part) out.push_back(kind.opcode);
    }
    return out;
  };
  EXPECT_EQ(in(Part::kRequest), (std::vector{Opcode::kReadRequest, Opcode::kAtomicRequest}));
  EXPECT_EQ(in(Part::kResponse), (std::vector{Opcode::kReadResponse, Opcode::kAtomicResponse}));
  EXPECT_EQ(in(Part::kEnd), std::vector{Opcode::kTerminate});
}

TEST(Opcodes, FromEightOnAreOfRfc7306) {
  for (const OpcodeRow& kind : kOpcodeTable) EXPECT_EQ(kind.rfc, std::to_underlying(kind.opcode) < 8 ? 5040 : 7306);
}

TEST(Opcodes, OfSendsSayWhatTheReceiverIsAskedFor) {
  EXPECT_EQ(std::to_underlying(send_opcode(false, false)), 3);
  EXPECT_EQ(std::to_underlying(send_opcode(false, true)), 4);
  EXPECT_EQ(std::to_underlying(send_opcode(true, false)), 5);
  EXPECT_EQ(std::to_underlying(send_opcode(true, true)), 6);
  EXPECT_EQ(std::to_underlying(immediate_opcode(false)), 8);
  EXPECT_EQ(std::to_underlying(immediate_opcode(true)), 9);
}

}  // namespace
}  // namespace weft::rdmap
