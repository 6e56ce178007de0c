// SPDX-License-Identifier: Apache-2.0
// rsockets whose peer is a plain TCP socket that speaks MPA, DDP and RDMAP (RFC 5044, 5041, 5040) and wants to do harm:
// it sends without end. Its octets are written out here, and none come from the code under test.
#include <fcntl.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>

#include "common/crc32c.hpp"
#include "compat/rsockets/epoll.hpp"
#include "tests/compat/rsocket_pair.hpp"

namespace weft::compat::rsockets::test {
namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr std::uint32_t kKeepAlive = 0xE0000001;

std::string big_endian(std::uint64_t value, int octets) {
  std::string all;
  for (int shift = 8 * (octets - 1); shift >= 0; shift -= 8) all += static_cast<char>(value >> shift & 0xFF);
  return all;
}

std::string little_endian(std::uint32_t value) { return big_endian(__builtin_bswap32(value), 4); }

// Version 1, messages in little-endian order, with iomaps, and 384 credits; then its target SGL and its buffer.
std::string private_data() {
  return std::string("\x01\x02\x01\x80\0\0\0\0", 8) + big_endian(1ULL << 32, 8) + big_endian(5, 4) + big_endian(2, 4) +
         big_endian(1ULL << 32, 8) + big_endian(6, 4) + big_endian(1U << 16, 4);
}

class Hostile {
 public:
  explicit Hostile(const Owner& listening) {
    const At at = loopback_of(AF_INET, name_of(listening.number()).port());
    if (::connect(socket_, at.address(), at.length) != 0) throw std::runtime_error("connect");
    const std::string data = private_data();
    put(std::string("MPA ID Req Frame\x50\x02", 18) + big_endian(data.size() + 4, 2) + big_endian(0x00010001, 4) +
        data);
    std::string reply(64, '\0');
    if (::recv(socket_, reply.data(), reply.size(), MSG_WAITALL) != 64) throw std::runtime_error("no MPA Reply");
  }
  ~Hostile() { ::close(socket_); }
  Hostile(const Hostile&) = delete;
  Hostile& operator=(const Hostile&) = delete;

  // False: the connection is over.
  bool put(std::string_view octets) const {
    while (!octets.empty()) {
      const ssize_t sent = ::send(socket_, octets.data(), octets.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      octets.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }
  // The FPDU of a message.
  std::string message(std::uint32_t word) {
    std::string fpdu = big_endian(22, 2) + "\x41\x43" + big_endian(0, 8) + big_endian(next_++, 4) + big_endian(0, 4);
    fpdu += little_endian(word);
    return fpdu + little_endian(crc32c(std::as_bytes(std::span(fpdu))));
  }
  bool say(std::uint32_t word) { return put(message(word)); }
  void hang_up() const { ::shutdown(socket_, SHUT_RDWR); }

 private:
  const int socket_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  std::uint32_t next_ = 1;  // message of queue 0
};

// Sends keep-alives until it is told to stop. After kPatience it stops by itself, so that a test cannot hang.
class Flood {
 public:
  explicit Flood(Hostile& peer) : peer_(peer), thread_([this] { run(); }) {}
  ~Flood() { stop(); }
  Flood(const Flood&) = delete;
  Flood& operator=(const Flood&) = delete;
  // False: it had stopped by itself.
  bool stop() {
    const bool went_on = !over_;
    told_ = true;
    peer_.hang_up();
    if (thread_.joinable()) thread_.join();
    return went_on;
  }

 private:
  void run() {
    const auto end = Clock::now() + std::chrono::milliseconds(kPatience);
    bool open = true;
    while (open && !told_ && Clock::now() < end) {
      std::string many;
      for (int i = 0; i < 4096; ++i) many += peer_.message(kKeepAlive);
      open = peer_.put(many);
    }
    over_ = true;
    peer_.hang_up();
  }
  Hostile& peer_;
  std::atomic<bool> told_ = false;
  std::atomic<bool> over_ = false;
  std::thread thread_;
};

struct HostilePair : testing::Test {
  HostilePair() : server(accept(listening.number(), nullptr, nullptr)) {
    if (rsockets::fcntl(server.number(), F_SETFL, O_NONBLOCK) != 0) throw std::runtime_error("rfcntl");
  }
  Owner listening = listener();
  Hostile peer{listening};
  Owner server;
};

// --- It sends keep-alives without end, which need no credit

TEST_F(HostilePair, PollReturnsDuringAFlood) {
  Flood flood(peer);
  for (int i = 0; i < 50; ++i) EXPECT_EQ(wait_for(server.number(), POLLIN, 0), 0);
  EXPECT_EQ(wait_for(server.number(), POLLIN, 50), 0);
  EXPECT_TRUE(flood.stop());
}

TEST_F(HostilePair, EpollReturnsDuringAFloodAndShowsOthers) {
  Pair other;
  const int set = ::epoll_create1(EPOLL_CLOEXEC);
  for (const int number : {server.number(), other.server.number()}) {
    const epoll_event wanted{.events = EPOLLIN, .data = {.fd = number}};
    ASSERT_EQ(rsockets::epoll_ctl(set, EPOLL_CTL_ADD, number, &wanted), 0);
  }
  Flood flood(peer);
  epoll_event event{};
  for (int i = 0; i < 10; ++i) EXPECT_EQ(rsockets::epoll_wait(set, &event, 1, 1, nullptr), 0);
  ASSERT_EQ(test::put(other.client.number(), "x"), 1);
  EXPECT_EQ(rsockets::epoll_wait(set, &event, 1, kPatience, nullptr), 1);
  EXPECT_EQ(event.data.fd, other.server.number());
  EXPECT_TRUE(flood.stop());
  close_epoll_set(set);
  ::close(set);
}

TEST_F(HostilePair, AReadThatWaitsIsOverInTimeDuringAFlood) {
  ASSERT_EQ(rsockets::fcntl(server.number(), F_SETFL, 0), 0);
  const timeval soon{.tv_sec = 0, .tv_usec = 50'000};
  ASSERT_EQ(rsockets::setsockopt(server.number(), SOL_SOCKET, SO_RCVTIMEO, &soon, sizeof soon), 0);
  Flood flood(peer);
  char octet{};
  expect_refused(get(server.number(), &octet, 1), EAGAIN);
  EXPECT_TRUE(flood.stop());
}

}  // namespace
}  // namespace weft::compat::rsockets::test
