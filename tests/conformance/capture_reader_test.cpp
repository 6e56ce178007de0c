// SPDX-License-Identifier: Apache-2.0
// Captures of every kind, and what is said of files that are none.
#include "conformance/capture_reader.hpp"
#include "conformance/key_log.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <thread>

#include "conformance/key_log.hpp"
#include "tests/conformance/capture_octets.hpp"
#include "tests/conformance/read_capture.hpp"
#include "tests/conformance/tcp_history.hpp"

namespace weft::conformance::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using Kind = CaptureError::Kind;

const Octets kIp = ipv4(Segment{.sequence = 1, .payload = "payload"});

Kind kind_of(const Octets& octets) {
  const Read all = read(octets);
  EXPECT_TRUE(all.error);
  return all.error ? all.error->kind : Kind{};
}

TEST(CaptureReader, PcapInEveryByteOrderAndPrecision) {
  for (const ByteOrder order : {ByteOrder::kBig, ByteOrder::kLittle}) {
    for (const bool nanoseconds : {false, true}) {
      const Read all = read(PcapOctets(kFileRaw, order, nanoseconds).add(kIp).add(kIp, 30).octets());
      EXPECT_FALSE(all.error);
      ASSERT_THAT(all.packets, SizeIs(2));
      EXPECT_EQ(all.packets[0].number, 1U);
      EXPECT_EQ(all.packets[0].time, nanoseconds ? 1'123'456'789 : 1'123'456'000);
      EXPECT_EQ(all.octets[0], kIp);
      EXPECT_EQ(all.packets[1].number, 2U);
      EXPECT_THAT(all.octets[1], SizeIs(30));
      EXPECT_EQ(all.packets[1].original_size, kIp.size());
    }
  }
}

