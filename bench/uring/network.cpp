// SPDX-License-Identifier: Apache-2.0
#include "bench/uring/network.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bench/uring/support.hpp"

namespace weft::uring {
namespace {

constexpr const char* kMeasuredAddress = "10.99.0.1";
constexpr const char* kPeerAddress = "10.99.0.2";

int space_of_this_thread() { return open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC); }

int enter_new_space() { return unshare(CLONE_NEWNET) == 0 ? space_of_this_thread() : -1; }

void enter(int space) {
  if (space >= 0) need(setns(space, CLONE_NEWNET) == 0, "setns");
}

// In the namespace of the calling thread.
bool ip(const std::string& arguments) { return std::system(("ip " + arguments).c_str()) == 0; }

bool set_up(const char* link, const char* address) {
  return ip(std::string("addr add ") + address + "/24 dev " + link) && ip(std::string("link set ") + link + " up");
}

int tcp_socket() {
  const int made = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  need(made >= 0, "socket");
  return made;
}

void set_no_delay(int descriptor) {
  const int on = 1;
  need(setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) == 0, "TCP_NODELAY");
}

}  // namespace

Network Network::loopback() {
  Network made;
  made.name_ = "loopback";
  made.address_ = "127.0.0.1";
  return made;
}

std::optional<Network> Network::veth() {
  Network made;
  made.name_ = "veth";
  made.address_ = kMeasuredAddress;
  made.own_space_ = space_of_this_thread();
  made.measured_space_ = enter_new_space();
  made.peer_space_ = enter_new_space();
  bool fine = made.measured_space_ >= 0 && made.peer_space_ >= 0;
  if (!fine) std::fprintf(stderr, "no veth pair: a network namespace cannot be made: %s\n", std::strerror(errno));
  const std::string there = "/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(made.measured_space_);
  const bool tried = fine;
  fine = fine && ip("link add weft1 type veth peer name weft0 netns " + there) && set_up("weft1", kPeerAddress);
  if (fine) enter(made.measured_space_);
  fine = fine && set_up("weft0", kMeasuredAddress);
  if (tried && !fine) std::fprintf(stderr, "no veth pair: ip (iproute2) is missing or failed\n");
  enter(made.own_space_);
  if (!fine) return std::nullopt;
  return made;
}

Sockets Network::connect() const {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  need(inet_pton(AF_INET, address_, &address.sin_addr) == 1, "inet_pton");
  socklen_t length = sizeof address;
  auto* const name = reinterpret_cast<sockaddr*>(&address);
  enter(measured_space_);
  const int listening = tcp_socket();
  need(bind(listening, name, length) == 0 && listen(listening, 1) == 0, "listen");
  need(getsockname(listening, name, &length) == 0, "getsockname");
  enter(peer_space_);
  const int peer = tcp_socket();
  need(::connect(peer, name, length) == 0, "connect");
  enter(own_space_);
  const int measured = accept4(listening, nullptr, nullptr, SOCK_CLOEXEC);
  need(measured >= 0, "accept");
  close(listening);
  set_no_delay(measured), set_no_delay(peer);
  return {measured, peer};
}

}  // namespace weft::uring
