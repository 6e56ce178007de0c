// SPDX-License-Identifier: Apache-2.0
// A conversation whose peer is the test: the other end of a pair of sockets.
#pragma once

#include <sys/socket.h>
#include <unistd.h>

#include <memory>
#include <stdexcept>

#include "probe/conversation.hpp"
#include "probe/socket.hpp"

namespace weft::probe::test {

struct Connected {
  explicit Connected(Duration patience = std::chrono::milliseconds(50), bool peer_opened = false) {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) != 0)
      throw std::runtime_error("socketpair");
    peer = std::make_unique<Socket>(ends[1]);
    conversation = std::make_unique<Conversation>(std::make_unique<Socket>(ends[0]), peer_opened, patience);
  }
  // Without waiting for the prober to read it: as much as the socket takes.
  void say(Bytes octets) const { static_cast<void>(peer->send(octets, now())); }

  std::unique_ptr<Socket> peer{};
  std::unique_ptr<Conversation> conversation{};
};

}  // namespace weft::probe::test
