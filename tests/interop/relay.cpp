// SPDX-License-Identifier: Apache-2.0
#include "tests/interop/relay.hpp"

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <stdexcept>
#include <string>
#include <string_view>

namespace weft::interop {
namespace {

using namespace std::chrono_literals;

sockaddr_in relayed_loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

int tcp_socket() { return socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0); }

bool send_all(int to, std::string_view octets) {
  while (!octets.empty()) {
    const ssize_t n = send(to, octets.data(), octets.size(), MSG_NOSIGNAL);
    if (n <= 0) return false;
    octets.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

// What is there now, or the end: then nothing.
std::string receive_some(int from) {
  std::string octets(65536, '\0');
  const ssize_t n = recv(from, octets.data(), octets.size(), 0);
  octets.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
  return octets;
}

// One direction to its end. A reset becomes a FIN.
void pass_on(int from, int to) {
  for (std::string octets; !(octets = receive_some(from)).empty();) {
    if (!send_all(to, octets)) break;
  }
  shutdown(to, SHUT_WR);
}

bool readable(int socket) {
  pollfd p{socket, POLLIN, 0};
  return poll(&p, 1, 0) == 1;
}

}  // namespace

Relay::Relay(std::uint16_t to) : to_(to) {
  const int listener = keep(tcp_socket());
  sockaddr_in address = relayed_loopback(0);
  socklen_t size = sizeof address;
  if (bind(listener, reinterpret_cast<sockaddr*>(&address), size) != 0 || listen(listener, 16) != 0 ||
      getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    throw std::runtime_error("cannot listen on 127.0.0.1");
  }
  port_ = ntohs(address.sin_port);
  taker_ = std::thread([this, listener] { take_connections(listener); });
}

Relay::~Relay() {
  over_ = true;
  {
    const std::lock_guard lock(mutex_);
    for (const int socket : sockets_) shutdown(socket, SHUT_RDWR);
  }
  taker_.join();  // from now on there are no new ones
  for (std::thread& connection : connections_) connection.join();
  for (const int socket : sockets_) close(socket);
}

int Relay::keep(int socket) {
  const std::lock_guard lock(mutex_);
  sockets_.push_back(socket);
  if (over_) shutdown(socket, SHUT_RDWR);
  return socket;
}

void Relay::drop(int socket) {
  const std::lock_guard lock(mutex_);
  std::erase(sockets_, socket);
  close(socket);
}

void Relay::take_connections(int listener) {
  for (int client = 0; (client = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC)) >= 0;) {
    keep(client);
    connections_.emplace_back([this, client] { serve(client); });
  }
}

void Relay::serve(int client) {
  const int server = reach(client);
  if (server < 0) {
    shutdown(client, SHUT_RDWR);
    return;
  }
  std::thread back([&] { pass_on(server, client); });
  pass_on(client, server);
  back.join();
}

// The client speaks first, with its MPA Request. The server's first octets stay where they are, for pass_on().
int Relay::reach(int client) {
  const sockaddr_in address = relayed_loopback(to_);
  std::string said;
  while (!over_) {
    const int server = keep(tcp_socket());
    bool open = connect(server, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
    open = open && send_all(server, said);
    for (int waits = 0; open && !over_ && !readable(server); ++waits) {
      if (readable(client)) {
        const std::string more = receive_some(client);
        if (more.empty()) return -1;
        said += more;
        open = send_all(server, more);
      }
      if (waits == 3000) met_silence_ = true;
      std::this_thread::sleep_for(1ms);
    }
    char octet = 0;
    if (open && recv(server, &octet, 1, MSG_PEEK) == 1) return server;
    drop(server);
    std::this_thread::sleep_for(20ms);
  }
  return -1;
}

}  // namespace weft::interop
