// SPDX-License-Identifier: Apache-2.0
// Plain TCP for peers that are not weft. What fails, or takes a minute, is thrown.
#pragma once

#include <cstddef>
#include <vector>

#include "transport/blocking_socket.hpp"

namespace weft::recordings {

class RawSocket {
 public:
  explicit RawSocket(transport::BlockingSocket socket) noexcept : socket_(std::move(socket)) {}
  [[nodiscard]] static RawSocket dial(const transport::Endpoint& server);

  void send(Bytes octets);
  void finish() noexcept { socket_.shutdown_write(); }
  [[nodiscard]] std::vector<std::byte> read(std::size_t octets);
  [[nodiscard]] std::vector<std::byte> read_to_end();

 private:
  bool receive();  // false: the peer's FIN

  transport::BlockingSocket socket_;
  std::vector<std::byte> unread_{};
};

class RawListener {
 public:
  RawListener();  // on 127.0.0.1
  [[nodiscard]] const transport::Endpoint& local() const noexcept { return listener_.local(); }
  [[nodiscard]] RawSocket accept() const;

 private:
  transport::BlockingListener listener_;
};

}  // namespace weft::recordings
