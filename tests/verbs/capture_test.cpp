// SPDX-License-Identifier: Apache-2.0
// What is written with --pcap; the contents of such files are judged by tests/captures and tshark.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "loopback.hpp"
#include "tests/raw_tcp.hpp"
#include "tests/temporary_directory.hpp"

namespace weft::verbs::test {
namespace {

std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// The packets with FIN, of a capture with Ethernet and IPv4.
std::size_t count_fins(std::string_view capture) {
  constexpr std::size_t kFile = 24, kRecord = 16, kFlags = 14 + 20 + 13;
  std::size_t fins = 0;
  for (std::size_t at = kFile; at + kRecord + kFlags < capture.size();) {
    fins += static_cast<std::size_t>(capture[at + kRecord + kFlags] & 1);
    std::uint32_t size{};
    std::memcpy(&size, &capture[at + 8], sizeof size);
    at += kRecord + size;
  }
  return fins;
}

TEST(Capture, RecordsAConnection) {
  const weft::test::TemporaryDirectory directory;
  const std::string path = directory.file("capture.pcap");
  must(set_capture_file(path), "set_capture_file");
  {
    Pair pair;
    must(pair.server.qp->post_receive({.wr_id = 1}), "post_receive");
    must(pair.client.qp->post_send({.opcode = SendOpcode::kSend}), "send");
    EXPECT_EQ(pair.server.next().status, WcStatus::kSuccess);
    pair.disconnect();
  }
  wait_until([&] { return count_fins(contents(path)) == 4; },
             "both ends of both directions, as each of them sees them");
  must(set_capture_file(""), "stop");
  EXPECT_GT(contents(path).size(), 24 + 8 * 60);
  const Error nowhere = set_capture_file("/no/such/folder/x.pcap").error();
  EXPECT_EQ(nowhere.argument, "path");
  EXPECT_EQ(nowhere.message(), "path: cannot write a capture file there (system error; No such file or directory)");
}

// What came is in the capture, also where the engine has no use for it: a Request that is refused (of revision 9), and
// the front of a Request that ends by FIN.
TEST(Capture, RecordsWhatIsNoWholeFrame) {
  using namespace std::string_view_literals;
  const weft::test::TemporaryDirectory directory;
  const std::string path = directory.file("rest.pcap");
  for (const auto octets : {"MPA ID Req Frame\x40\x09\x00\x00"sv, "MPA ID Req Frame\x40"sv}) {
    must(set_capture_file(path), "set_capture_file");
    auto events = must(EventChannel::create(), "EventChannel");
    auto listener = must(ConnectionId::create(events), "ConnectionId");
    must(listener.bind_address(loopback("127.0.0.1")), "bind_address");
    must(listener.listen(), "listen");
    {
      weft::test::RawSocket peer(listener.local_address(), octets);
      peer.shutdown_write();
      EXPECT_TRUE(peer.read_to_end().empty());  // the server has closed, and written before that
    }
    must(set_capture_file(""), "stop");
    EXPECT_NE(contents(path).find(octets), std::string::npos) << octets.size();
  }
}

// From now on every write to this open file finds its disk full.
void fill_disk_under(const std::string& path) {
  const int full = ::open("/dev/full", O_WRONLY | O_CLOEXEC);
  ASSERT_GE(full, 0);
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    if (std::filesystem::read_symlink(entry, gone) == path) ::dup2(full, std::stoi(entry.path().filename()));
  }
  ::close(full);
}

// The connection goes on without its capture. No other test of this program makes one fail.
TEST(Capture, ThatFailsMidwayIsToldOnce) {
  const weft::test::TemporaryDirectory directory;
  const std::string path = directory.file("full.pcap");
  must(set_capture_file(path), "set_capture_file");
  testing::internal::CaptureStderr();
  {
    Pair pair;
    fill_disk_under(path);
    for (int i = 0; i < 3; ++i) {
      must(pair.server.qp->post_receive({.wr_id = 1}), "post_receive");
      must(pair.client.qp->post_send({.opcode = SendOpcode::kSend}), "send");
      EXPECT_EQ(pair.server.next().status, WcStatus::kSuccess);
    }
    pair.disconnect();
  }
  EXPECT_EQ(capture_failure(), "cannot write " + path + ": No space left on device");
  EXPECT_TRUE(flush_log(kPatience));
  const std::string log = testing::internal::GetCapturedStderr();
  must(set_capture_file(""), "stop");
  const std::string told = "cannot write " + path + ": No space left on device";
  const auto first = log.find("warning: capture: " + told);
  EXPECT_NE(first, std::string::npos) << log;
  EXPECT_EQ(log.find(told, first + told.size()), std::string::npos) << log;
}

}  // namespace
}  // namespace weft::verbs::test
