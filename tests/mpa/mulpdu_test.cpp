// SPDX-License-Identifier: Apache-2.0
#include "mpa/mulpdu.hpp"

#include <gtest/gtest.h>

namespace weft::mpa {
namespace {

TEST(Mulpdu, WorkedValues) {
  struct Row {
    std::uint32_t emss, off, on;
  };
  for (const Row row : {Row{536, 530, 522}, Row{1448, 1442, 1430}, Row{1460, 1454, 1442}, Row{8948, 8942, 8870},
                        Row{65483, 64768, 64768}}) {
    EXPECT_EQ(mulpdu(row.emss, false), row.off);
    EXPECT_EQ(mulpdu(row.emss, true), row.on);
  }
}

// Whatever EMSS is, the FPDU of a full ULPDU fits the segment wherever in the Marker period it begins, unless 128 is
// the floor.
TEST(Mulpdu, AFullFpduFitsOneSegment) {
  for (std::uint32_t emss = 0; emss < 70000; emss += emss < 1600 ? 1 : 97) {
    for (const bool markers : {false, true}) {
      const std::uint32_t largest = mulpdu(emss, markers);
      ASSERT_GE(largest, 128u);
      ASSERT_LE(largest, kMaxUlpdu);
      if (largest == 128 || largest == kMaxUlpdu) continue;
      EXPECT_EQ(pad_size(largest), 0u);
      for (std::uint64_t position = 0; position < 512; position += 4) {
        ASSERT_LE(fpdu_size({true, markers}, position, largest), emss) << emss << " " << position;
      }
    }
  }
}

}  // namespace
}  // namespace weft::mpa
