// SPDX-License-Identifier: Apache-2.0
// The other end of killed_peer_test.cpp: connects to PORT, or listens and says where, posts a receive, and waits for
// its end.
#include <arpa/inet.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>

#include "ends.hpp"

namespace {

using weft::compat::test::End;
using weft::compat::test::EndOptions;
using weft::compat::test::Events;

constexpr std::size_t kOctets = 1U << 20;  // as the test's

void say(const std::string& line) {
  std::puts(line.c_str());
  std::fflush(stdout);
}

[[noreturn]] void wait_for_the_end() {
  say("connected");
  for (;;) ::pause();
}

[[noreturn]] void connect_to(std::uint16_t port) {
  const Events events;
  const End end(weft::compat::test::resolved(events, port), EndOptions{.octets = kOctets});
  end.post_receive(1);
  end.connect();
  static_cast<void>(events.next(RDMA_CM_EVENT_ESTABLISHED));
  wait_for_the_end();
}

[[noreturn]] void listen() {
  const Events events;
  rdma_cm_id* const listener = weft::compat::test::listening(events);
  say("port " + std::to_string(ntohs(rdma_get_src_port(listener))) + ".");
  const End end(events.next(RDMA_CM_EVENT_CONNECT_REQUEST).id, EndOptions{.octets = kOctets});
  end.post_receive(1);
  end.accept();
  static_cast<void>(events.next(RDMA_CM_EVENT_ESTABLISHED));
  wait_for_the_end();
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc > 1) connect_to(static_cast<std::uint16_t>(std::atoi(argv[1])));
  listen();
} catch (const std::exception& error) {
  std::fprintf(stderr, "killed_peer: %s\n", error.what());
  return 1;
}
