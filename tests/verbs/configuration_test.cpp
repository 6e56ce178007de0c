// SPDX-License-Identifier: Apache-2.0
// The file of settings: what it says, and what is told of lines that say nothing.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <string>
#include <utility>

#include "tests/temporary_directory.hpp"
#include "verbs/configuration.hpp"

namespace weft::verbs::test {
namespace {

TEST(ConfigurationText, SetsLogCaptureAndPolicy) {
  const auto read = parse_configuration(
      "# settings\n\n  log = debug  # all of it\r\npcap=/tmp/a#b-%p.pcap\nmpa-rev = 1\ncrc=off, markers=on", "f");
  EXPECT_TRUE(read.complaints.empty()) << read.complaints.front();
  EXPECT_EQ(read.log, LogLevel::kDebug);
  EXPECT_EQ(read.pcap, "/tmp/a#b-%p.pcap");
  EXPECT_EQ(read.policy.startup.mpa_revision, 1);
  EXPECT_FALSE(read.policy.startup.crc);
  EXPECT_TRUE(read.policy.startup.markers);
}

TEST(ConfigurationText, SetsPortsAndDevice) {
  const auto read =
      parse_configuration("ports = 20000-20255\nconfirm-writes = on\ndevice = roce\ndevice.nobody = iwarp", "f");
  EXPECT_TRUE(read.complaints.empty()) << read.complaints.front();
  EXPECT_EQ(read.ports.first, 20000);
  EXPECT_TRUE(read.confirm_writes);
  EXPECT_EQ(read.ports.last, 20255);
  EXPECT_EQ(read.device, DeviceKind::kRoce) << "the other program's is not this one's";
  const std::string own = std::string("device.") + program_invocation_short_name + " = roce";
  EXPECT_EQ(parse_configuration(own, "f").device, DeviceKind::kRoce);
  for (const char* wrong : {"confirm-writes = 1", "ports = 80", "ports = 3000-2000", "ports = 1024-65536",
                            "ports =", "ports = 2000-", "device = ib", "device.x = ib"}) {
    EXPECT_EQ(parse_configuration(wrong, "f").complaints.size(), 1U) << wrong;
  }
}

// After a blank, and not before one.
TEST(ConfigurationText, ACommentStandsBehindABlank) {
  EXPECT_EQ(parse_configuration("pcap=/tmp/a# b", "f").pcap, "/tmp/a# b");
  EXPECT_EQ(parse_configuration("pcap=/tmp/a #b", "f").pcap, "/tmp/a");
}

TEST(ConfigurationText, NothingLeavesEverythingAsItIs) {
  const auto read = parse_configuration("", "f");
  EXPECT_TRUE(read.complaints.empty());
  EXPECT_FALSE(read.log);
  EXPECT_EQ(read.progress_threads, 0U);
  EXPECT_FALSE(read.crc32c);
  EXPECT_EQ(read.pcap, "");
  EXPECT_EQ(read.policy.startup.mpa_revision, 2);
}

TEST(ConfigurationText, ProgressThreadsAreANumber) {
  for (const std::size_t count : {1U, 3U, 64U}) {
    const auto read = parse_configuration("progress-threads = " + std::to_string(count), "f");
    EXPECT_EQ(read.progress_threads, count);
    EXPECT_TRUE(read.complaints.empty());
  }
  for (const char* wrong : {"", "65", "-1", "3 4", "many"}) {
    const auto read = parse_configuration(std::string("progress-threads = ") + wrong, "f");
    EXPECT_EQ(read.progress_threads, 0U) << wrong;
    ASSERT_EQ(read.complaints.size(), 1U) << wrong;
    EXPECT_EQ(read.complaints[0], "f:1: progress-threads takes a number from 1 to 64, or 0 to let weft choose");
  }
}

TEST(ConfigurationText, ExposedMemoryIsANumberOfOctets) {
  const struct {
    const char* text;
    std::uint64_t octets;
  } table[] = {{"0", 0},         {"1500", 1500},     {"64K", 65536},
               {"3M", 3U << 20}, {"4G", 4ULL << 30}, {"17179869183G", ~0ULL << 30}};
  for (const auto& row : table) {
    const auto read = parse_configuration(std::string("exposed-memory = ") + row.text, "f");
    EXPECT_EQ(read.exposed_memory, row.octets) << row.text;
    EXPECT_TRUE(read.complaints.empty()) << row.text;
  }
  for (const char* wrong : {"", "G", "-1", "4T", "4 G", "1.5G", "17179869184G", "18446744073709551616"}) {
    const auto read = parse_configuration(std::string("exposed-memory = ") + wrong, "f");
    EXPECT_EQ(read.exposed_memory, 0U) << wrong;
    ASSERT_EQ(read.complaints.size(), 1U) << wrong;
    EXPECT_EQ(read.complaints[0], "f:1: exposed-memory takes a number of octets such as 4G, or 0 for no limit");
  }
}

TEST(ConfigurationText, Crc32cIsTheNameOfARoutine) {
  EXPECT_EQ(parse_configuration("crc32c = portable", "f").crc32c, Crc32cRoutine::kPortable);
  EXPECT_EQ(parse_configuration("crc32c = isa-l", "f").crc32c, Crc32cRoutine::kIsaL);
  const auto read = parse_configuration("crc32c = fast", "f");
  EXPECT_FALSE(read.crc32c);
  ASSERT_EQ(read.complaints.size(), 1U);
  EXPECT_EQ(read.complaints[0], "f:1: crc32c takes one of isa-l, portable");
}

TEST(ConfigurationText, LinesThatCannotBeAreNamedAndLeftOut) {
  const auto read =
      parse_configuration("log=loud\ncrc=perhaps\nmarkers=on\npcap=\nlog\npeer-to-peer=on\nmpa-rev=1\n", "f");
  ASSERT_EQ(read.complaints.size(), 5U);
  EXPECT_EQ(read.complaints[0], "f:1: log takes one of debug, info, warn, error, off");
  EXPECT_EQ(read.complaints[1], "f:2: crc=perhaps: 'crc' takes on or off");
  EXPECT_EQ(read.complaints[2].find("f:4: pcap"), 0U);
  EXPECT_EQ(read.complaints[3].find("f:5: log"), 0U);
  EXPECT_EQ(read.complaints[4].find("f:7: peer-to-peer"), 0U);
  EXPECT_FALSE(read.log);
  EXPECT_TRUE(read.policy.startup.markers);
  EXPECT_TRUE(read.policy.startup.peer_to_peer);
  EXPECT_EQ(read.policy.startup.mpa_revision, 2);
}

TEST(ConfigurationFile, IsReadAndMissingOnesAreComplainedAbout) {
  const weft::test::TemporaryDirectory directory;
  const std::string path = directory.file("weft.conf");
  std::ofstream(path) << "crc = off\nnonsense = 1\n";
  const auto read = read_configuration(path);
  EXPECT_FALSE(read.policy.startup.crc);
  ASSERT_EQ(read.complaints.size(), 1U);
  EXPECT_EQ(read.complaints[0].find(path + ":2: unknown key 'nonsense'"), 0U) << read.complaints[0];
  std::ofstream(path) << std::string(70000, '#');
  EXPECT_EQ(read_configuration(path).complaints.size(), 1U) << "too long";
}

// None of them is waited for, and none of them ends the program.
TEST(ConfigurationFile, ThatCannotBeReadIsNamedWithTheReason) {
  const weft::test::TemporaryDirectory directory;
  const std::string pipe = directory.file("pipe");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const std::pair<std::string, std::string> rows[] = {
      {"/no/such/file", "No such file or directory"},
      {"/tmp", "not a regular file"},
      {"/dev/zero", "not a regular file"},
      {pipe, "not a regular file"},
      {"/proc/self/mem", "Input/output error"},  // it opens, and its first octet cannot be read
  };
  for (const auto& [path, why] : rows) {
    const auto read = read_configuration(path, {.startup = {.crc = false}});
    ASSERT_EQ(read.complaints.size(), 1U) << path;
    EXPECT_EQ(read.complaints[0], path + ": " + why);
    EXPECT_FALSE(read.policy.startup.crc) << "what held without it";
  }
}

TEST(ConfigurationFile, HasAtMost64KiB) {
  const weft::test::TemporaryDirectory directory;
  const std::string path = directory.file("weft.conf");
  const std::string first = "crc = off\n#";
  for (const std::size_t size : {65536U, 65537U}) {
    std::ofstream(path) << first << std::string(size - first.size(), '#');
    const auto read = read_configuration(path);
    EXPECT_EQ(read.policy.startup.crc, size > 65536) << size;
    EXPECT_EQ(read.complaints.size(), size > 65536 ? 1U : 0U) << size;
  }
}

TEST(CapturePath, NamesTheProcess) {
  EXPECT_EQ(capture_path("/tmp/x.pcap", 7), "/tmp/x.pcap");
  EXPECT_EQ(capture_path("/tmp/x-%p.pcap", 4711), "/tmp/x-4711.pcap");
  EXPECT_EQ(capture_path("%p%p%", 1), "11%");
}

}  // namespace
}  // namespace weft::verbs::test
