// SPDX-License-Identifier: Apache-2.0
// Captures that gzip, zstd or xz has compressed: read as they are, from files and pipes; and what is said of those that
// are cut short, damaged, or ask for too much memory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "tests/conformance/compressed_octets.hpp"
#include "tests/conformance/read_capture.hpp"

namespace weft::conformance::testing {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;
using Kind = CaptureError::Kind;

const Octets kSegment = ipv4(Segment{.sequence = 1, .payload = "payload"});

struct Packing {
  std::string name{};
  Octets (*pack)(const Octets& plain){};
};
Octets zstd_of(const Octets& plain) { return zstd(plain); }
Octets xz_of(const Octets& plain) { return xz(plain); }

class Compressed : public ::testing::TestWithParam<Packing> {
 protected:
  [[nodiscard]] static Octets packed(const Octets& plain) { return GetParam().pack(plain); }
};
INSTANTIATE_TEST_SUITE_P(By, Compressed,
                         ::testing::Values(Packing{"gzip", gzip}, Packing{"zstd", zstd_of}, Packing{"xz", xz_of}),
                         [](const auto& info) { return info.param.name; });

// Long enough that neither reading nor unpacking is done in one step. The packets' sequence numbers differ.
PcapOctets long_capture(std::uint32_t packets) {
  PcapOctets file;
  for (std::uint32_t i = 0; i < packets; ++i) {
    file.add(ipv4(Segment{.sequence = i * 2654435761U, .payload = std::string(1000, static_cast<char>(i))}));
  }
  return file;
}

Octets first(const Octets& octets, std::size_t size) {
  return {octets.begin(), octets.begin() + static_cast<std::ptrdiff_t>(size)};
}

TEST_P(Compressed, PcapAndPcapng) {
  for (const Octets& plain :
       {PcapOctets().add(kSegment).add(kSegment).octets(),
        PcapngOctets().interface(kFileRaw).add(kSegment).add(kSegment).octets(), long_capture(3000).octets()}) {
    const Read expected = read(plain);
    const Read all = read(packed(plain));
    EXPECT_FALSE(all.error) << all.error->sentence;
    EXPECT_EQ(all.octets, expected.octets);
  }
}

// What `cat a.gz b.gz` makes: here one capture in three parts, cut inside a packet.
TEST_P(Compressed, ArchivesOneBehindTheOther) {
  const Octets plain = PcapOctets().add(kSegment).add(kSegment).octets();
  Octets parts;
  for (const auto& [begin, end] : {std::pair<std::size_t, std::size_t>{0, 10}, {10, 50}, {50, plain.size()}}) {
    append(parts, packed(Octets(plain.begin() + static_cast<std::ptrdiff_t>(begin),
                                plain.begin() + static_cast<std::ptrdiff_t>(end))));
  }
  const Read all = read(parts);
  EXPECT_FALSE(all.error) << all.error->sentence;
  EXPECT_THAT(all.octets, AllOf(SizeIs(2), Each(kSegment)));
}

TEST_P(Compressed, CutAnywhere) {
  const Octets whole = packed(PcapOctets().add(kSegment).add(kSegment).add(kSegment).octets());
  for (std::size_t size = 6; size < whole.size(); ++size) {
    const Read all = read(first(whole, size));
    ASSERT_TRUE(all.error) << size;
    EXPECT_EQ(all.error->kind, Kind::kCutShort) << size << all.error->sentence;
    EXPECT_THAT(all.error->sentence, AllOf(HasSubstr("weft-capture-"), HasSubstr(GetParam().name)));
    EXPECT_THAT(all.octets, Each(kSegment));
  }
}

// All packets are there; the checksum after them is not.
TEST_P(Compressed, WhatCameBeforeTheCutIsRead) {
  const Octets whole = packed(PcapOctets().add(kSegment).add(kSegment).octets());
  const Read all = read(first(whole, whole.size() - 1));
  EXPECT_THAT(all.octets, SizeIs(2));
  EXPECT_TRUE(all.error);
}

TEST_P(Compressed, DamageInTheMiddle) {
  const Octets plain = long_capture(3000).octets();
  const Read expected = read(plain);
  Octets damaged = packed(plain);
  for (std::size_t i = damaged.size() / 2; i < damaged.size() / 2 + 64; ++i) damaged[i] ^= std::byte{0xff};
  const Read all = read(damaged);
  ASSERT_TRUE(all.error);
  EXPECT_EQ(all.error->kind, Kind::kDamaged);
  EXPECT_THAT(all.error->sentence, Not(HasSubstr("\n")));
  EXPECT_LT(all.octets.size(), expected.octets.size());
}

TEST_P(Compressed, AnyOctetWrong) {
  const Octets whole = packed(PcapOctets().add(kSegment).add(kSegment).octets());
  for (std::size_t at = 0; at < whole.size(); ++at) {
    Octets damaged = whole;
    damaged[at] ^= std::byte{0x55};
    const Read all = read(damaged);
    if (all.error) continue;
    EXPECT_THAT(all.octets, AllOf(SizeIs(2), Each(kSegment))) << at;  // where it does not matter: gzip's time, say
  }
}

TEST_P(Compressed, OctetsBehindTheEnd) {
  Octets longer = packed(PcapOctets().add(kSegment).octets());
  append(longer, octets("and this is no archive at all"));
  const Read all = read(longer);
  EXPECT_THAT(all.octets, SizeIs(1));
  ASSERT_TRUE(all.error);
  EXPECT_EQ(all.error->kind, Kind::kDamaged);
}

TEST_P(Compressed, WhatIsInItIsNoCapture) {
  const Read all = read(packed(octets("#!/bin/sh\necho this is a script, and long enough\n")));
  ASSERT_TRUE(all.error);
  EXPECT_EQ(all.error->kind, Kind::kNotACapture);
  EXPECT_THAT(all.error->sentence, HasSubstr("once unpacked (" + GetParam().name));
}

TEST_P(Compressed, ProgressCountsCompressedOctets) {
  const TemporaryFile file(packed(long_capture(100).octets()));
  auto reader = CaptureReader::open(file.path());
  ASSERT_TRUE(reader);
  while (std::holds_alternative<Packet>(reader->next())) continue;
  const auto progress = reader->progress();
  ASSERT_TRUE(progress);
  EXPECT_EQ(progress->of, std::filesystem::file_size(file.path()));
  EXPECT_EQ(progress->octets, progress->of);
}

// All of the first packets are given though the writer is silent from then on, and the silence can be ended.
TEST_P(Compressed, AQuietPipe) {
  const Octets whole = packed(PcapOctets().add(kSegment).octets());
  const QuietPipe pipe(whole);
  StopSwitch stop;
  auto reader = CaptureReader::open(pipe.path(), &stop);
  ASSERT_TRUE(reader) << reader.error().sentence;
  EXPECT_FALSE(reader->progress());
  EXPECT_TRUE(std::holds_alternative<Packet>(reader->next()));
  std::thread other([&] { stop.stop(); });
  EXPECT_TRUE(std::holds_alternative<CaptureEnd>(reader->next()));
  other.join();
}

TEST_P(Compressed, StopInsideAnArchiveIsNoDamage) {
  const Octets whole = packed(PcapOctets().add(kSegment).octets());
  for (const std::size_t size : {std::size_t{3}, whole.size() / 2, whole.size() - 1}) {
    const QuietPipe pipe(first(whole, size));
    StopSwitch stop;
    std::thread other([&] { stop.stop(); });
    auto reader = CaptureReader::open(pipe.path(), &stop);
    if (reader) {
      while (std::holds_alternative<Packet>(reader->next())) continue;
      EXPECT_TRUE(std::holds_alternative<CaptureEnd>(reader->next())) << size;
    } else {
      EXPECT_EQ(reader.error().kind, Kind::kStopped) << size;
    }
    other.join();
  }
}

// A small file that would need gigabytes.
TEST(CompressedCapture, AsksForTooMuchMemory) {
  const Octets plain = PcapOctets().add(kSegment).octets();
  EXPECT_FALSE(read(zstd(plain, 27)).error);
  EXPECT_FALSE(read(xz(plain, 64 << 20)).error);  // xz -9
  for (const Octets& greedy : {zstd(plain, 28), zstd(plain, 31), xz(plain, 1U << 30)}) {
    const Read all = read(greedy);
    ASSERT_TRUE(all.error);
    EXPECT_EQ(all.error->kind, Kind::kCannotRead);
    EXPECT_THAT(all.error->sentence, AllOf(HasSubstr("memory"), HasSubstr("128 MiB")));
  }
}

// pzstd writes frames to be skipped, and the first one is such a frame.
TEST(CompressedCapture, ZstdMayBeginWithAFrameToSkip) {
  Octets file{std::byte{0x50}, std::byte{0x2a}, std::byte{0x4d}, std::byte{0x18}, std::byte{4}, std::byte{0},
              std::byte{0},    std::byte{0},    std::byte{1},    std::byte{2},    std::byte{3}, std::byte{4}};
  append(file, zstd(PcapOctets().add(kSegment).octets()));
  const Read all = read(file);
  EXPECT_FALSE(all.error);
  EXPECT_THAT(all.octets, SizeIs(1));
}

TEST(CompressedCapture, NothingButAMagicNumber) {
  for (const Octets& magic : {Octets{std::byte{0x1f}, std::byte{0x8b}},
                              Octets{std::byte{0x28}, std::byte{0xb5}, std::byte{0x2f}, std::byte{0xfd}}}) {
    const Read all = read(magic);
    ASSERT_TRUE(all.error);
    EXPECT_EQ(all.error->kind, Kind::kCutShort);
  }
}

}  // namespace
}  // namespace weft::conformance::testing
