// SPDX-License-Identifier: Apache-2.0
// docs/one-fpdu.md, step by step: the 28 octets that Linux's siw sent in packet 62 of
// pcap-samples/43-crc-odd-lengths.pcap.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "common/crc32c.hpp"
#include "ddp/header.hpp"
#include "engine/inbound.hpp"
#include "rdmap/admit.hpp"
#include "tests/engine/vector_memory.hpp"

namespace weft {
namespace {

constexpr std::array<std::uint8_t, 28> kFpdu{0x00, 0x13,                                      // ULPDU_Length
                                             0xc1, 0x40,                                      // DDP and RDMAP control
                                             0xe9, 0x93, 0xd2, 0x00,                          // STag
                                             0x00, 0x00, 0x7f, 0xf8, 0x4e, 0x61, 0x00, 0x00,  // TO
                                             0x00, 0x01, 0x02, 0x03, 0x04,                    // payload
                                             0x01, 0x02, 0x03,                                // PAD, not zero
                                             0xa7, 0x29, 0xa5, 0x87};                         // CRC
constexpr std::uint32_t kStag = 0xe993d200;
constexpr std::uint64_t kOffset = 0x00007ff84e610000;

std::array<std::byte, kFpdu.size()> stream() {
  std::array<std::byte, kFpdu.size()> octets{};
  std::ranges::transform(kFpdu, octets.begin(), [](std::uint8_t octet) { return std::byte{octet}; });
  return octets;
}

TEST(OneFpdu, MpaWaitsForAllOfItAndVerifiesIt) {
  auto octets = stream();
  EXPECT_EQ(mpa::fpdu_size({.crc = true, .markers = false}, 0, 0x13), 28U);
  EXPECT_EQ(crc32c(Bytes(octets).first(24)), 0x87a529a7U);

  mpa::FpduReceiver receiver({.crc = true, .markers = false});
  EXPECT_FALSE(receiver.next(MutableBytes(octets).first(27)).value().has_value());
  EXPECT_EQ(receiver.missing(), 1U);
  const auto fpdu = receiver.next(octets).value().value();
  EXPECT_EQ(fpdu.ulpdu.size(), 19U);
  EXPECT_EQ(fpdu.ulpdu.data(), octets.data() + 2);
  EXPECT_TRUE(fpdu.pad_nonzero);
}

TEST(OneFpdu, DdpParsesAndRdmapAdmits) {
  const auto octets = stream();
  const auto header = ddp::parse(Bytes(octets).subspan(2, 19)).value();
  EXPECT_EQ(std::get<ddp::TaggedHeader>(header),
            (ddp::TaggedHeader{.last = true, .rsvd_ulp = 0x40, .stag = {kStag}, .offset = {kOffset}}));
  EXPECT_EQ(ddp::header_size(header), 14U);
  EXPECT_EQ(rdmap::admit(header), rdmap::Opcode::kWrite);
}

TEST(OneFpdu, TheEnginePlacesItAndTellsNobody) {
  auto octets = stream();
  engine::test::VectorMemory memory;
  memory.add(kStag, 8, kOffset);
  engine::Inbound inbound({.crc = true, .markers = false}, 1, 1, memory);
  ASSERT_EQ(inbound.next(octets).value(), engine::InboundStep::kSegment);
  const engine::InboundSegment& segment = inbound.segment();
  EXPECT_EQ(segment.consumed, 28U);
  EXPECT_TRUE(std::holds_alternative<engine::Placed>(segment.delivery));
  const auto& placed = memory.regions()[kStag].octets;
  for (std::size_t i = 0; i < placed.size(); ++i)
    EXPECT_EQ(placed[i], std::byte{static_cast<unsigned char>(i < 5 ? i : 0)}) << i;
}

TEST(OneFpdu, OneFlippedBitAndNothingHappensToMemory) {
  for (std::size_t bit = 0; bit < 8 * 24; ++bit) {
    auto octets = stream();
    octets[bit / 8] ^= std::byte{static_cast<unsigned char>(1U << bit % 8)};
    engine::test::VectorMemory memory;
    memory.add(kStag, 8, kOffset);
    engine::Inbound inbound({.crc = true, .markers = false}, 1, 1, memory);
    const auto step = inbound.next(octets);
    // A longer length only means that more is awaited; everything else is a CRC error.
    if (step) {
      EXPECT_EQ(*step, engine::InboundStep::kNeedMore) << bit;
    } else {
      EXPECT_EQ(step.error().clause, "MPA-8-02") << bit;
    }
    EXPECT_EQ(memory.octets_placed, 0U) << bit;
  }
}

}  // namespace
}  // namespace weft
