// SPDX-License-Identifier: Apache-2.0
// The prober's TCP sockets, and the peer's address that a listening one keeps to.
#pragma once

#include <expected>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "transport/blocking_socket.hpp"

namespace weft::probe {

using Socket = transport::BlockingSocket;
// What the prober wants of a connection before its SYN.
using SocketWish = transport::SocketOptions;

[[nodiscard]] inline Instant now() noexcept { return transport::steady_now(); }

// A sentence where it fails: "nothing is listening on 192.0.2.7:4420", "192.0.2.7 cannot be reached: ...".
[[nodiscard]] std::expected<std::unique_ptr<Socket>, std::string> connect_to(const transport::Endpoint& peer,
                                                                             Instant deadline,
                                                                             const SocketWish& wish = {});

// Accepts connections of one address alone: the one given, else that of the first one that comes. Others are reset at
// once, so that no octet goes to any other address.
class ListeningSocket {
 public:
  [[nodiscard]] static std::expected<std::unique_ptr<ListeningSocket>, std::string> open(
      const transport::Endpoint& at, const std::optional<transport::Address>& from = {});
  ListeningSocket(transport::BlockingListener listener, const std::optional<transport::Address>& from)
      : listener_(std::move(listener)), from_(from) {}

  [[nodiscard]] const transport::Endpoint& local() const noexcept { return listener_.local(); }
  // Empty: none came until the deadline. Safe for threads: each connection goes to one caller.
  std::unique_ptr<Socket> accept(Instant deadline);

 private:
  bool may_come(const transport::Address& address);

  transport::BlockingListener listener_;
  std::mutex mutex_{};
  std::optional<transport::Address> from_;  // under mutex_
};

}  // namespace weft::probe
