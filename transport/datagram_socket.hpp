// SPDX-License-Identifier: Apache-2.0
// A UDP socket on the data path: one system call for a datagram, without buffering, waiting or callbacks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <system_error>

#include "common/wire.hpp"
#include "transport/endpoint.hpp"
#include "transport/socket.hpp"

namespace weft::transport {

class DatagramSocket {
 public:
  // Non-blocking, with buffers as large as the system permits. Port 0 selects a free one.
  // What it sends to a multicast group leaves by the interface of its address.
  [[nodiscard]] static std::expected<DatagramSocket, std::error_code> bind(const Endpoint& at);
  // Receives what is sent to this port of a multicast group, and nothing else, by the interface that owns `interface`.
  // Other sockets may have the same group and port: each receives its own copy.
  [[nodiscard]] static std::expected<DatagramSocket, std::error_code> join(const Endpoint& group,
                                                                           const Address& interface);

  [[nodiscard]] const Endpoint& local() const noexcept { return local_; }
  // For sets of sockets that are watched, and for the end.
  [[nodiscard]] Socket& socket() noexcept { return socket_; }
  [[nodiscard]] const Socket& socket() const noexcept { return socket_; }

  // Gives one datagram to the kernel, which may drop it. An error says that it did not take it. `hop_limit`: of a
  // datagram to a multicast group, of which 0 and 1 stay on the network of the interface.
  std::error_code send(Bytes octets, const Endpoint& to, std::uint8_t hop_limit = 1) noexcept;

  struct Arrived {
    std::size_t octets = 0;  // more than fit: the rest is lost
    Endpoint from{};
  };
  // The next datagram; nothing when there is none. What the network reports of former datagrams is skipped.
  [[nodiscard]] std::optional<Arrived> receive(MutableBytes into) noexcept;

 private:
  DatagramSocket(Socket socket, const Endpoint& local) noexcept : socket_(std::move(socket)), local_(local) {}

  bool limit_hops(int limit) noexcept;

  Socket socket_;
  Endpoint local_;
  int hop_limit_ = 1;  // of the socket, for multicast groups
};

}  // namespace weft::transport
