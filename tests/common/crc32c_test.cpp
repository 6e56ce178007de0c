// SPDX-License-Identifier: Apache-2.0
// Check values from outside: the CRC catalogue's check input and the iSCSI examples (RFC 3720 appendix B.4).
#include "common/crc32c.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

namespace weft {
namespace {

TEST(Crc32c, CheckValue) {
  const std::string_view digits = "123456789";
  EXPECT_EQ(crc32c(std::as_bytes(std::span(digits))), 0xE3069283U);
}

TEST(Crc32c, IscsiExamples) {
  std::array<std::byte, 32> octets{};
  EXPECT_EQ(crc32c(octets), 0x8a9136aaU);
  octets.fill(std::byte{0xff});
  EXPECT_EQ(crc32c(octets), 0x62a8ab43U);
  for (std::size_t i = 0; i < 32; ++i) octets[i] = static_cast<std::byte>(i);
  EXPECT_EQ(crc32c(octets), 0x46dd794eU);
  std::ranges::reverse(octets);
  EXPECT_EQ(crc32c(octets), 0x113fdb5cU);
}

TEST(Crc32c, PiecesEqualTheWhole) {
  std::vector<std::byte> octets(1000);
  for (std::size_t i = 0; i < octets.size(); ++i) octets[i] = static_cast<std::byte>(i * 7);
  const Bytes whole(octets);
  for (std::size_t cut = 0; cut <= octets.size(); cut += 37) {
    EXPECT_EQ(Crc32c{}.update(whole.first(cut)).update(whole.subspan(cut)).value(), crc32c(whole)) << cut;
  }
}

}  // namespace
}  // namespace weft
