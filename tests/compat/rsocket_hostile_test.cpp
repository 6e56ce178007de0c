// SPDX-License-Identifier: Apache-2.0
// rsockets whose peer is a plain TCP socket that speaks MPA, DDP and RDMAP (RFC 5044, 5041, 5040) and wants to do harm:
// it sends without end. Its octets are written out here, and none come from the code under test.
#include <fcntl.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

#include "common/crc32c.hpp"
#include "compat/rsockets/closer.hpp"
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

// Version 1, messages in little-endian order, with iomaps, and credits; then its target SGL and its buffer. `takes_much`: more than a TCP
// connection holds.
std::string private_data(bool takes_much) {
  return std::string("\x01\x02\x01\x80\0\0\0\0", 8) + big_endian(1ULL << 32, 8) + big_endian(5, 4) + big_endian(2, 4) +
         big_endian(1ULL << 32, 8) + big_endian(6, 4) + big_endian(takes_much ? 0xF0000000 : 1U << 16, 4);
}

class Hostile {
 public:
  explicit Hostile(const Owner& listening, int receive_buffer = 0) {
    if (receive_buffer != 0) {
      ::setsockopt(socket_, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer);
    }
    const At at = loopback_of(AF_INET, name_of(listening.number()).port());
    if (::connect(socket_, at.address(), at.length) != 0) throw std::runtime_error("connect");
    const std::string data = private_data(receive_buffer != 0);
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
  // After what came before it.
  [[nodiscard]] bool is_reset() const {
    std::string some(65536, '\0');
    ssize_t got = 1;
    while (got > 0) got = ::recv(socket_, some.data(), some.size(), 0);
    return got < 0 && errno == ECONNRESET;
  }

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
  explicit HostilePair(int receive_buffer = 0)
      : peer(listening, receive_buffer), server(accept(listening.number(), nullptr, nullptr)) {
    if (rsockets::fcntl(server.number(), F_SETFL, O_NONBLOCK) != 0) throw std::runtime_error("rfcntl");
  }
  Owner listening = listener();
  Hostile peer;
  Owner server;
};

constexpr int kSmall = 2304;
struct SilentPair : HostilePair {
  SilentPair() : HostilePair(kSmall) {}
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
    epoll_event wanted{.events = EPOLLIN, .data = {.fd = number}};
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

// --- It takes nothing, and does not close

// Until nothing more is taken.
void fill(int number) {
  const std::string octets(60'000, 'a');
  while (test::put(number, octets) > 0) continue;
  EXPECT_EQ(errno, EAGAIN);
}

template <typename Body>
void expect_quick(Body body) {
  const auto begin = Clock::now();
  body();
  EXPECT_LT(Clock::now() - begin, std::chrono::milliseconds(kPatience)) << "it waited for finish-timeout";
}

bool comes_down_to(std::size_t count) {
  const auto end = Clock::now() + std::chrono::milliseconds(kPatience);
  while (Closer::count() > count && Clock::now() < end) std::this_thread::yield();
  return Closer::count() <= count;
}
bool nothing_left_behind() { return comes_down_to(0); }

TEST_F(SilentPair, ACloseThatMayNotWaitReturnsAtOnce) {
  fill(server.number());
  expect_quick([&] { EXPECT_EQ(close(server.release()), 0); });
  EXPECT_EQ(Closer::count(), 1U);
  peer.hang_up();
  EXPECT_TRUE(nothing_left_behind());
}

TEST_F(SilentPair, TheNumberOfAClosedOneIsFree) {
  fill(server.number());
  const int number = server.release();
  EXPECT_EQ(close(number), 0);
  EXPECT_EQ(::fcntl(number, F_GETFD), -1);
  peer.hang_up();
  EXPECT_TRUE(nothing_left_behind());
}

TEST_F(SilentPair, CloseOfLibcReturnsAtOnceAlsoWhereItMayWait) {
  fill(server.number());
  ASSERT_EQ(rsockets::fcntl(server.number(), F_SETFL, 0), 0);
  expect_quick([&] { EXPECT_EQ(close_at_once(server.release()), 0); });
  peer.hang_up();
  EXPECT_TRUE(nothing_left_behind());
}

TEST_F(SilentPair, ALingerTimeIsWaitedFor) {
  fill(server.number());
  const linger second{.l_onoff = 1, .l_linger = 1};
  ASSERT_EQ(rsockets::setsockopt(server.number(), SOL_SOCKET, SO_LINGER, &second, sizeof second), 0);
  const auto begin = Clock::now();
  EXPECT_EQ(close(server.release()), 0);
  EXPECT_GE(Clock::now() - begin, 1s);
  EXPECT_EQ(Closer::count(), 0U);
}

// Soft limit of descriptors while it lives.
struct FileLimit {
  explicit FileLimit(rlim_t limit) {
    ::getrlimit(RLIMIT_NOFILE, &before);
    const rlimit wanted{.rlim_cur = limit, .rlim_max = before.rlim_max};
    ::setrlimit(RLIMIT_NOFILE, &wanted);
  }
  ~FileLimit() { ::setrlimit(RLIMIT_NOFILE, &before); }
  FileLimit(const FileLimit&) = delete;
  FileLimit& operator=(const FileLimit&) = delete;
  rlimit before{};
};

TEST(RsocketHostile, ClosedOnesAreBoundedInNumber) {
  const FileLimit few(700);
  const std::size_t most = Closer::most();
  const Owner listening = listener();
  std::vector<std::unique_ptr<Hostile>> peers;
  for (std::size_t i = 0; i < most + 4; ++i) {
    peers.push_back(std::make_unique<Hostile>(listening, kSmall));
    Owner server(accept(listening.number(), nullptr, nullptr));
    ASSERT_GE(server.number(), 0);
    ASSERT_EQ(rsockets::fcntl(server.number(), F_SETFL, O_NONBLOCK), 0);
    fill(server.number());
    EXPECT_EQ(close(server.release()), 0);
  }
  EXPECT_TRUE(comes_down_to(most)) << "the thread looks at those that had to go for a moment";
  EXPECT_TRUE(peers.front()->is_reset());
  peers.clear();
  EXPECT_TRUE(nothing_left_behind());
}

TEST(RsocketHostile, AnHonestPeerGetsAllThatWasSentBeforeTheClose) {
  Pair pair;
  ASSERT_EQ(rsockets::fcntl(pair.server.number(), F_SETFL, O_NONBLOCK), 0);
  std::string all(60'000, 'b');
  ASSERT_EQ(test::put(pair.server.number(), all), 60'000);
  EXPECT_EQ(close(pair.server.release()), 0);
  EXPECT_EQ(get_text(pair.client.number(), all.size(), MSG_WAITALL), all);
  EXPECT_EQ(get_text(pair.client.number()), "");
  pair.client = Owner();
  EXPECT_TRUE(nothing_left_behind());
}

TEST(RsocketHostile, AProgramThatEndsWaitsForWhatItClosed) {
  Pair pair;
  const std::string all(60'000, 'c');
  ASSERT_EQ(test::put(pair.server.number(), all), 60'000);
  EXPECT_EQ(close_at_once(pair.server.release()), 0);
  wait_for_closed();
  EXPECT_EQ(Closer::count(), 0U);
  EXPECT_EQ(get_text(pair.client.number(), all.size(), MSG_WAITALL), all);
}

// Peers whose connections the program does not accept leave most of the descriptors to it.
TEST(Listener, TakesAQuarterOfTheDescriptors) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit few{.rlim_cur = 1024, .rlim_max = before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
  const auto of_five = Socket::most_waiting(5), of_thousand = Socket::most_waiting(1000);
  const rlimit many{.rlim_cur = before.rlim_max, .rlim_max = before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &many), 0);
  EXPECT_EQ(of_five, 36U);
  EXPECT_EQ(of_thousand, 36U);
  if (many.rlim_cur >= 28'000) EXPECT_EQ(Socket::most_waiting(1000), 1000U);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
}

}  // namespace
}  // namespace weft::compat::rsockets::test
