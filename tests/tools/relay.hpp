// SPDX-License-Identifier: Apache-2.0
// A TCP relay in front of a peer, in this process. It changes no octet, only when octets and ends come.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <deque>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace weft::test {

struct RelayManner {
  std::chrono::milliseconds to_peer{};    // how late octets of the client come
  std::chrono::milliseconds from_peer{};  // how late octets of the peer come
  bool single{};                          // octets of the peer come one by one
  bool reset{};                           // the peer's FIN becomes a reset, 100 ms after its last octet
};

class Relay {
 public:
  // `port`: of the peer on 127.0.0.1.
  Relay(std::uint16_t port, const RelayManner& manner)
      : port_(port), manner_(manner), listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    auto at = address(0);
    socklen_t size = sizeof at;
    EXPECT_EQ(::bind(listener_, reinterpret_cast<sockaddr*>(&at), size), 0);
    EXPECT_EQ(::listen(listener_, 256), 0);
    EXPECT_EQ(::getsockname(listener_, reinterpret_cast<sockaddr*>(&at), &size), 0);
    at_ = "127.0.0.1:" + std::to_string(ntohs(at.sin_port));
    acceptor_ = std::thread([this] { accept(); });
  }
  ~Relay() {
    over_ = true;
    ::shutdown(listener_, SHUT_RDWR);
    acceptor_.join();
    for (std::thread& one : pairs_) one.join();
    ::close(listener_);
  }
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;
  [[nodiscard]] const std::string& at() const { return at_; }

 private:
  using Clock = std::chrono::steady_clock;
  struct Piece {
    Clock::time_point when{};
    std::vector<char> octets{};  // empty: the end
  };
  struct End {
    int socket{};
    bool over{};
    std::deque<Piece> towards{};  // what this end is to get
  };

  static sockaddr_in address(std::uint16_t port) {
    return {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr = {htonl(INADDR_LOOPBACK)}, .sin_zero = {}};
  }
  void accept() {
    for (int socket = 0; (socket = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC)) >= 0;) {
      const int peer = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
      const auto at = address(port_);
      const int at_once = 1;
      for (const int one : {socket, peer}) ::setsockopt(one, IPPROTO_TCP, TCP_NODELAY, &at_once, sizeof at_once);
      if (::connect(peer, reinterpret_cast<const sockaddr*>(&at), sizeof at) == 0) {
        pairs_.emplace_back([this, socket, peer] { serve(socket, peer); });
      } else {
        ::close(peer);
        ::close(socket);
      }
    }
  }

  void serve(int client, int peer) {
    std::array<End, 2> ends{End{.socket = client}, End{.socket = peer}};
    bool whole = true;
    while (whole && !over_ && !(ends[0].over && ends[1].over && ends[0].towards.empty() && ends[1].towards.empty()))
      whole = wait_and_read(ends) && deliver(ends);
    if (!whole) {
      const linger now{.l_onoff = 1, .l_linger = 0};
      for (const End& end : ends) ::setsockopt(end.socket, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    }
    for (const End& end : ends) ::close(end.socket);
  }

  // False where a connection was reset.
  bool wait_and_read(std::array<End, 2>& ends) {
    auto wait = std::chrono::milliseconds(50);
    for (const End& end : ends) {
      if (end.towards.empty()) continue;
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(end.towards.front().when - Clock::now());
      wait = std::clamp(left, std::chrono::milliseconds(0), wait);
    }
    std::array<pollfd, 2> both{};
    for (std::size_t i = 0; i < 2; ++i)
      both[i] = {.fd = ends[i].over ? -1 : ends[i].socket, .events = POLLIN, .revents = 0};
    if (::poll(both.data(), 2, static_cast<int>(wait.count())) <= 0) return true;
    for (std::size_t i = 0; i < 2; ++i) {
      if (both[i].revents == 0) continue;
      std::vector<char> octets(65536);
      const auto got = ::recv(ends[i].socket, octets.data(), octets.size(), MSG_DONTWAIT);
      if (got < 0) return false;
      octets.resize(static_cast<std::size_t>(got));
      ends[i].over = got == 0;
      auto late = i == 0 ? manner_.to_peer : manner_.from_peer;
      if (i == 1 && got == 0 && manner_.reset) late = std::chrono::milliseconds(100);
      ends[1 - i].towards.push_back({Clock::now() + late, std::move(octets)});
    }
    return true;
  }
  bool deliver(std::array<End, 2>& ends) const {
    for (std::size_t i = 0; i < 2; ++i) {
      auto& towards = ends[i].towards;
      for (; !towards.empty() && towards.front().when <= Clock::now(); towards.pop_front()) {
        const auto& octets = towards.front().octets;
        if (octets.empty() && i == 0 && manner_.reset) return false;
        if (octets.empty()) ::shutdown(ends[i].socket, SHUT_WR);
        const std::size_t step = i == 0 && manner_.single ? 1 : std::max<std::size_t>(1, octets.size());
        for (std::size_t at = 0; at < octets.size(); at += step) {
          if (!say(ends[i].socket, octets.data() + at, std::min(step, octets.size() - at))) return false;
        }
      }
    }
    return true;
  }
  static bool say(int socket, const char* octets, std::size_t size) {
    while (size > 0) {
      const auto sent = ::send(socket, octets, size, MSG_NOSIGNAL);
      if (sent <= 0) return false;
      octets += sent;
      size -= static_cast<std::size_t>(sent);
    }
    return true;
  }

  std::uint16_t port_;
  RelayManner manner_;
  int listener_;
  std::string at_{};
  std::atomic<bool> over_ = false;
  std::vector<std::thread> pairs_{};  // of the acceptor's thread, and after its end
  std::thread acceptor_{};
};

}  // namespace weft::test
