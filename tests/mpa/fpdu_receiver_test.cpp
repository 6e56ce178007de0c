// SPDX-License-Identifier: Apache-2.0
#include "mpa/fpdu_receiver.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "support.hpp"

namespace weft::mpa::test {
namespace {

// A few FPDUs of uneven sizes, one after the other.
Octets stream_of(const Framing& framing, std::uint64_t position, const std::vector<std::size_t>& sizes) {
  FpduSender sender(framing, position);
  Octets stream;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    stream = stream + seal(sender, pattern(sizes[i], static_cast<unsigned>(i)));
  }
  return stream;
}

TEST(FpduReceiver, ReadsTheReferenceAtEveryMarkerPosition) {
  const Octets data = pattern(2100);
  for (std::uint64_t position = 0; position < 512; position += 4) {
    for (std::size_t size = 1; size <= 2100; size += size < 40 ? 1 : 37) {
      const Octets ulpdu = copy(Bytes(data).first(size));
      const Reading reading = read_all(FpduReceiver({true, true}, position), reference_fpdu(ulpdu, true, position));
      ASSERT_EQ(reading.ulpdus, std::vector<Octets>(1, ulpdu)) << position << " " << size;
      ASSERT_EQ(reading.unconsumed, 0u);
    }
  }
}

// MPA-5.1-06: all ways to cut a stream in two, and one octet at a time.
TEST(FpduReceiver, AnyChoppingGivesTheSame) {
  for (const Framing framing :
       {Framing{true, true}, Framing{true, false}, Framing{false, true}, Framing{false, false}}) {
    const Octets stream = stream_of(framing, 0, {1, 18, 490, 3, 700, 512, 2});
    const Reading whole = read_all(FpduReceiver(framing), stream);
    ASSERT_EQ(whole.ulpdus.size(), 7u);
    std::vector<std::size_t> every;
    for (std::size_t cut = 0; cut <= stream.size(); ++cut) {
      ASSERT_EQ(read_in_pieces(FpduReceiver(framing), stream, {cut}), whole) << cut;
      every.push_back(cut);
    }
    EXPECT_EQ(read_in_pieces(FpduReceiver(framing), stream, every), whole);
  }
}

// missing() is a promise: fewer octets never complete the FPDU, and asking again and again ends at its last octet.
TEST(FpduReceiver, MissingLeadsStraightToTheEnd) {
  for (const bool markers : {false, true}) {
    Octets fpdu = reference_fpdu(pattern(1500), markers, 0);
    FpduReceiver receiver({true, markers});
    std::size_t have = 0;
    int calls = 0;
    while (true) {
      const auto result = receiver.next(MutableBytes(fpdu).first(have));
      ASSERT_TRUE(result);
      if (*result) break;
      ASSERT_GT(receiver.missing(), 0u);
      have += receiver.missing();
      ASSERT_LE(have, fpdu.size());
      ASSERT_LT(++calls, 4);
    }
    EXPECT_EQ(have, fpdu.size());
  }
}

// One flipped bit anywhere: never a ULPDU that differs from what was sent, and never a ULPDU from the FPDU that was
// hit. A larger length leaves the receiver waiting or failing, both are safe.
TEST(FpduReceiver, NoFlippedBitGetsThrough) {
  for (const bool markers : {false, true}) {
    const Octets good = reference_fpdu(pattern(600), markers, 0);
    for (std::size_t bit = 0; bit < good.size() * 8; ++bit) {
      Octets bad = good;
      bad[bit / 8] ^= static_cast<std::byte>(1u << bit % 8);
      const Reading reading = read_all(FpduReceiver({true, markers}), bad);
      ASSERT_TRUE(reading.ulpdus.empty()) << bit;
      ASSERT_TRUE(reading.error || reading.unconsumed == bad.size());
      // with more octets after it a longer FPDU is complete, and fails too
      const Reading more = read_all(FpduReceiver({true, markers}), bad + pattern(kMaxFpduSize));
      ASSERT_TRUE(more.ulpdus.empty()) << bit;
      ASSERT_EQ(more.error, (FpduError{Fault::kCrcMismatch, 0}));
      if (bit >= 64) bit += 4;  // all bits of the Marker and the length, then every fifth: co-prime to 8
    }
  }
}

TEST(FpduReceiver, AnErrorIsForever) {
  const Octets first = reference_fpdu(pattern(20), false, 0);
  Octets bad = reference_fpdu(pattern(30), false, 0);
  bad[7] ^= std::byte{1};
  const Reading reading = read_all(FpduReceiver({true, false}), first + bad + first);
  EXPECT_EQ(reading.ulpdus.size(), 1u);
  EXPECT_EQ(reading.error, (FpduError{Fault::kCrcMismatch, first.size()}));
  FpduReceiver receiver({true, false});
  EXPECT_FALSE(receiver.next(bad));
  Octets good = first;
  EXPECT_FALSE(receiver.next(good));
}

TEST(FpduReceiver, AMarkerThatPointsElsewhereWithAGoodCrc) {
  for (const std::uint64_t position : {0ull, 500ull, 4ull}) {
    const Octets fpdu = reference_fpdu(pattern(800), true, position, {.pointer_add = 4});
    const Reading reading = read_all(FpduReceiver({true, true}, position), fpdu);
    EXPECT_EQ(reading.error, (FpduError{Fault::kMarkerMismatch, position}));
    EXPECT_TRUE(reading.ulpdus.empty());
  }
}

// What no sender may send, but a length field can say. RFC 5044 has no receiver error for it: bounded, not refused.
TEST(FpduReceiver, LengthsOutsideTheSendersRange) {
  for (const std::size_t size : {std::size_t{0}, kMaxUlpdu, kMaxUlpdu + 1, kMaxUlpduLength}) {
    for (const bool markers : {false, true}) {
      const Octets fpdu = reference_fpdu(pattern(size), markers, 0);
      EXPECT_LE(fpdu.size(), kMaxFpduSize);
      const Reading reading = read_all(FpduReceiver({true, markers}), fpdu);
      ASSERT_EQ(reading.ulpdus.size(), 1u) << size;
      EXPECT_EQ(reading.ulpdus[0], pattern(size));
    }
  }
}

TEST(FpduReceiver, ReportsNonzeroPad) {
  for (std::size_t size = 1; size <= 4; ++size) {
    Octets fpdu = reference_fpdu(pattern(size), false, 0, {.pad = std::byte{0x5a}});
    const auto result = FpduReceiver({true, false}).next(fpdu);
    ASSERT_TRUE(result && *result);
    EXPECT_EQ((*result)->pad_nonzero, pad_size(size) != 0);
  }
}

// One bit anywhere in it: without a CRC, so that the octet can be changed alone.
TEST(FpduReceiver, ReportsEachOctetOfNonzeroPad) {
  for (std::size_t size = 1; size <= 4; ++size) {
    for (std::size_t at = 0; at < pad_size(size); ++at) {
      Octets fpdu = reference_fpdu(pattern(size), false, 0);
      fpdu[kLengthSize + size + at] = std::byte{0x80};
      const auto result = FpduReceiver({false, false}).next(fpdu);
      ASSERT_TRUE(result && *result);
      EXPECT_TRUE((*result)->pad_nonzero) << size << " " << at;
    }
  }
}

TEST(FpduReceiver, StreamOffsetsBeyond32Bits) {
  const std::uint64_t position = (1ull << 32) - 16;
  const Octets stream = stream_of({true, true}, position, {100, 600, 5});
  const Reading reading = read_all(FpduReceiver({true, true}, position), stream);
  ASSERT_EQ(reading.ulpdus.size(), 3u);
  EXPECT_EQ(reading.ulpdus[1], pattern(600, 1));
  EXPECT_GT(reading.offsets[1], 1ull << 32);
}

TEST(FpduReceiver, TheUlpduIsContiguousInsideTheOctetsConsumed) {
  Octets fpdu = reference_fpdu(pattern(1600), true, 0);
  const auto result = FpduReceiver({true, true}).next(fpdu);
  ASSERT_TRUE(result && *result);
  EXPECT_GE((*result)->ulpdu.data(), fpdu.data());
  EXPECT_LE((*result)->ulpdu.data() + 1600, fpdu.data() + fpdu.size());
}

// What was read to its place is verified there: wherever it begins and ends in the ULPDU, a good FPDU passes, and one
// bit of difference anywhere is found.
TEST(FpduReceiver, VerifiesOctetsThatLieElsewhere) {
  constexpr std::size_t kSize = 301;
  const Octets good = reference_fpdu(pattern(kSize), false, 0);
  for (std::size_t at = kLengthSize; at < kLengthSize + kSize; at += 23) {
    for (std::size_t octets = 1; at + octets <= kLengthSize + kSize; octets += octets < 5 ? 1 : 31) {
      Octets elsewhere = copy(Bytes(good).subspan(at, octets));
      Octets stream = good;
      std::ranges::fill(MutableBytes(stream).subspan(at, octets), std::byte{0xee});
      const auto fpdu = FpduReceiver({true, false}).next(stream, {at, elsewhere});
      ASSERT_TRUE(fpdu && *fpdu) << at << " " << octets;
      EXPECT_EQ((*fpdu)->ulpdu.size(), kSize);
      EXPECT_EQ((*fpdu)->consumed, good.size());
      elsewhere[octets / 2] ^= std::byte{4};
      const auto bad = FpduReceiver({true, false}).next(stream, {at, elsewhere});
      ASSERT_FALSE(bad);
      EXPECT_EQ(bad.error().fault, Fault::kCrcMismatch);
    }
  }
}

TEST(FpduReceiver, TellsWhatIsThereOfAUlpdu) {
  const Octets fpdu = reference_fpdu(pattern(100), false, 0);
  const FpduReceiver receiver({true, false});
  EXPECT_FALSE(receiver.begun(Bytes(fpdu).first(1))) << "not even the length";
  for (const std::size_t there : {0U, 1U, 99U}) {
    const auto begun = receiver.begun(Bytes(fpdu).first(kLengthSize + there));
    ASSERT_TRUE(begun);
    EXPECT_EQ(begun->size, 100U);
    EXPECT_EQ(copy(begun->octets), copy(Bytes(fpdu).subspan(kLengthSize, there)));
  }
  EXPECT_FALSE(receiver.begun(Bytes(fpdu).first(kLengthSize + 100))) << "only its PAD and CRC are missing";
  EXPECT_FALSE(FpduReceiver({true, true}).begun(Bytes(fpdu).first(50))) << "Markers lie between";
}

}  // namespace
}  // namespace weft::mpa::test
