// SPDX-License-Identifier: Apache-2.0
#include "mpa/fpdu_sender.hpp"

#include <gtest/gtest.h>

#include "support.hpp"

namespace weft::mpa::test {
namespace {

// Every Marker position, all residues of the length, and lengths around the places where the count of Markers changes.
TEST(FpduSender, AgreesWithTheReferenceAtEveryMarkerPosition) {
  const Octets data = pattern(2100);
  for (std::uint64_t position = 0; position < 512; position += 4) {
    for (std::size_t size = 1; size <= 2100; size += size < 40 ? 1 : 37) {
      const Bytes ulpdu = Bytes(data).first(size);
      FpduSender sender({true, true}, position);
      ASSERT_EQ(seal(sender, ulpdu), reference_fpdu(ulpdu, true, position)) << position << " " << size;
    }
  }
}

TEST(FpduSender, AgreesWithTheReferenceAroundEachMarkerCount) {
  const Octets data = pattern(1100);
  for (std::uint64_t position = 0; position < 512; position += 4) {
    for (const std::size_t around : {octets_to_marker(position), octets_to_marker(position) + 508}) {
      for (std::size_t size = around < 12 ? 1 : around - 11; size < around + 12; ++size) {
        const Bytes ulpdu = Bytes(data).first(size);
        FpduSender sender({true, true}, position);
        ASSERT_EQ(seal(sender, ulpdu), reference_fpdu(ulpdu, true, position)) << position << " " << size;
      }
    }
  }
}

TEST(FpduSender, AgreesWithTheReferenceWithoutMarkers) {
  const Octets data = pattern(300);
  FpduSender sender({true, false});
  std::uint64_t expected = 0;
  for (std::size_t size = 1; size <= 300; ++size) {
    const Bytes ulpdu = Bytes(data).first(size);
    const Octets fpdu = seal(sender, ulpdu);
    ASSERT_EQ(fpdu, reference_fpdu(ulpdu, false, 0)) << size;
    expected += fpdu.size();
    EXPECT_EQ(sender.position(), expected);
  }
}

TEST(FpduSender, TheLargestUlpdu) {
  const Octets ulpdu = pattern(kMaxUlpdu);
  for (const std::uint64_t position : {0ull, 4ull, 508ull}) {
    FpduSender sender({true, true}, position);
    EXPECT_EQ(seal(sender, ulpdu), reference_fpdu(ulpdu, true, position));
  }
}

// MPA-4.3-13: the period goes on beyond 2^32 octets.
TEST(FpduSender, PositionsBeyond32Bits) {
  const Octets ulpdu = pattern(700);
  for (const std::uint64_t position : {(1ull << 32) - 8, 1ull << 32, (1ull << 40) + 508}) {
    FpduSender sender({true, true}, position);
    EXPECT_EQ(seal(sender, ulpdu), reference_fpdu(ulpdu, true, position));
    EXPECT_GT(sender.position(), position);
  }
}

// MPA-4.4-12
TEST(FpduSender, WithoutCrcTheFieldIsZero) {
  FpduSender sender({false, false});
  EXPECT_EQ(seal(sender, from_hex("aabbcc")), from_hex("0003 aabbcc 000000 00000000"));
}

// A room larger than the FPDU: nothing after it is touched.
TEST(FpduSender, WritesNothingBehindTheFpdu) {
  Octets room(2000, std::byte{0xee});
  FpduSender sender({true, true}, 4);
  const std::size_t size = sender.seal(room, 1000);
  EXPECT_EQ(size, fpdu_size({true, true}, 4, 1000));
  for (std::size_t i = size; i < room.size(); ++i) ASSERT_EQ(room[i], std::byte{0xee});
}

// MPA-4.4-12: the field is there all the same, and holds nothing of what lay in the room before.
TEST(FpduSender, WithoutACrcItsFieldIsZero) {
  Octets room(32, std::byte{0xee});
  const std::size_t size = FpduSender({false, false}).seal(room, 10);
  EXPECT_EQ(copy(Bytes(room).first(size).last(kCrcSize)), Octets(kCrcSize));
}

TEST(FpduSender, ABorrowedPayloadGivesTheSameOctets) {
  const Octets header = pattern(14, 3);
  for (std::size_t payload = 0; payload < 9; ++payload) {
    const Octets data = pattern(payload, 5);
    FpduSender in_place({false, false});
    FpduSender borrowing({false, false});
    ASSERT_TRUE(borrowing.can_borrow());
    Octets room(header.size() + FpduSender::kMaxEnds, std::byte{0xee});
    const auto ends = borrowing.frame_borrowed(room, header, payload);
    const Bytes all(room);
    const Octets joined = copy(all.first(ends.prefix)) + data + copy(all.subspan(ends.prefix, ends.suffix));
    EXPECT_EQ(joined, seal(in_place, header + data));
    EXPECT_EQ(borrowing.position(), in_place.position());
  }
}

// MPA-3-05; in a room that holds what is not borrowed, and nothing else: 2 octets, the header, 2 of PAD, 4 of CRC.
TEST(FpduSender, BorrowsUpToTheLargestUlpdu) {
  const Octets header = pattern(14);
  Octets room(22);
  const auto ends = FpduSender({false, false}).frame_borrowed(room, header, kMaxUlpdu - 14);
  EXPECT_EQ(ends.prefix, 16U);
  EXPECT_EQ(ends.suffix, 6U);
}

TEST(FpduSender, BorrowsOnlyWithoutCrcAndMarkers) {
  EXPECT_FALSE(FpduSender({true, false}).can_borrow());
  EXPECT_FALSE(FpduSender({false, true}).can_borrow());
  EXPECT_FALSE(FpduSender({true, true}).can_borrow());
}

// MPA-3-05, MPA-3-06: what no sender may frame stops the program instead of the stream.
TEST(FpduSenderDeathTest, RefusesImpossibleSizes) {
  Octets room(70000);
  EXPECT_DEATH(FpduSender({true, false}).seal(room, 0), "");
  EXPECT_DEATH(FpduSender({true, false}).seal(room, kMaxUlpdu + 1), "");
  EXPECT_DEATH(FpduSender({true, false}).seal(MutableBytes(room).first(20), 20), "");
  EXPECT_DEATH(FpduSender({true, false}).frame_borrowed(room, {}, 20), "");
  EXPECT_DEATH(FpduSender({false, false}).frame_borrowed(room, {}, 0), "");
  EXPECT_DEATH(FpduSender({false, false}).frame_borrowed(room, {}, kMaxUlpdu + 1), "");
  EXPECT_DEATH(FpduSender({false, false}).frame_borrowed(MutableBytes(room).first(5), {}, 2), "");
}

}  // namespace
}  // namespace weft::mpa::test