TEST(CaptureReader, PcapngInBothByteOrders) {
  for (const ByteOrder order : {ByteOrder::kBig, ByteOrder::kLittle}) {
    PcapngOctets file(order);
    // Not raw IP: libpcap 1.10 takes two such interfaces for different ones.
    file.interface(kFileEthernet).interface(kFileEthernet).add(kIp, 0).add_unknown_block().add(kIp, 1).add_simple(kIp);
    const Read all = read(file.octets());
    EXPECT_FALSE(all.error) << all.error->sentence;
    ASSERT_THAT(all.packets, SizeIs(3));
    EXPECT_EQ(all.packets[0].time, 1'123'456'000);
    EXPECT_EQ(all.packets[2].number, 3U);
    EXPECT_EQ(all.octets[2], kIp);
  }
}

TEST(CaptureReader, EveryLinkType) {
  const std::pair<std::uint16_t, LinkType> kinds[]{
      {kFileEthernet, LinkType::kEthernet}, {kFileSll, LinkType::kLinuxCooked}, {kFileSll2, LinkType::kLinuxCooked2},
      {kFileNull, LinkType::kNull},         {kFileLoop, LinkType::kLoop},       {kFileRaw, LinkType::kRawIp},
      {kFileIpv4, LinkType::kIpv4},         {kFileIpv6, LinkType::kIpv6}};
  for (const auto& [number, link] : kinds) {
    for (const Octets& file :
         {PcapOctets(number).add(kIp).octets(), PcapngOctets().interface(number).add(kIp).octets()}) {
      const Read all = read(file);
      ASSERT_THAT(all.packets, SizeIs(1)) << number;
      EXPECT_EQ(all.packets[0].link, link) << number;
    }
  }
}

TEST(CaptureReader, AnUnknownLinkTypeIsNamed) {
  const Read all = read(PcapOctets(105).add(kIp).octets());
  ASSERT_TRUE(all.error);
  EXPECT_EQ(all.error->kind, Kind::kUnknownLinkType);
  EXPECT_THAT(all.error->sentence, AllOf(HasSubstr("weft-capture-"), HasSubstr("802.11")));
}

TEST(CaptureReader, InterfacesOfDifferentKinds) {
  const Octets frame = ethernet(kIp);
  for (const ByteOrder order : {ByteOrder::kLittle, ByteOrder::kBig}) {
    const Read all = read(PcapngOctets(order)
                              .interface(kFileRaw)
                              .add(kIp)
                              .interface(kFileEthernet, 96)
                              .add(frame, 1)
                              .add_old(frame, 1)
                              .interface(105)  // 802.11, which is not read
                              .add(kIp, 2)
                              .add_simple(kIp)
                              .octets());
    EXPECT_FALSE(all.error);
    ASSERT_THAT(all.packets, SizeIs(5));
    const LinkType links[]{LinkType::kRawIp, LinkType::kEthernet, LinkType::kEthernet, LinkType::kUnknown,
                           LinkType::kRawIp};
    for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(all.packets[i].link, links[i]) << i;
    EXPECT_EQ(all.octets[1], frame);
    EXPECT_EQ(all.octets[2], frame);
    EXPECT_EQ(all.packets[1].time, 1'123'456'000);
  }
}

TEST(CaptureReader, SectionsOfEitherByteOrder) {
  const Read all = read(PcapngOctets(ByteOrder::kLittle)
                            .interface(kFileRaw)
                            .add(kIp)
                            .section(ByteOrder::kBig)
                            .interface(kFileEthernet)
                            .add(ethernet(kIp))
                            .section(ByteOrder::kLittle)
                            .interface(kFileRaw)
                            .add(kIp)
                            .octets());
  EXPECT_FALSE(all.error);
  ASSERT_THAT(all.packets, SizeIs(3));
  EXPECT_EQ(all.packets[1].link, LinkType::kEthernet);
  EXPECT_EQ(all.packets[2].link, LinkType::kRawIp);
  EXPECT_EQ(all.packets[2].number, 3U);
}

// Those of a section end with it.
TEST(CaptureReader, APacketOfNoInterfaceIsDamage) {
  EXPECT_EQ(kind_of(PcapngOctets().interface(kFileRaw).add(kIp, 1).octets()), Kind::kDamaged);
  EXPECT_EQ(kind_of(PcapngOctets().interface(kFileRaw).section(ByteOrder::kBig).add(kIp).octets()), Kind::kDamaged);
  EXPECT_EQ(kind_of(PcapngOctets().add_simple(kIp).octets()), Kind::kDamaged);
}

TEST(CaptureReader, TheSnapLengthCutsSimplePackets) {
  Octets cut(kIp.begin(), kIp.begin() + 24);
  PcapngOctets file = std::move(PcapngOctets().interface(kFileRaw, 24));
  // A simple block tells the original length alone.
  Octets octets = file.add_simple(kIp).octets();
  Read all = read(octets);
  EXPECT_FALSE(all.error);
  ASSERT_THAT(all.packets, SizeIs(1));
  EXPECT_EQ(all.octets[0], cut);
  EXPECT_EQ(all.packets[0].original_size, kIp.size());
}

TEST(CaptureReader, TimesOfAnyResolution) {
  const auto time_of = [](std::uint8_t resolution, std::uint64_t units, std::uint64_t offset) {
    PcapngOctets file;
    Octets options = file.option(9, {std::byte{resolution}});
    Octets seconds;
    append_little(seconds, offset, 8);
    append(options, file.option(14, seconds));
    const Read all = read(file.interface(kFileRaw, 0, options).add_at(kIp, units).octets());
    return all.packets.empty() ? -1 : all.packets[0].time;
  };
  EXPECT_EQ(time_of(6, 1'000'007, 0), 1'000'007'000);
  EXPECT_EQ(time_of(9, 1'000'007, 0), 1'000'007);
  EXPECT_EQ(time_of(0, 7, 3), 10'000'000'000);
  EXPECT_EQ(time_of(12, 7'000'000, 0), 7'000);
  EXPECT_EQ(time_of(0x80 | 10, 1536, 0), 1'500'000'000);
  EXPECT_EQ(time_of(0x80 | 32, std::uint64_t{5} << 32, 0), 5'000'000'000);
  EXPECT_EQ(time_of(127, UINT64_MAX, 0), 1) << "damaged, and no worse";
  EXPECT_EQ(time_of(255, UINT64_MAX, 0), 0);
}

// Wireshark numbers custom blocks as it numbers packets, and other unknown blocks not.
TEST(CaptureReader, BlocksBetweenPackets) {
  const Read all = read(PcapngOctets().interface(kFileRaw).add_unknown_block().add(kIp).add_custom().add(kIp).octets());
  EXPECT_FALSE(all.error);
  ASSERT_THAT(all.packets, SizeIs(2));
  EXPECT_EQ(all.packets[0].number, 1U);
  EXPECT_EQ(all.packets[1].number, 3U);
}

TEST(CaptureReader, SecretsInTheCapture) {
  const TemporaryFile file(
      PcapngOctets().interface(kFileRaw).add(kIp).add_secrets("# one").add(kIp).add_secrets("# two\n").octets());
  auto reader = CaptureReader::open(file.path());
  ASSERT_TRUE(reader);
  EXPECT_TRUE(std::holds_alternative<Packet>(reader->next()));
  EXPECT_EQ(reader->take_secrets(), "");
  EXPECT_TRUE(std::holds_alternative<Packet>(reader->next()));
  EXPECT_EQ(reader->take_secrets(), "# one\n");
  EXPECT_TRUE(std::holds_alternative<CaptureEnd>(reader->next()));
  EXPECT_EQ(reader->take_secrets(), "# two\n\n");
  EXPECT_EQ(reader->take_secrets(), "");
  const std::string line = "CLIENT_RANDOM " + std::string(64, '0') + ' ' + std::string(64, '1') + '\n';
  const TemporaryFile with_keys(PcapngOctets().interface(kFileRaw).add_secrets(line).add(kIp).octets());
  auto again = CaptureReader::open(with_keys.path());
  ASSERT_TRUE(again);
  KeyLog keys = KeyLog::of_text("");
  EXPECT_FALSE(read_packets(*again, [&](const Packet&) { EXPECT_FALSE(keys.empty()) << "before the packet"; }, &keys));
  EXPECT_FALSE(keys.empty());
}

// Lengths that claim more than there is, or less than there must be.
TEST(CaptureReader, BlocksOfWrongLengths) {
  const Octets good = PcapngOctets().interface(kFileRaw).add(kIp).octets();
  const std::size_t packet_at = 28 + 20;
  const auto with = [&](std::size_t at, std::uint32_t value) {
    Octets changed = good;
    Octets number;
    append_little(number, value, 4);
    std::ranges::copy(number, changed.begin() + static_cast<std::ptrdiff_t>(at));
    return kind_of(changed);
  };
  EXPECT_EQ(with(packet_at + 4, 11), Kind::kDamaged);
  EXPECT_EQ(with(packet_at + 4, 0), Kind::kDamaged);
  EXPECT_EQ(with(packet_at + 4, 16), Kind::kDamaged) << "shorter than its fields";
  EXPECT_EQ(with(packet_at + 4, 0xfffffff0), Kind::kDamaged) << "longer than any packet";
  EXPECT_EQ(with(packet_at + 4, 1000), Kind::kCutShort);
  EXPECT_EQ(with(packet_at + 8 + 12, 0x7fffffff), Kind::kDamaged) << "a packet longer than its block";
  EXPECT_EQ(with(good.size() - 4, 12), Kind::kDamaged) << "the lengths differ";
  EXPECT_EQ(with(8, 0x11223344), Kind::kDamaged) << "no byte order";
  EXPECT_EQ(with(12, 2), Kind::kDamaged) << "version 2";
  EXPECT_EQ(with(0, 1), Kind::kNotACapture);
}

TEST(CaptureReader, WhatIsNoCapture) {
  EXPECT_EQ(kind_of(octets("#!/bin/sh\necho this is a script, and long enough\n")), Kind::kNotACapture);
  EXPECT_EQ(kind_of(octets("")), Kind::kCutShort);
}

TEST(CaptureReader, WhatCannotBeRead) {
  const Read missing = read("/nowhere/trace.pcap");
  ASSERT_TRUE(missing.error);
  EXPECT_EQ(missing.error->kind, Kind::kCannotRead);
  EXPECT_THAT(missing.error->sentence, AllOf(HasSubstr("/nowhere/trace.pcap"), HasSubstr("No such file")));
  const Read folder = read("/tmp");
  ASSERT_TRUE(folder.error);
  EXPECT_EQ(folder.error->kind, Kind::kCannotRead);
  EXPECT_THAT(folder.error->sentence, HasSubstr("Is a directory"));
}

// Whatever the length: the packets before it, and one sentence.
TEST(CaptureReader, FilesCutAnywhere) {
  const Octets pcap = PcapOctets().add(kIp).add(kIp).add(kIp).octets();
  const Octets pcapng = PcapngOctets().interface(kFileRaw).add(kIp).add(kIp).add(kIp).octets();
  for (const bool is_pcapng : {false, true}) {
    const Octets& whole = is_pcapng ? pcapng : pcap;
    std::size_t before = 0;
    std::size_t ends = 0;
    for (std::size_t size = 0; size <= whole.size(); ++size) {
      const Read all = read(Octets(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)));
      EXPECT_GE(all.packets.size(), before);
      before = all.packets.size();
      for (const Octets& packet : all.octets) EXPECT_EQ(packet, kIp);
      if (!all.error) {
        ++ends;
        continue;
      }
      EXPECT_THAT(all.error->sentence, AllOf(HasSubstr("weft-capture-"), Not(HasSubstr("\n"))));
      EXPECT_TRUE(all.error->kind == Kind::kCutShort || size < 24) << size << all.error->sentence;
    }
    EXPECT_EQ(before, 3U);
    // The header alone (of pcapng also with the interface), and after each packet.
    EXPECT_EQ(ends, is_pcapng ? 5U : 4U);
  }
}

TEST(CaptureReader, DamageInTheMiddle) {
  PcapOctets file;
  file.add(kIp);
  Octets damaged = file.octets();
  append(damaged, Octets(12, std::byte{0xff}));  // a packet of four gigabytes
  append(damaged, Octets(100, std::byte{0xff}));
  const Read all = read(damaged);
  EXPECT_THAT(all.packets, SizeIs(1));
  ASSERT_TRUE(all.error);
  EXPECT_EQ(all.error->kind, Kind::kDamaged);
}

TEST(CaptureReader, Progress) {
  const TemporaryFile file(PcapOctets().add(kIp).octets());
  auto reader = CaptureReader::open(file.path());
  ASSERT_TRUE(reader);
  while (std::holds_alternative<Packet>(reader->next())) continue;
  const auto progress = reader->progress();
  ASSERT_TRUE(progress);
  EXPECT_EQ(progress->of, std::filesystem::file_size(file.path()));
  EXPECT_EQ(progress->octets, progress->of);
}

TEST(CaptureReader, TheStandardInput) {
  const TemporaryFile file(PcapOctets().add(kIp).octets());
  const int before = ::dup(STDIN_FILENO);
  ASSERT_NE(std::freopen(file.path().c_str(), "rb", stdin), nullptr);
  const Read all = read("-");
  EXPECT_THAT(all.packets, SizeIs(1));
  EXPECT_FALSE(all.error);
  ::dup2(before, STDIN_FILENO);
  ::close(before);
}

TEST(CaptureReader, StopEndsIt) {
  const TemporaryFile file(PcapOctets().add(kIp).add(kIp).octets());
  StopSwitch stop;
  auto reader = CaptureReader::open(file.path(), &stop);
  ASSERT_TRUE(reader);
  EXPECT_TRUE(std::holds_alternative<Packet>(reader->next()));
  stop.stop();
  EXPECT_TRUE(std::holds_alternative<CaptureEnd>(reader->next()));
}

// The reader sleeps in the pipe, or is about to: either way it wakes.
TEST(CaptureReader, StopEndsItOnAQuietPipe) {
  const Octets whole = PcapOctets().add(kIp).octets();
  for (const std::size_t cut : {std::size_t{0}, std::size_t{7}}) {  // between two packets, and inside one
    const QuietPipe pipe(Octets(whole.begin(), whole.end() - static_cast<std::ptrdiff_t>(cut)));
    StopSwitch stop;
    auto reader = CaptureReader::open(pipe.path(), &stop);
    ASSERT_TRUE(reader) << reader.error().sentence;
    if (cut == 0) {
      EXPECT_TRUE(std::holds_alternative<Packet>(reader->next()));
    }
    std::thread other([&] { stop.stop(); });
    EXPECT_TRUE(std::holds_alternative<CaptureEnd>(reader->next()));
    other.join();
  }
}

TEST(CaptureReader, StopEndsTheOpeningOfAQuietPipe) {
  const QuietPipe pipe(octets(""));
  StopSwitch stop;
  std::thread other([&] { stop.stop(); });
  const auto reader = CaptureReader::open(pipe.path(), &stop);
  other.join();
  ASSERT_FALSE(reader);
  EXPECT_EQ(reader.error().kind, Kind::kStopped);
}

// Its writer has not come: not even the opening waits where nothing can wake it.
TEST(CaptureReader, StopEndsANamedPipeWithoutAWriter) {
  const TemporaryFile place(octets(""));
  std::filesystem::remove(place.path());
  ASSERT_EQ(::mkfifo(place.path().c_str(), 0600), 0);
  StopSwitch stop;
  std::thread other([&] { stop.stop(); });
  const auto reader = CaptureReader::open(place.path(), &stop);
  other.join();
  ASSERT_FALSE(reader);
  EXPECT_EQ(reader.error().kind, Kind::kStopped);
}

TEST(CaptureReader, AnInterfaceThatIsNotThere) {
  const auto reader = CaptureReader::open_interface("weft-none");
  ASSERT_FALSE(reader);
  EXPECT_TRUE(reader.error().kind == Kind::kNoSuchInterface || reader.error().kind == Kind::kNoPermission);
  EXPECT_THAT(reader.error().sentence, HasSubstr("weft-none"));
}

}  // namespace
}  // namespace weft::conformance::testing
