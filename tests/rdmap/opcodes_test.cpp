// SPDX-License-Identifier: Apache-2.0
// What the opcodes of RFC 5040 figure 4 and RFC 7306 figure 2 have in common.
#include "rdmap/opcodes.hpp"

#include <gtest/gtest.h>

#include <array>

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
