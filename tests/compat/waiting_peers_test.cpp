// SPDX-License-Identifier: Apache-2.0
// Programs with the drop-in libraries and tls=require, whose peer makes the TCP connection and then is silent, drips or
// is stopped: each call that waits for it comes back. tests/verbs/waiting_peers_test.cpp has all states below.
#include <gtest/gtest.h>
#include <poll.h>
#include <rdma/rsocket.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <string>
#include <thread>

#include "command.hpp"
#include "ends.hpp"
#include "silent_ends.hpp"

namespace weft::compat::test {
namespace {

// The libraries read their settings once, with the first device.
const weft::test::TemporaryDirectory folder;
[[maybe_unused]] const bool settings_are_made = [] {
  const std::string keys = folder.file("keys");
  const auto made = weft::test::run({"keys", keys});
  const std::string policy =
      "tls=require,startup-timeout=200ms,tls-certificate=" + keys + "/server.pem,tls-ca=" + keys + "/ca.pem";
  return made.exit_code == 0 && ::setenv("WEFT_POLICY", policy.c_str(), 1) == 0;
}();

enum class Manner { kSilent, kDripping, kStopped };

// What a peer sends that drips: a record of TLS's handshake, of 16 KiB, that does not end.
constexpr std::array<unsigned char, 5> kHead{0x16, 3, 3, 0x40, 0};

class Peer {
 public:
  explicit Peer(Manner manner) : manner_(manner) {}
  ~Peer() {
    over_ = true;
    if (thread_.joinable()) thread_.join();
  }
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;
  void serve(int socket) {
    for (std::size_t sent = 0; !over_; ++sent) {
      std::array<char, 4096> some;
      if (manner_ != Manner::kStopped) ::recv(socket, some.data(), some.size(), MSG_DONTWAIT);
      const unsigned char octet = sent < kHead.size() ? kHead[sent] : 0;
      if (manner_ == Manner::kDripping) ::send(socket, &octet, 1, MSG_NOSIGNAL);
      ::usleep(20'000);
    }
    ::close(socket);
  }
  template <typename Body>
  void run(Body body) {
    thread_ = std::thread(std::move(body));
  }
  [[nodiscard]] bool is_over() const { return over_; }

 private:
  const Manner manner_;
  std::atomic<bool> over_{false};
  std::thread thread_;
};

class Listener {
 public:
  explicit Listener(Manner manner) : peer_(manner) {
    sockaddr_in address = loopback(0);
    socklen_t length = sizeof address;
    have_number(::bind(socket_, plain(address), length), "bind");
    have_number(::listen(socket_, 8), "listen");
    have_number(::getsockname(socket_, plain(address), &length), "getsockname");
    port_ = ntohs(address.sin_port);
    peer_.run([this] {
      pollfd waiting{.fd = socket_, .events = POLLIN, .revents = 0};
      while (!peer_.is_over()) {
        if (::poll(&waiting, 1, 10) == 1) peer_.serve(::accept(socket_, nullptr, nullptr));
      }
      ::close(socket_);
    });
  }
  [[nodiscard]] std::uint16_t port() const { return port_; }

 private:
  const int socket_ = have_number(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket");
  std::uint16_t port_ = 0;
  Peer peer_;
};

class WaitingPeers : public testing::TestWithParam<Manner> {
 protected:
  void SetUp() override { ASSERT_TRUE(settings_are_made); }
};
const char* name_of(const testing::TestParamInfo<Manner>& manner) {
  switch (manner.param) {
    case Manner::kSilent: return "Silent";
    case Manner::kDripping: return "Dripping";
    case Manner::kStopped: return "Stopped";
  }
  return "";
}
INSTANTIATE_TEST_SUITE_P(Manners, WaitingPeers, testing::Values(Manner::kSilent, Manner::kDripping, Manner::kStopped),
                         name_of);

TEST_P(WaitingPeers, AnEventTells) {
  const Listener listener(GetParam());
  const Events events;
  rdma_cm_id* const id = resolved(events, listener.port());
  ibv_qp_init_attr wanted = Things::qp_wishes(nullptr);
  must(rdma_create_qp(id, nullptr, &wanted), "rdma_create_qp");
  must(rdma_connect(id, nullptr), "rdma_connect");
  static_cast<void>(events.next(RDMA_CM_EVENT_UNREACHABLE));
  rdma_destroy_qp(id);
  rdma_destroy_id(id);
}

TEST_P(WaitingPeers, ACallThatWaitsReturns) {
  const Listener listener(GetParam());
  rdma_cm_id* id = nullptr;
  must(rdma_create_id(nullptr, &id, nullptr, RDMA_PS_TCP), "rdma_create_id");
  sockaddr_in to = loopback(listener.port());
  must(rdma_resolve_addr(id, nullptr, plain(to), 1000), "rdma_resolve_addr");
  must(rdma_resolve_route(id, 1000), "rdma_resolve_route");
  ibv_qp_init_attr wanted = Things::qp_wishes(nullptr);
  must(rdma_create_qp(id, nullptr, &wanted), "rdma_create_qp");
  EXPECT_EQ(rdma_connect(id, nullptr), -1);
  EXPECT_EQ(errno, ETIMEDOUT);
  rdma_destroy_qp(id);
  rdma_destroy_id(id);
}

TEST_P(WaitingPeers, AnRsocketReturns) {
  const Listener listener(GetParam());
  const int socket = have_number(rsocket(AF_INET, SOCK_STREAM, 0), "rsocket");
  sockaddr_in to = loopback(listener.port());
  EXPECT_EQ(rconnect(socket, plain(to), sizeof to), -1);
  EXPECT_EQ(rclose(socket), 0);
}

TEST_P(WaitingPeers, AListenerEndsThem) {
  const Events events;
  rdma_cm_id* const id = listening(events);
  sockaddr_in to = loopback(ntohs(rdma_get_src_port(id)));
  const int socket = have_number(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket");
  have_number(::connect(socket, plain(to), sizeof to), "connect");
  {
    Peer peer(GetParam());
    peer.run([&] { peer.serve(::dup(socket)); });
    pollfd ended{.fd = socket, .events = POLLRDHUP, .revents = 0};
    EXPECT_EQ(::poll(&ended, 1, 20'000), 1);
  }
  ::close(socket);
  rdma_destroy_id(id);
}

}  // namespace
}  // namespace weft::compat::test
