// SPDX-License-Identifier: Apache-2.0
// A peer worked by hand: an engine at a plain TCP socket that reads, writes and closes only when the test says so.
#pragma once

#include <netinet/in.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <fstream>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "engine/engine.hpp"
#include "loopback.hpp"
#include "tests/engine/vector_memory.hpp"

namespace weft::verbs::test {

class HandPeer {
 public:
  // Connects and sends the MPA Request; the reply is for the test to wait for.
  explicit HandPeer(const Endpoint& server, const engine::Config& config = {})
      : engine(initiator(config), memory, Instant{}), socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_storage storage{};
    const auto size = server.to_sockaddr(storage);
    if (::connect(socket_, reinterpret_cast<sockaddr*>(&storage), size) != 0) throw std::runtime_error("connect");
    if (!engine.connect({})) throw std::runtime_error("MPA Request");
    write();
  }
  ~HandPeer() { close(); }
  HandPeer(const HandPeer&) = delete;
  HandPeer& operator=(const HandPeer&) = delete;

  // What the engine has to send. It may ask for the end of the connection afterwards, and does not get it.
  void write() {
    for (auto octets = cut(); !octets.empty(); octets = cut()) write(octets);
  }
  void write(Bytes octets) const {
    if (::send(socket_, octets.data(), octets.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(octets.size()))
      throw std::runtime_error("send");
  }
  // A batch of it, for the test to write.
  std::vector<std::byte> cut() {
    engine::TransmitBatch batch(1 << 17);
    engine.fill(batch, now_);
    std::vector<std::byte> octets;
    for (const Bytes piece : batch.pieces()) octets.insert(octets.end(), piece.begin(), piece.end());
    engine.written(octets.size(), now_);
    return octets;
  }
  // Whether the other end has read all that was written here. What it has not acknowledged may not have come there yet.
  [[nodiscard]] bool was_read() const {
    int unacknowledged = 0;
    if (::ioctl(socket_, TIOCOUTQ, &unacknowledged) != 0) throw std::runtime_error("TIOCOUTQ");
    return unacknowledged == 0 && unread() == 0;
  }
  // Octets that lie in the other end's socket, by Linux's table of sockets.
  [[nodiscard]] std::size_t unread() const {
    sockaddr_in own{};
    socklen_t size = sizeof own;
    if (::getsockname(socket_, reinterpret_cast<sockaddr*>(&own), &size) != 0) throw std::runtime_error("getsockname");
    // Both ports: another connection, of another test or one that is over (TIME_WAIT), may have one of them.
    sockaddr_in server{};
    size = sizeof server;
    if (::getpeername(socket_, reinterpret_cast<sockaddr*>(&server), &size) != 0)
      throw std::runtime_error("getpeername");
    const std::string ours = port_in_table(own), theirs = port_in_table(server);
    std::ifstream lines("/proc/net/tcp");
    for (std::string line; std::getline(lines, line);) {
      std::istringstream words(line);
      std::string number, local, remote, state, queues;
      words >> number >> local >> remote >> state >> queues;
      if (remote.ends_with(ours) && local.ends_with(theirs))
        return std::stoul(queues.substr(queues.find(':') + 1), nullptr, 16);
    }
    throw std::runtime_error("the other end has no socket");
  }

  // Octets that have come and were not read.
  [[nodiscard]] std::size_t waiting_octets() const {
    int octets = 0;
    if (::ioctl(socket_, FIONREAD, &octets) != 0) throw std::runtime_error("FIONREAD");
    return static_cast<std::size_t>(octets);
  }
  [[nodiscard]] bool is_reset() const {
    pollfd now{.fd = socket_, .events = 0, .revents = 0};
    return ::poll(&now, 1, 0) == 1 && (now.revents & POLLERR) != 0;
  }
  // What has come, unread by the engine.
  void drop() const {
    std::array<std::byte, 1 << 16> some;
    while (::recv(socket_, some.data(), some.size(), MSG_DONTWAIT) > 0) {
    }
  }
  [[nodiscard]] int descriptor() const noexcept { return socket_; }
  // FIN or RST.
  [[nodiscard]] bool has_ended() const {
    char octet{};
    const auto got = ::recv(socket_, &octet, 1, MSG_DONTWAIT | MSG_PEEK);
    return got == 0 || (got < 0 && errno != EAGAIN);
  }

  // Reads until an event of this kind has come.
  template <typename Kind>
  Kind wait_for() {
    for (;;) {
      while (auto event = engine.poll_event()) {
        if (auto* wanted = std::get_if<Kind>(&*event)) return std::move(*wanted);
      }
      read();
    }
  }

  void close() {
    if (socket_ >= 0) ::close(socket_);
    socket_ = -1;
  }

  engine::test::VectorMemory memory;
  engine::Engine engine;

 private:
  // As the table ends an address: ":1F90".
  static std::string port_in_table(const sockaddr_in& address) {
    char text[8];
    std::snprintf(text, sizeof text, ":%04X", ntohs(address.sin_port));
    return text;
  }
  static engine::Config initiator(engine::Config config) {
    config.role = mpa::Role::kInitiator;
    return config;
  }
  void read() {
    pollfd waiting{.fd = socket_, .events = POLLIN, .revents = 0};
    const auto patience = std::chrono::duration_cast<std::chrono::milliseconds>(kPatience);
    if (::poll(&waiting, 1, static_cast<int>(patience.count())) != 1) throw std::runtime_error("timed out: no octets");
    std::array<std::byte, 4096> some;
    const auto octets = ::recv(socket_, some.data(), some.size(), 0);
    if (octets <= 0) throw std::runtime_error("the connection ended");
    staged_.insert(staged_.end(), some.begin(), some.begin() + octets);
    const auto taken = static_cast<std::ptrdiff_t>(engine.receive(staged_, now_).consumed);
    staged_.erase(staged_.begin(), staged_.begin() + taken);
  }

  int socket_;
  Instant now_{};  // stands still: no deadline ever passes
  std::vector<std::byte> staged_;
};

}  // namespace weft::verbs::test
