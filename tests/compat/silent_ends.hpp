// SPDX-License-Identifier: Apache-2.0
// What a call can wait for in vain: peers at a plain TCP socket that say what they have to, and nothing more, and
// rsockets whose other end is in the same program.
#pragma once

#include <fcntl.h>
#include <rdma/rsocket.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>

#include "things.hpp"

namespace weft::compat::test {

inline int have_number(int number, const char* what) {
  if (number < 0) throw std::runtime_error(what);
  return number;
}

// --- TCP

// Connections are made, and hear nothing.
class SilentListener {
 public:
  SilentListener() {
    sockaddr_in address = loopback(0);
    socklen_t length = sizeof address;
    have_number(::bind(socket_, plain(address), length), "bind");
    have_number(::listen(socket_, 8), "listen");
    have_number(::getsockname(socket_, plain(address), &length), "getsockname");
    port_ = ntohs(address.sin_port);
  }
  ~SilentListener() { ::close(socket_); }
  SilentListener(const SilentListener&) = delete;
  SilentListener& operator=(const SilentListener&) = delete;
  [[nodiscard]] std::uint16_t port() const { return port_; }

 private:
  const int socket_ = have_number(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket");
  std::uint16_t port_ = 0;
};

// MPA Requests: of revision 1 (RFC 5044, figure 7), which is answered and that is all; of revision 2 with the
// peer-to-peer model (RFC 6581, figures 4 and 5: A, C and D set, IRD and ORD 1), whose ready-to-receive never comes.
enum class Request { kRevision1, kPeerToPeer };

class SilentPeer {
 public:
  SilentPeer() = default;
  ~SilentPeer() { ::close(socket_); }
  SilentPeer(const SilentPeer&) = delete;
  SilentPeer& operator=(const SilentPeer&) = delete;

  void connect(std::uint16_t port) const {
    sockaddr_in address = loopback(port);
    have_number(::connect(socket_, plain(address), sizeof address), "connect");
  }
  void send(Request request) const {
    using std::string_view_literals::operator""sv;
    constexpr auto kRevision1 = "MPA ID Req Frame\x40\x01\x00\x00"sv;
    constexpr auto kPeerToPeer = "MPA ID Req Frame\x50\x02\x00\x04\x80\x01\xC0\x01"sv;
    const auto octets = request == Request::kRevision1 ? kRevision1 : kPeerToPeer;
    if (::send(socket_, octets.data(), octets.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(octets.size())) {
      throw std::runtime_error("send");
    }
  }

 private:
  const int socket_ = have_number(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket");
};

// --- rsockets

struct RsocketListener {
  RsocketListener() {
    sockaddr_in address = loopback(0);
    have_number(rbind(socket, plain(address), sizeof address), "rbind");
    have_number(rlisten(socket, 8), "rlisten");
  }
  ~RsocketListener() { rclose(socket); }
  RsocketListener(const RsocketListener&) = delete;
  RsocketListener& operator=(const RsocketListener&) = delete;
  [[nodiscard]] sockaddr_in address() const {
    sockaddr_in at{};
    socklen_t length = sizeof at;
    have_number(rgetsockname(socket, plain(at), &length), "rgetsockname");
    return at;
  }
  const int socket = have_number(rsocket(AF_INET, SOCK_STREAM, 0), "rsocket");
};

struct RsocketPair {
  RsocketPair() {
    const RsocketListener listener;
    allow_mappings(listener.socket);
    allow_mappings(there);
    sockaddr_in address = listener.address();
    std::thread client([&] { have_number(rconnect(there, plain(address), sizeof address), "rconnect"); });
    here = raccept(listener.socket, nullptr, nullptr);
    client.join();
    have_number(here, "raccept");
  }
  ~RsocketPair() {
    std::thread other([this] { rclose(there); });  // each waits for the other
    rclose(here);
    other.join();
  }
  RsocketPair(const RsocketPair&) = delete;
  RsocketPair& operator=(const RsocketPair&) = delete;
  static void allow_mappings(int socket) {
    constexpr int kSome = 4;
    have_number(rsetsockopt(socket, SOL_RDMA, RDMA_IOMAPSIZE, &kSome, sizeof kSome), "RDMA_IOMAPSIZE");
  }
  const int there = have_number(rsocket(AF_INET, SOCK_STREAM, 0), "rsocket");
  int here = -1;
};

// Its errno when there is no connection to accept.
inline int raccept_nonblocking(int socket) {
  rfcntl(socket, F_SETFL, O_NONBLOCK);
  return raccept(socket, nullptr, nullptr) < 0 ? errno : 0;
}

}  // namespace weft::compat::test
