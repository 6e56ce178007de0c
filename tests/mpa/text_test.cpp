// SPDX-License-Identifier: Apache-2.0
// Startup frames in words, and the tables of fields against the figures of RFC 5044 and RFC 6581.
#include "mpa/text.hpp"

#include <gtest/gtest.h>

namespace weft::mpa {
namespace {

TEST(Text, OfAFrameSaysAllThatItAsksFor) {
  StartupFrame frame{.kind = FrameKind::kRequest, .markers = true, .crc = true, .revision = 2};
  frame.enhanced = EnhancedData{.peer_to_peer = true, .rtr = {.send = true, .read = true}, .ird = 4, .ord = 0x3FFF};
  const std::array<std::byte, 1> data{};
  frame.private_data = data;
  EXPECT_EQ(text(frame),
            "revision 2, CRC, wants Markers, IRD 4, ORD not negotiated, peer to peer, RTR by Send Read, 1 octet of "
            "private data");
}

// MPA-7.1.1-15: R has a meaning in a Reply only.
TEST(Text, OnlyAReplyRejects) {
  StartupFrame frame{.kind = FrameKind::kRequest, .reject = true, .revision = 1};
  EXPECT_EQ(std::string(name(frame.kind)) + ": " + text(frame), "MPA Request: revision 1, no CRC");
  frame.kind = FrameKind::kReply;
  EXPECT_EQ(std::string(name(frame.kind)) + ": " + text(frame), "MPA Reply: rejected, revision 1, no CRC");
}

TEST(Text, OfTheEnhancedDataHasItsFlags) {
  EXPECT_EQ(ird_word_text(0xC004), "A=1 (peer to peer) B=1 IRD 4");
  EXPECT_EQ(ird_word_text(0x0004), "A=0 (client-server) B=0 IRD 4");
  EXPECT_EQ(ord_word_text(0x4008), "C=0 D=1 ORD 8");
  EXPECT_EQ(text(RtrTypes{}), "none");
}

// RFC 5044 section 7.1.1, figure 8; RFC 6581 section 9, figure 4.
TEST(Fields, OfAFrameAreWhereTheFiguresHaveThem) {
  const std::array<std::byte, 20> frame{
      std::byte{'M'},  {},           {},           {},          {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {},
      std::byte{0xA5}, std::byte{2}, std::byte{1}, std::byte{4}};
  const auto& [key, flags, m, c, r, s, res, rev, length] = kStartupFields;
  EXPECT_EQ(key.size, 16);
  EXPECT_EQ(flags.value(frame), 0xA5U);
  EXPECT_EQ(m.value(frame) << 4 | c.value(frame) << 3 | r.value(frame) << 2 | s.value(frame), 0b10100U);
  EXPECT_EQ(res.value(frame), 5U);
  EXPECT_EQ(rev.value(frame), 2U);
  EXPECT_EQ(length.value(frame), 260U);
  EXPECT_EQ(end_of(kStartupFields), kFixedFrameSize);
  const std::array enhanced{std::byte{0x80}, std::byte{4}, std::byte{0x7F}, std::byte{0xFF}};
  const auto& [ird_word, a, b, ird, ord_word, write, read, ord] = kEnhancedFields;
  EXPECT_EQ(a.value(enhanced), 1U);
  EXPECT_EQ(b.value(enhanced), 0U);
  EXPECT_EQ(ird.value(enhanced), 4U);
  EXPECT_EQ(write.value(enhanced), 0U);
  EXPECT_EQ(read.value(enhanced), 1U);
  EXPECT_EQ(ord.value(enhanced), 0x3FFFU);
  EXPECT_EQ(end_of(kEnhancedFields), kEnhancedDataSize);
}

}  // namespace
}  // namespace weft::mpa
