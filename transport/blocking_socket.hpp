// SPDX-License-Identifier: Apache-2.0
// TCP sockets whose calls wait until a deadline, for programs that send octets of their own: the prober and the
// recordings. The live stack does not wait in sockets.
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "common/instant.hpp"
#include "transport/socket.hpp"

namespace weft::transport {

// Returns the time of CLOCK_MONOTONIC, of which deadlines are.
[[nodiscard]] Instant steady_now() noexcept;

// A connected socket. Not thread-safe.
class BlockingSocket : public Socket {
 public:
  // Takes over a connected descriptor.
  explicit BlockingSocket(int descriptor) noexcept : Socket(own(descriptor)) {}
  // Connects. `options` are set before the SYN is sent.
  // Fails with timed_out at the deadline, and with connection_refused also if the connection would be to itself.
  [[nodiscard]] static std::expected<BlockingSocket, std::error_code> connect(const Endpoint& peer, Instant deadline,
                                                                              const SocketOptions& options = {});

  // How a receive() ended: octets were appended, the peer's FIN, the loss of the connection, or the deadline.
  enum class Got : std::uint8_t { kOctets, kFin, kReset, kNothing };
  // Appends what there is to `octets`, at least one octet and at most 64 KiB.
  Got receive(std::vector<std::byte>& octets, Instant deadline);
  // Waits for the end of the connection, or of the peer's direction. Returns false if neither comes by the deadline.
  // Reads nothing.
  [[nodiscard]] bool ends_by(Instant deadline) const noexcept;
  // Sends all octets. Returns false if the connection is lost, or if the peer does not take all of them by the
  // deadline.
  bool send(Bytes octets, Instant deadline);
};

// Accepts connections. accept() is thread-safe: each connection is returned to one caller.
class BlockingListener {
 public:
  // Listens. Port 0 selects a free port.
  [[nodiscard]] static std::expected<BlockingListener, std::error_code> open(const Endpoint& at);
  // Returns the address and the actual port.
  [[nodiscard]] const Endpoint& local() const noexcept { return local_; }
  // Returns nothing if no connection comes by the deadline, or if the listener can accept none: it has failed, or no
  // descriptor or memory is available.
  [[nodiscard]] std::optional<BlockingSocket> accept(Instant deadline) const;

 private:
  BlockingListener(Socket socket, const Endpoint& local) noexcept : socket_(std::move(socket)), local_(local) {}
  Socket socket_;
  Endpoint local_;
};

}  // namespace weft::transport
