// SPDX-License-Identifier: Apache-2.0
// Plain TCP for peers that are not weft. What fails, or takes a minute, is thrown.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "transport/blocking_socket.hpp"

namespace weft::test {

inline Instant in_a_minute() { return transport::steady_now() + std::chrono::minutes(1); }

class RawSocket : public transport::BlockingSocket {
 public:
  explicit RawSocket(BlockingSocket socket) noexcept : BlockingSocket(std::move(socket)) {}
  // Connects, and says something if there is anything to say.
  explicit RawSocket(const transport::Endpoint& server, std::string_view text = {})
      : BlockingSocket(connect(server, in_a_minute()).value()) {
    say(text);
  }

  void send(Bytes octets) {
    if (!BlockingSocket::send(octets, in_a_minute())) throw std::runtime_error("the peer takes no octets");
  }
  void say(std::string_view text) { send(std::as_bytes(std::span(text))); }
  [[nodiscard]] std::vector<std::byte> read(std::size_t octets) {
    while (unread_.size() < octets) {
      if (!receive()) throw std::runtime_error("the peer closed too early");
    }
    const auto end = unread_.begin() + static_cast<std::ptrdiff_t>(octets);
    std::vector<std::byte> all(unread_.begin(), end);
    unread_.erase(unread_.begin(), end);
    return all;
  }
  [[nodiscard]] std::string hear(std::size_t octets) {
    const auto heard = read(octets);
    return {reinterpret_cast<const char*>(heard.data()), heard.size()};
  }
  // What comes before the peer's FIN.
  std::vector<std::byte> read_to_end() {
    while (receive()) {
    }
    return std::exchange(unread_, {});
  }
  // Waits for the end, a FIN or a reset.
  [[nodiscard]] bool ends() {
    Got got{};
    while ((got = BlockingSocket::receive(unread_, in_a_minute())) == Got::kOctets) {
    }
    return got != Got::kNothing;
  }
  [[nodiscard]] std::uint16_t port() const { return local().value().port; }

 private:
  // False: the peer's FIN.
  bool receive() {
    const auto got = BlockingSocket::receive(unread_, in_a_minute());
    if (got == Got::kReset || got == Got::kNothing) throw std::runtime_error("the peer is silent, or has reset");
    return got == Got::kOctets;
  }
  std::vector<std::byte> unread_{};
};

// At a free port of 127.0.0.1.
class RawListener {
 public:
  [[nodiscard]] const transport::Endpoint& local() const noexcept { return listener_.local(); }
  [[nodiscard]] RawSocket accept() const { return RawSocket(listener_.accept(in_a_minute()).value()); }

 private:
  transport::BlockingListener listener_ =
      transport::BlockingListener::open({transport::Address::loopback(transport::Family::kIpv4), 0}).value();
};

}  // namespace weft::test
