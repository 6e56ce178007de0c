// SPDX-License-Identifier: Apache-2.0
// A conversation whose peer is the test: the other end of a pair of sockets.
#pragma once

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <stop_token>
#include <thread>

#include "probe/conversation.hpp"
#include "probe/socket.hpp"

namespace weft::probe::test {

struct Connected {
  explicit Connected(Duration patience = std::chrono::milliseconds(50), bool peer_opened = false,
                     std::shared_ptr<Learned> learned = std::make_shared<Learned>()) {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) != 0)
      throw std::runtime_error("socketpair");
    descriptor = ends[1];
    peer = std::make_unique<Socket>(descriptor);
    conversation =
        std::make_unique<Conversation>(std::make_unique<Socket>(ends[0]), peer_opened, patience, std::move(learned));
  }
  // Without waiting for the prober to read it: as much as the socket takes.
  void say(Bytes octets) const { static_cast<void>(peer->send(octets, now())); }
  // Says the octets again and again, however slowly the prober reads them.
  void flood(Bytes octets, const std::stop_token& stop) const {
    for (std::size_t at = 0; !stop.stop_requested();) {
      const auto sent = ::send(descriptor, octets.data() + at, octets.size() - at, MSG_NOSIGNAL | MSG_DONTWAIT);
      if (sent < 0 && errno != EAGAIN) return;
      if (sent < 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      if (sent > 0) at = (at + static_cast<std::size_t>(sent)) % octets.size();
    }
  }

  int descriptor{};  // of the peer
  std::unique_ptr<Socket> peer{};
  std::unique_ptr<Conversation> conversation{};
};

}  // namespace weft::probe::test
