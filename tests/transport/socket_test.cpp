// SPDX-License-Identifier: Apache-2.0
#include "transport/socket.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <sys/socket.h>

#include <array>
#include <thread>

#include "tests/transport/support.hpp"

namespace weft::transport::test {
namespace {

using Status = IoResult::Status;

int option(const Socket& socket, int level, int name) {
  int value = -1;
  socklen_t length = sizeof value;
  EXPECT_EQ(getsockopt(socket.descriptor(), level, name, &value, &length), 0);
  return value;
}

TEST(Socket, MovesPiecesAsOneRun) {
  auto [a, b] = connected_pair();
  const auto octets = pattern(10);
  const std::array<Bytes, 3> pieces{Bytes(octets).first(3), Bytes(), Bytes(octets).subspan(3)};
  EXPECT_EQ(a.write(pieces).octets, 10U);
  std::vector<std::byte> got(100);
  const auto result = read_patiently(b, got);
  EXPECT_EQ(result.status, Status::kMoved);
  got.resize(result.octets);
  EXPECT_EQ(got, octets);
  EXPECT_EQ(a.write(std::span(pieces).last(2)).octets, 7U);
}

TEST(Socket, NeverWaits) {
  auto [a, b] = connected_pair();
  std::array<std::byte, 8> into{};
  EXPECT_EQ(b.read(into).status, Status::kWouldBlock);
  EXPECT_EQ(b.read({}).status, Status::kMoved) << "an empty buffer is not the end of the stream";
  EXPECT_EQ(a.write({}).status, Status::kMoved);
  const auto nothing = write_one(a, {});
  EXPECT_EQ(nothing.status, Status::kMoved) << nothing.error.message();
  EXPECT_EQ(nothing.octets, 0U);
}

// Writes until the kernel takes no more, then reads everything: partial writes lose and repeat nothing.
TEST(Socket, PartialWritesContinueWhereTheyStopped) {
  auto [a, b] = connected_pair();
  ASSERT_FALSE(a.set({.send_buffer = 16384}));
  const auto octets = pattern(4 << 20);
  std::vector<std::byte> got(octets.size());
  std::size_t written = 0;
  std::size_t read = 0;
  int partial = 0;
  while (read < octets.size()) {
    const auto out = written < octets.size() ? write_one(a, Bytes(octets).subspan(written)) : IoResult{};
    if (out.status == Status::kMoved && out.octets < octets.size() - written) ++partial;
    written += out.octets;
    const auto in = b.read(MutableBytes(got).subspan(read));
    ASSERT_NE(in.status, Status::kLost);
    ASSERT_NE(in.status, Status::kEndOfStream);
    read += in.octets;
  }
  EXPECT_GT(partial, 0);
  EXPECT_EQ(got, octets);
}

TEST(Socket, FullBufferWouldBlock) {
  auto [a, b] = connected_pair();
  const auto octets = pattern(1 << 20);
  IoResult result;
  for (int i = 0; i < 1000 && result.status == Status::kMoved; ++i) result = write_one(a, octets);
  EXPECT_EQ(result.status, Status::kWouldBlock);
}

TEST(Socket, LeavesPiecesBeyondItsBoundForTheNextWrite) {
  auto [a, b] = connected_pair();
  const auto octets = pattern(300);
  std::vector<Bytes> pieces;
  for (std::size_t i = 0; i < octets.size(); ++i) pieces.push_back(Bytes(octets).subspan(i, 1));
  EXPECT_EQ(a.write(pieces).octets, Socket::kMaxPieces);
}

TEST(Socket, FinIsNotReset) {
  auto [a, b] = connected_pair();
  std::array<std::byte, 8> into{};
  a.shutdown_write();
  EXPECT_EQ(read_patiently(b, into).status, Status::kEndOfStream);
  EXPECT_EQ(write_one(b, pattern(5)).octets, 5U) << "the other direction goes on";
  EXPECT_EQ(read_patiently(a, into).octets, 5U);
  b.close();
  EXPECT_FALSE(b.is_open());
  EXPECT_EQ(read_patiently(a, into).status, Status::kEndOfStream);
}

TEST(Socket, ResetIsNotFin) {
  auto [a, b] = connected_pair();
  std::array<std::byte, 8> into{};
  a.reset();
  EXPECT_FALSE(a.is_open());
  const auto result = read_patiently(b, into);
  EXPECT_EQ(result.status, Status::kLost);
  EXPECT_EQ(result.error, std::errc::connection_reset);
}

TEST(Socket, WritingToALostConnectionRaisesNoSignal) {
  auto [a, b] = connected_pair();
  ASSERT_NE(signal(SIGPIPE, SIG_DFL), SIG_ERR);  // would end the test program
  a.reset();
  std::array<std::byte, 8> into{};
  read_patiently(b, into);
  const auto result = write_one(b, pattern(5));
  EXPECT_EQ(result.status, Status::kLost);
  EXPECT_EQ(result.error, std::errc::broken_pipe);
}

TEST(Socket, TellsThePendingErrorOnce) {
  auto [a, b] = connected_pair();
  EXPECT_FALSE(b.pending_error());
  a.reset();
  ASSERT_TRUE(becomes_readable(b.descriptor()));
  EXPECT_EQ(b.pending_error(), std::errc::connection_reset);
  EXPECT_FALSE(b.pending_error());
}

// MPA-A.2-01
TEST(Socket, AdoptsWithoutDelayAndWithoutInheritance) {
  auto [a, b] = connected_pair();
  EXPECT_EQ(option(a, IPPROTO_TCP, TCP_NODELAY), 1);
  EXPECT_NE(fcntl(a.descriptor(), F_GETFL) & O_NONBLOCK, 0);
  EXPECT_NE(fcntl(a.descriptor(), F_GETFD) & FD_CLOEXEC, 0);
}

TEST(Socket, AdoptsNothingButTcp) {
  const int udp = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  EXPECT_FALSE(Socket::adopt(udp));
  EXPECT_EQ(fcntl(udp, F_GETFD), -1) << "closed on failure";
  EXPECT_EQ(Socket::adopt(-1).error(), std::errc::bad_file_descriptor);
}

TEST(Socket, SetsOptions) {
  auto [a, b] = connected_pair();
  const KeepAlive keepalive{.idle = 33s, .interval = 7s, .probes = 4};
  ASSERT_FALSE(a.set({.keepalive = keepalive,
                      .user_timeout = 12345ms,
                      .send_buffer = 100000,
                      .receive_buffer = 90000,
                      .type_of_service = 0xB8,
                      .congestion_control = "reno"}));
  EXPECT_EQ(option(a, SOL_SOCKET, SO_KEEPALIVE), 1);
  EXPECT_EQ(option(a, IPPROTO_TCP, TCP_KEEPIDLE), 33);
  EXPECT_EQ(option(a, IPPROTO_TCP, TCP_KEEPINTVL), 7);
  EXPECT_EQ(option(a, IPPROTO_TCP, TCP_KEEPCNT), 4);
  EXPECT_EQ(option(a, IPPROTO_TCP, TCP_USER_TIMEOUT), 12345);
  EXPECT_EQ(option(a, SOL_SOCKET, SO_SNDBUF), 200000) << "Linux doubles what it is asked for (socket(7))";
  EXPECT_EQ(option(a, SOL_SOCKET, SO_RCVBUF), 180000);
  EXPECT_EQ(option(a, IPPROTO_IP, IP_TOS), 0xB8);
  EXPECT_EQ(congestion_control_of(a.descriptor()), "reno");
  EXPECT_EQ(a.set({.keepalive = KeepAlive{.idle = 0s}}), std::errc::invalid_argument);
}

TEST(Socket, KnowsTheSystemsCongestionControls) {
  EXPECT_FALSE(check_congestion_control("reno"));
  EXPECT_EQ(check_congestion_control("no_such_one"), std::errc::no_such_file_or_directory);
  EXPECT_EQ(check_congestion_control("reno_and_much_more"), std::errc::no_such_file_or_directory);
}

TEST(Socket, KnowsItsEnds) {
  auto [a, b] = connected_pair();
  EXPECT_EQ(a.local(), b.peer());
  EXPECT_EQ(a.peer(), b.local());
  EXPECT_NE(a.local(), a.peer());
  EXPECT_TRUE(a.local()->address.is_loopback());
  EXPECT_FALSE(Socket().local());
}

// MPA-2-01, MPA-5.1-02, MPA-A.1-02
TEST(Socket, EmssIsWhatTcpInfoSays) {
  auto [a, b] = connected_pair();
  tcp_info info{};
  socklen_t length = sizeof info;
  ASSERT_EQ(getsockopt(a.descriptor(), IPPROTO_TCP, TCP_INFO, &info, &length), 0);
  EXPECT_EQ(a.emss(), info.tcpi_snd_mss);
  EXPECT_GT(a.emss(), 500U);
  EXPECT_EQ(Socket().emss(), 0U);
}

TEST(Socket, MovesItsDescriptor) {
  auto [a, b] = connected_pair();
  const int descriptor = a.descriptor();
  Socket c = std::move(a);
  EXPECT_EQ(c.descriptor(), descriptor);
  b = std::move(c);  // closes what b had
  EXPECT_EQ(b.descriptor(), descriptor);
  std::array<std::byte, 8> into{};
  EXPECT_EQ(read_patiently(b, into).status, Status::kEndOfStream);
}

// The second place gets what the first has no room for.
TEST(Socket, ReadsToTwoPlaces) {
  auto [a, b] = connected_pair();
  std::vector<std::byte> first(4), second(10);
  EXPECT_EQ(b.read(first, second).status, Status::kWouldBlock);
  const auto octets = pattern(9);
  ASSERT_EQ(write_one(a, Bytes(octets).first(3)).octets, 3U);
  for (std::size_t read = 0; read < 3;) {
    const auto result = b.read(MutableBytes(first).subspan(read), second);
    if (result.status == Status::kMoved) read += result.octets;
  }
  EXPECT_EQ(Bytes(first).first(3)[2], octets[2]);
  EXPECT_EQ(second, std::vector<std::byte>(10)) << "there was no need of it";
  ASSERT_EQ(write_one(a, octets).octets, 9U);
  IoResult result;
  while ((result = b.read(first, second)).status == Status::kWouldBlock) {
  }
  ASSERT_EQ(result.octets, 9U);
  EXPECT_TRUE(std::ranges::equal(first, Bytes(octets).first(4)));
  EXPECT_TRUE(std::ranges::equal(Bytes(second).first(5), Bytes(octets).subspan(4)));
  a.close();
  while ((result = b.read(first, second)).status == Status::kWouldBlock) {
  }
  EXPECT_EQ(result.status, Status::kEndOfStream);
}

}  // namespace
}  // namespace weft::transport::test
