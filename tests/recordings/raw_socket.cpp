// SPDX-License-Identifier: Apache-2.0
#include "raw_socket.hpp"

#include <stdexcept>

namespace weft::recordings {
namespace {

using transport::Address, transport::BlockingListener, transport::BlockingSocket, transport::Family;

Instant in_a_minute() { return transport::steady_now() + std::chrono::minutes(1); }

}  // namespace

RawSocket RawSocket::dial(const transport::Endpoint& server) {
  return RawSocket(BlockingSocket::connect(server, in_a_minute()).value());
}

void RawSocket::send(Bytes octets) {
  if (!socket_.send(octets, in_a_minute())) throw std::runtime_error("the peer takes no octets");
}

bool RawSocket::receive() {
  const auto got = socket_.receive(unread_, in_a_minute());
  if (got == BlockingSocket::Got::kReset || got == BlockingSocket::Got::kNothing)
    throw std::runtime_error("the peer sends nothing, or has reset the connection");
  return got == BlockingSocket::Got::kOctets;
}

std::vector<std::byte> RawSocket::read(std::size_t octets) {
  while (unread_.size() < octets) {
    if (!receive()) throw std::runtime_error("the peer closed too early");
  }
  const auto end = unread_.begin() + static_cast<std::ptrdiff_t>(octets);
  std::vector<std::byte> all(unread_.begin(), end);
  unread_.erase(unread_.begin(), end);
  return all;
}

std::vector<std::byte> RawSocket::read_to_end() {
  while (receive()) {
  }
  return std::exchange(unread_, {});
}

RawListener::RawListener() : listener_(BlockingListener::open({Address::loopback(Family::kIpv4), 0}).value()) {}

RawSocket RawListener::accept() const { return RawSocket(listener_.accept(in_a_minute()).value()); }

}  // namespace weft::recordings
