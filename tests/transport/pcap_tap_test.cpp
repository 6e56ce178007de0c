// SPDX-License-Identifier: Apache-2.0
// The files are judged twice by others: libpcap reads them back, and tshark dissects them with every check switched on.
#include "transport/pcap_tap.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <pcap/pcap.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <sstream>

#include "tests/temporary_directory.hpp"
#include "tests/transport/support.hpp"

namespace weft::transport::test {
namespace {

const Endpoint kLocal4 = Endpoint::parse("192.0.2.1:40000").value();
const Endpoint kRemote4 = Endpoint::parse("192.0.2.2:4420").value();
const Endpoint kLocal6 = Endpoint::parse("[2001:db8::1]:40000").value();
const Endpoint kRemote6 = Endpoint::parse("[2001:db8::2]:4420").value();

// A file of its own for each test.
struct PcapTapTest : testing::Test {
  const weft::test::TemporaryDirectory directory{};
  const std::string path = directory.file("tap.pcap");
};

struct Packet {
  std::vector<std::byte> octets{};
  std::int64_t time{};  // nanoseconds

  // The tests that use these write IPv4 without IP options: TCP begins at 34.
  [[nodiscard]] unsigned octet(std::size_t at) const { return std::to_integer<unsigned>(octets[at]); }
  [[nodiscard]] std::uint32_t sequence() const { return Be<38, std::uint32_t>::get(octets); }
  [[nodiscard]] std::uint16_t source_port() const { return Be<34, std::uint16_t>::get(octets); }
  [[nodiscard]] unsigned flags() const { return octet(47); }
  [[nodiscard]] Bytes payload() const { return Bytes(octets).subspan(34 + (octet(46) >> 4) * 4); }
};

std::vector<Packet> read_back(const std::string& path) {
  char error[PCAP_ERRBUF_SIZE] = {};
  pcap_t* file = pcap_open_offline_with_tstamp_precision(path.c_str(), PCAP_TSTAMP_PRECISION_NANO, error);
  EXPECT_NE(file, nullptr) << error;
  if (file == nullptr) return {};
  EXPECT_EQ(pcap_datalink(file), DLT_EN10MB);
  std::vector<Packet> packets;
  pcap_pkthdr* header = nullptr;
  const u_char* data = nullptr;
  int status = 0;
  while ((status = pcap_next_ex(file, &header, &data)) == 1) {
    EXPECT_EQ(header->caplen, header->len);
    const auto octets = std::as_bytes(std::span(data, header->caplen));
    packets.push_back({{octets.begin(), octets.end()}, header->ts.tv_sec * 1'000'000'000 + header->ts.tv_usec});
  }
  EXPECT_EQ(status, PCAP_ERROR_BREAK) << pcap_geterr(file);
  pcap_close(file);
  return packets;
}

std::vector<std::byte> stream_from(const std::vector<Packet>& packets, std::uint16_t port) {
  std::vector<std::byte> stream;
  for (const Packet& packet : packets) {
    if (packet.source_port() == port) stream.insert(stream.end(), packet.payload().begin(), packet.payload().end());
  }
  return stream;
}

TEST_F(PcapTapTest, ReadsBackAsAConversation) {
  const auto sent = pattern(5000, 1);
  const auto received = pattern(300, 2);
  {
    PcapTap tap = PcapTap::create(path).value();
    PcapStream stream = tap.open(kLocal4, kRemote4, PcapTap::Opener::kLocal, 1448);
    const std::array<Bytes, 3> pieces{Bytes(sent).first(10), Bytes(), Bytes(sent).subspan(10)};
    stream.sent(pieces);
    stream.received(received);
    stream.fin_sent();
    stream.fin_received();
    stream.sent(received);  // after its FIN: nothing
  }
  const auto packets = read_back(path);
  ASSERT_EQ(packets.size(), 3U + 4U + 1U + 4U);
  EXPECT_EQ(packets[0].flags(), 0x02U);
  EXPECT_EQ(packets[1].flags(), 0x12U);
  EXPECT_EQ(packets[2].flags(), 0x10U);
  EXPECT_EQ(packets[0].source_port(), kLocal4.port);
  EXPECT_EQ(packets[3].payload().size(), 1448U);
  EXPECT_EQ(packets[6].payload().size(), 5000U - 3 * 1448);
  EXPECT_EQ(stream_from(packets, kLocal4.port), sent);
  EXPECT_EQ(stream_from(packets, kRemote4.port), received);
}

TEST_F(PcapTapTest, SequenceNumbersFollowTheOctets) {
  {
    PcapTap tap = PcapTap::create(path).value();
    PcapStream stream = tap.open(kLocal4, kRemote4, PcapTap::Opener::kRemote, 100);
    for (int i = 0; i < 20; ++i) stream.sent(pattern(77));
    stream.rst_received();
    stream.sent(pattern(1));
  }
  std::optional<std::uint32_t> expected;
  const auto packets = read_back(path);
  EXPECT_EQ(packets.front().source_port(), kRemote4.port) << "the remote end opened";
  EXPECT_EQ(packets.back().flags() & 0x04U, 0x04U) << "nothing follows the RST";
  for (const Packet& packet : packets) {
    if (packet.source_port() != kLocal4.port) continue;
    EXPECT_EQ(packet.sequence(), expected.value_or(packet.sequence()));
    const std::uint32_t counted = (packet.flags() & 0x03U) != 0 ? 1 : 0;
    expected = packet.sequence() + static_cast<std::uint32_t>(packet.payload().size()) + counted;
  }
}

TEST_F(PcapTapTest, TimesAreNowAndDoNotRunBackwards) {
  const auto now = [] { return std::chrono::system_clock::now().time_since_epoch() / 1ns; };
  const auto before = now();
  {
    PcapTap tap = PcapTap::create(path).value();
    PcapStream stream = tap.open(kLocal4, kRemote4, PcapTap::Opener::kLocal);
    for (int i = 0; i < 10; ++i) stream.sent(pattern(1));
  }
  auto latest = before;
  for (const Packet& packet : read_back(path)) {
    EXPECT_GE(packet.time, latest);
    latest = packet.time;
  }
  EXPECT_LE(latest, now());
}

TEST_F(PcapTapTest, CutsAtTheLimitOfAnIpv4Packet) {
  const auto octets = pattern(PcapTap::kMaxSegment + 1);
  {
    PcapTap tap = PcapTap::create(path).value();
    PcapStream stream = tap.open(kLocal4, kRemote4, PcapTap::Opener::kLocal, 1 << 20);
    stream.received(octets);
  }
  const auto packets = read_back(path);
  ASSERT_EQ(packets.size(), 5U);
  EXPECT_EQ(packets[3].octets.size(), 14U + 65535U);
  EXPECT_EQ(packets[4].payload().size(), 1U);
  EXPECT_EQ(stream_from(packets, kRemote4.port), octets);
}

TEST_F(PcapTapTest, AKilledProgramLeavesAllItsPackets) {
  const pid_t child = fork();
  if (child == 0) {
    PcapTap tap = PcapTap::create(path).value();
    PcapStream stream = tap.open(kLocal4, kRemote4, PcapTap::Opener::kLocal);
    stream.sent(pattern(100));
    stream.received(pattern(100000));
    kill(getpid(), SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(read_back(path).size(), 3U + 1U + 2U);
}

TEST_F(PcapTapTest, NamesTheFileThatItCannotCreate) {
  const auto nowhere = PcapTap::create("/no/such/folder/x.pcap");
  ASSERT_FALSE(nowhere);
  EXPECT_EQ(nowhere.error().sentence, "cannot create /no/such/folder/x.pcap: No such file or directory");
  const auto full = PcapTap::create("/dev/full");
  ASSERT_FALSE(full);
  EXPECT_EQ(full.error().sentence, "cannot write /dev/full: No space left on device");
  EXPECT_EQ(full.error().os_error, ENOSPC);
}

// --- Whose file it is

mode_t mode_of(const std::string& file) {
  struct stat about{};
  EXPECT_EQ(lstat(file.c_str(), &about), 0);
  return about.st_mode & 07777;
}

std::string content_of(const std::string& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

TEST_F(PcapTapTest, IsItsOwnersAlone) {
  const mode_t before = umask(0);
  {
    const auto tap = PcapTap::create(path).value();
  }
  EXPECT_EQ(mode_of(path), 0600U);
  chmod(path.c_str(), 0666);
  {
    const auto again = PcapTap::create(path).value();
  }
  EXPECT_EQ(mode_of(path), 0600U) << "of a file that was there, too";
  umask(before);
}

TEST_F(PcapTapTest, FollowsNoLinkAndLeavesWhatItNamesAlone) {
  const std::string target = path + ".target";
  std::ofstream(target) << "precious";
  ASSERT_EQ(symlink(target.c_str(), path.c_str()), 0);
  const auto tap = PcapTap::create(path);
  ASSERT_FALSE(tap);
  EXPECT_EQ(tap.error().sentence, "cannot create " + path + ": it is a symbolic link");
  std::remove(path.c_str());
  ASSERT_EQ(link(target.c_str(), path.c_str()), 0);
  const auto hard = PcapTap::create(path);
  ASSERT_FALSE(hard);
  EXPECT_EQ(hard.error().sentence, "cannot create " + path + ": the file has a second name");
  EXPECT_EQ(content_of(target), "precious");
  std::remove(target.c_str());
}

TEST_F(PcapTapTest, LeavesAFileOfAnotherUserAlone) {
  std::ofstream(path) << "theirs";
  if (chown(path.c_str(), 65534, 65534) != 0) GTEST_SKIP() << "SKIPPED: only root can make a file another user's";
  const auto tap = PcapTap::create(path);
  ASSERT_FALSE(tap);
  EXPECT_EQ(tap.error().sentence, "cannot create " + path + ": it belongs to another user");
  EXPECT_EQ(content_of(path), "theirs");
}

TEST_F(PcapTapTest, WritesToDevicesPipesAndDescriptors) {
  EXPECT_TRUE(PcapTap::create("/dev/null"));
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  const auto nobody = PcapTap::create(path);
  ASSERT_FALSE(nobody) << "and does not wait";
  EXPECT_EQ(nobody.error().sentence, "cannot create " + path + ": it is a pipe without a reader");
  const int reader = open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  ASSERT_TRUE(PcapTap::create(path));
  std::array<char, 64> octets{};
  EXPECT_EQ(read(reader, octets.data(), octets.size()), 24) << "the header of the file";
  const int given = open(path.c_str(), O_RDWR | O_CLOEXEC);
  EXPECT_TRUE(PcapTap::create("/dev/fd/" + std::to_string(given)));
  EXPECT_EQ(read(reader, octets.data(), octets.size()), 24);
  close(given);
  close(reader);
}

TEST_F(PcapTapTest, StopsAtTheFirstFailureAndTellsItOnce) {
  std::vector<PcapError> told;
  PcapTap tap = PcapTap::create(path, [&](const PcapError& error) { told.push_back(error); }).value();
  PcapStream stream = tap.open(kLocal4, kRemote4, PcapTap::Opener::kLocal);
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit small{.rlim_cur = 1000, .rlim_max = before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  stream.sent(pattern(5000));
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  stream.sent(pattern(1));  // does nothing, and does not crash
  ASSERT_EQ(told.size(), 1U);
  EXPECT_EQ(told[0].sentence, "cannot write " + path + ": File too large");
  EXPECT_EQ(told[0].os_error, EFBIG);
  sigset_t pending;
  sigpending(&pending);
  EXPECT_EQ(sigismember(&pending, SIGXFSZ), 0) << "SIGXFSZ would end the process";
}

TEST_F(PcapTapTest, FailsWhereNotEvenTheHeaderFits) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit small{.rlim_cur = 23, .rlim_max = before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const auto tap = PcapTap::create(path);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  ASSERT_FALSE(tap);
  EXPECT_EQ(tap.error().sentence, "cannot write " + path + ": File too large");
}

TEST_F(PcapTapTest, EmptyStreamWritesNothing) {
  PcapStream stream;
  stream.sent(pattern(1));
  stream.received(pattern(1));
  stream.fin_sent();
  stream.rst_received();
}

// --- Datagrams

TEST_F(PcapTapTest, RecordsDatagramsOfBothDirections) {
  const auto octets = pattern(2000);
  {
    PcapTap tap = PcapTap::create(path).value();
    PcapDatagrams datagrams = tap.open_datagrams(kLocal4);
    EXPECT_TRUE(datagrams);
    datagrams.sent(kRemote4, octets);
    datagrams.received(kRemote4, Bytes(octets).first(1));
    datagrams.sent(kRemote6, octets);  // the socket cannot have sent it
  }
  const auto packets = read_back(path);
  ASSERT_EQ(packets.size(), 2U);
  constexpr std::size_t kUdpAt = 34, kPayloadAt = 42;
  EXPECT_EQ(packets[0].octet(23), 17U);
  EXPECT_EQ(packets[0].source_port(), 40000);
  EXPECT_EQ((Be<kUdpAt + 2, std::uint16_t>::get(packets[0].octets)), 4420);
  EXPECT_TRUE(std::ranges::equal(Bytes(packets[0].octets).subspan(kPayloadAt), octets));
  EXPECT_EQ(packets[1].source_port(), 4420);
  EXPECT_EQ(packets[1].octets.size(), kPayloadAt + 1);
}

TEST_F(PcapTapTest, DatagramsThatCannotBeWrittenAreToldOnce) {
  std::vector<PcapError> told;
  PcapTap tap = PcapTap::create(path, [&](const PcapError& error) { told.push_back(error); }).value();
  PcapDatagrams datagrams = tap.open_datagrams(kLocal4);
  datagrams.sent(kRemote4, pattern(100));
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit small{.rlim_cur = 1000, .rlim_max = before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  datagrams.sent(kRemote4, pattern(4000));
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  datagrams.received(kRemote4, pattern(1));
  ASSERT_EQ(told.size(), 1U);
  EXPECT_EQ(told[0].sentence, "cannot write " + path + ": File too large");
  EXPECT_EQ(read_back(path).size(), 1U) << "the file ends after the last complete packet";
}

TEST_F(PcapTapTest, EmptyCaptureOfDatagramsWritesNothing) {
  PcapDatagrams datagrams;
  EXPECT_FALSE(datagrams);
  datagrams.sent(kRemote4, pattern(1));
  datagrams.received(kRemote4, pattern(1));
}

// --- tshark

bool has_tshark() { return std::system("command -v tshark >/dev/null 2>&1") == 0; }

std::vector<std::string> lines_of(const std::string& command) {
  std::FILE* pipe = popen(command.c_str(), "re");
  std::string text;
  for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) text += static_cast<char>(c);
  EXPECT_EQ(pclose(pipe), 0) << command;
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

// Every packet whole, every checksum verified as good, and no remark of the sequence analysis (gap, retransmission,
// full window ...). Returns how many packets there were.
std::size_t expect_clean(const std::string& path) {
  const auto lines =
      lines_of("tshark -n -r '" + path +
               "' -o tcp.check_checksum:TRUE -o ip.check_checksum:TRUE -T fields -E separator=, -E occurrence=f"
               " -e ip.version -e ipv6.version -e ip.checksum.status -e tcp.checksum.status -e _ws.malformed"
               " -e tcp.analysis.flags 2>/dev/null");
  for (const std::string& line : lines) {
    const bool clean = line == "4,,1,1,," || line == "6,6,,1,,";  // 1 is "Good"
    EXPECT_TRUE(clean) << line;
  }
  return lines.size();
}

void converse(PcapTap& tap, const Endpoint& local, const Endpoint& remote, std::size_t mss, bool reset) {
  PcapStream stream = tap.open(local, remote, PcapTap::Opener::kLocal, mss);
  for (std::size_t size : {1U, 2U, 3U, 100U, 1447U, 1448U, 1449U, 20000U}) {
    stream.sent(pattern(size));
    stream.received(pattern(size + 1));
  }
  if (reset) return stream.rst_sent();
  stream.fin_received();
  stream.sent(pattern(10));  // half closed
  stream.fin_sent();
}

#define NEEDS_TSHARK() \
  if (!has_tshark()) GTEST_SKIP() << "SKIPPED: tshark is not installed, so nobody but us has judged these files"

TEST_F(PcapTapTest, TsharkFindsNothingWrong) {
  NEEDS_TSHARK();
  {
    PcapTap tap = PcapTap::create(path).value();
    converse(tap, kLocal4, kRemote4, 1448, false);
    converse(tap, {kLocal4.address, 40001}, kRemote4, 0, true);
    converse(tap, kLocal6, kRemote6, 1428, false);
    converse(tap, {kLocal6.address, 40001}, kRemote6, 0, true);
  }
  EXPECT_GT(expect_clean(path), 100U);
}

// 1 is "Good".
TEST_F(PcapTapTest, TsharkFindsNoWrongDatagram) {
  NEEDS_TSHARK();
  {
    PcapTap tap = PcapTap::create(path).value();
    for (const auto& [local, remote] : {std::pair(kLocal4, kRemote4), std::pair(kLocal6, kRemote6)}) {
      PcapDatagrams datagrams = tap.open_datagrams(local);
      for (const std::size_t size : {0U, 1U, 20U, 4115U, 4116U}) datagrams.sent(remote, pattern(size));
      datagrams.received(remote, pattern(PcapDatagrams::kMaxPayload));
    }
  }
  const auto lines = lines_of("tshark -n -r '" + path +
                              "' -o udp.check_checksum:TRUE -o ip.check_checksum:TRUE -T fields -E separator=,"
                              " -e ip.checksum.status -e udp.checksum.status -e _ws.malformed 2>/dev/null");
  ASSERT_EQ(lines.size(), 12U);
  for (std::size_t i = 0; i < lines.size(); ++i) EXPECT_EQ(lines[i], i < 6 ? "1,1," : ",1,") << i;
}

TEST_F(PcapTapTest, TsharkSeesNoFullWindowInAOneWayTransfer) {
  NEEDS_TSHARK();
  {
    PcapTap tap = PcapTap::create(path).value();
    PcapStream stream = tap.open(kLocal4, kRemote4, PcapTap::Opener::kLocal);
    const auto octets = pattern(1 << 20);
    for (int i = 0; i < 20; ++i) stream.sent(octets);
  }
  EXPECT_GT(expect_clean(path), 320U);
}

TEST_F(PcapTapTest, ThreadsShareOneFile) {
  NEEDS_TSHARK();
  {
    PcapTap tap = PcapTap::create(path).value();
    std::vector<std::thread> threads;
    for (std::uint16_t i = 0; i < 4; ++i) {
      threads.emplace_back([&tap, i] {
        PcapStream stream =
            tap.open({kLocal4.address, static_cast<std::uint16_t>(50000 + i)}, kRemote4, PcapTap::Opener::kLocal);
        std::thread receiver([&stream] {
          for (int n = 0; n < 50; ++n) stream.received(pattern(99));
        });
        for (int n = 0; n < 50; ++n) stream.sent(pattern(101));
        receiver.join();
        stream.fin_sent();
        stream.fin_received();
      });
    }
    for (auto& thread : threads) thread.join();
  }
  EXPECT_EQ(expect_clean(path), 4U * (3 + 100 + 4));
}

// The judge is judged: one flipped bit in the file and it must complain.
TEST_F(PcapTapTest, TsharkWouldHaveNoticed) {
  NEEDS_TSHARK();
  {
    PcapTap tap = PcapTap::create(path).value();
    PcapStream stream = tap.open(kLocal4, kRemote4, PcapTap::Opener::kLocal);
    stream.sent(pattern(100));
  }
  std::FILE* file = std::fopen(path.c_str(), "r+b");
  ASSERT_EQ(std::fseek(file, -1, SEEK_END), 0);
  const int last = std::fgetc(file);
  ASSERT_EQ(std::fseek(file, -1, SEEK_END), 0);
  std::fputc(last ^ 1, file);
  std::fclose(file);
  const auto bad =
      lines_of("tshark -n -r '" + path + "' -o tcp.check_checksum:TRUE -Y 'tcp.checksum.status == 0'" + " 2>/dev/null");
  EXPECT_EQ(bad.size(), 1U);
}

}  // namespace
}  // namespace weft::transport::test
