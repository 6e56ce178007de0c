// SPDX-License-Identifier: Apache-2.0
// The ring of files of weft audit -i: when a file begins, and which are kept. Packets have times of their own.
#include "tools/audit/capture_files.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "conformance/capture_reader.hpp"
#include "tests/temporary_directory.hpp"

namespace weft::tools::audit {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class Ring : public testing::Test {
 protected:
  // Packets of 1000 octets, a second apart from 2026-11-27T00:00:00Z on.
  static void write(CaptureFiles& files, unsigned count) {
    const std::vector<std::byte> octets(1000);
    for (unsigned i = 0; i < count; ++i) {
      files.take({.number = i + 1,
                  .time = (1'795'737'600 + std::int64_t{i}) * 1'000'000'000 + 7,
                  .link = conformance::LinkType::kEthernet,
                  .captured = octets,
                  .original_size = 1500});
    }
  }
  [[nodiscard]] std::string file(const std::string& name) const { return (folder_ / name).string(); }
  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) all.push_back(entry.path().filename());
    std::ranges::sort(all);
    return all;
  }
  [[nodiscard]] std::size_t packets(const std::string& name) const {
    auto reader = conformance::CaptureReader::open(file(name));
    if (!reader) return 0;
    std::size_t count = 0;
    EXPECT_FALSE(conformance::read_packets(*reader, [&](const conformance::Packet& packet) {
      ++count;
      EXPECT_EQ(packet.captured.size(), 1000U);
      EXPECT_EQ(packet.original_size, 1500U);
      EXPECT_EQ(packet.time % 1'000'000'000, 7);
    }));
    return count;
  }

  const test::TemporaryDirectory directory_{};
  const std::filesystem::path folder_ = directory_.path();
};

TEST_F(Ring, WithoutLimitsIsOneFile) {
  CaptureFiles files(file("t.pcap"), {});
  write(files, 10);
  EXPECT_TRUE(files.finish());
  EXPECT_THAT(names(), ElementsAre("t.pcap"));
  EXPECT_EQ(packets("t.pcap"), 10U);
  struct stat about{};
  ASSERT_EQ(::stat(file("t.pcap").c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 0777U, 0600U);
}

TEST_F(Ring, BeginsAFileBySizeAndKeepsTheLatest) {
  CaptureFiles files(file("t.pcap"), {.octets = 3100, .files = 2});
  write(files, 8);  // 24 + 3 * 1016 octets in a file
  EXPECT_TRUE(files.finish());
  EXPECT_THAT(names(), ElementsAre("t_00002_20261127000003.pcap", "t_00003_20261127000006.pcap"));
  EXPECT_EQ(packets("t_00002_20261127000003.pcap"), 3U);
  EXPECT_EQ(packets("t_00003_20261127000006.pcap"), 2U);
}

TEST_F(Ring, BeginsAFileByTheTimesOfPackets) {
  CaptureFiles files(file("t"), {.seconds = 4});
  write(files, 9);
  EXPECT_TRUE(files.finish());
  EXPECT_THAT(names(), ElementsAre("t_00001_20261127000000", "t_00002_20261127000004", "t_00003_20261127000008"));
}

TEST_F(Ring, APacketLargerThanAFileHasOneOfItsOwn) {
  CaptureFiles files(file("t.pcap"), {.octets = 100});
  write(files, 3);
  EXPECT_TRUE(files.finish());
  EXPECT_EQ(names().size(), 3U);
}

TEST_F(Ring, ReportsWhatCannotBeWritten) {
  CaptureFiles nowhere(file("no/such/t.pcap"), {});
  write(nowhere, 2);
  const auto failed = nowhere.finish();
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, ExitCode::kUnwritten);
  EXPECT_THAT(failed.error().sentence, HasSubstr("no/such/t.pcap: No such file or directory"));
  CaptureFiles full("/dev/full", {});
  write(full, 100);
  ASSERT_FALSE(full.finish());
  EXPECT_THAT(full.finish().error().sentence, HasSubstr("No space left on device"));
  std::filesystem::create_symlink("elsewhere", file("link"));
  CaptureFiles link(file("link"), {});
  write(link, 1);
  EXPECT_FALSE(link.finish());
  EXPECT_FALSE(std::filesystem::exists(file("elsewhere")));
}

TEST_F(Ring, WithoutAPathWritesNothing) {
  CaptureFiles files("", {});
  write(files, 2);
  EXPECT_TRUE(files.finish());
  EXPECT_TRUE(names().empty());
}

TEST(RingLimits, AreThoseOfTshark) {
  const auto limits = RingLimits::parse({"filesize:10", "files:5", "duration:60"});
  ASSERT_TRUE(limits);
  EXPECT_EQ(limits->octets, 10000U);
  EXPECT_EQ(limits->files, 5U);
  EXPECT_EQ(limits->seconds, 60U);
  EXPECT_TRUE(RingLimits::parse({})->one_file());
  for (const std::string wrong : {"filesize", "filesize:", "filesize:0", "filesize:1k", "files:-1", "packets:5", "",
                                  "duration:99999999999999999999"})
    EXPECT_FALSE(RingLimits::parse({wrong})) << wrong;
  EXPECT_THAT(RingLimits::parse({"files:5"}).error().sentence, HasSubstr("needs filesize:KB or duration:SECONDS"));
}

}  // namespace
}  // namespace weft::tools::audit
