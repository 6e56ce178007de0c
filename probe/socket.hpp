// SPDX-License-Identifier: Apache-2.0
// TCP sockets with deadlines for the prober: single octets, explicit resets, small segments.
#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "common/instant.hpp"
#include "common/wire.hpp"
#include "transport/endpoint.hpp"

namespace weft::probe {

[[nodiscard]] Instant now() noexcept;  // CLOCK_MONOTONIC

// A connected socket. Not safe for threads, but for shutdown by another process's end.
class Socket {
 public:
  explicit Socket(int descriptor) noexcept : descriptor_(descriptor) {}
  ~Socket();
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;

  enum class Got : std::uint8_t { kOctets, kFin, kReset, kNothing };
  // Appends received octets to `octets`. Waits until the deadline.
  Got receive(std::vector<std::byte>& octets, Instant deadline);
  // Returns false if the peer has reset the connection, or accepts nothing until the deadline.
  bool send(Bytes octets, Instant deadline);
  [[nodiscard]] bool is_over() const noexcept;                // the peer has ended its direction, or both
  void shut() noexcept;                                       // FIN
  void reset() noexcept;                                      // RST, and closed
  void segment_at_most(int octets) noexcept;                  // TCP_MAXSEG of what is sent
  void window_of(int octets) noexcept;                        // SO_RCVBUF
  [[nodiscard]] std::size_t unacknowledged() const noexcept;  // octets that were sent and the peer's TCP has not taken
  [[nodiscard]] transport::Endpoint local() const;
  [[nodiscard]] transport::Endpoint remote() const;

 private:
  int descriptor_;
};

// What the prober wants of a connection before its SYN.
struct SocketWish {
  std::optional<int> segment{};  // MSS that our SYN names
  std::optional<int> window{};   // receive buffer
};

// A sentence where it fails: "nobody listens at 192.0.2.7:4420", "192.0.2.7 cannot be reached: ...".
[[nodiscard]] std::expected<std::unique_ptr<Socket>, std::string> connect_to(const transport::Endpoint& peer,
                                                                             Instant deadline,
                                                                             const SocketWish& wish = {});

// Accepts connections of one address alone: the one given, else that of the first one that comes. Others are reset at once, so
// that no octet goes to any other address.
class ListeningSocket {
 public:
  [[nodiscard]] static std::expected<std::unique_ptr<ListeningSocket>, std::string> open(
      const transport::Endpoint& at, const std::optional<transport::Address>& from = {});
  explicit ListeningSocket(int descriptor, const std::optional<transport::Address>& from = {})
      : descriptor_(descriptor), from_(from) {}
  ~ListeningSocket();
  ListeningSocket(const ListeningSocket&) = delete;
  ListeningSocket& operator=(const ListeningSocket&) = delete;

  [[nodiscard]] transport::Endpoint local() const;
  // Empty: none came until the deadline. Safe for threads: each connection goes to one caller.
  std::unique_ptr<Socket> accept(Instant deadline);

 private:
  bool may_come(const transport::Address& address);

  int descriptor_;
  std::mutex mutex_{};
  std::optional<transport::Address> from_;  // under mutex_
};

}  // namespace weft::probe
