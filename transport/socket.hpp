// SPDX-License-Identifier: Apache-2.0
// An established TCP connection as the data path sees it: two system calls, no buffering, no waiting, no callbacks.
// System calls are what a small message costs, so nothing stands between the engine's octets and the kernel.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <string>
#include <system_error>
#include <utility>

#include "common/wire.hpp"
#include "transport/endpoint.hpp"

namespace weft::transport {

// What one read or write did.
struct IoResult {
  enum class Status : std::uint8_t {
    kMoved,        // `octets` went through; fewer than asked for is normal
    kWouldBlock,   // nothing to read, or no room to write: wait for readiness
    kEndOfStream,  // read only: the peer's FIN
    kLost,         // the connection is gone; `error` says why (reset, time-out, broken pipe ...)
    kSecured,      // read of a Pipe only: the peer has proved who it is; no octet came yet
  } status{};
  std::size_t octets = 0;
  std::error_code error{};
};

// Probes on an idle connection: the first after `idle`, then one each `interval`, lost after `probes` without an
// answer.
struct KeepAlive {
  std::chrono::seconds idle{60};
  std::chrono::seconds interval{10};
  int probes = 6;
};

// What is absent stays as the system has it. TCP_NODELAY is not here because it is always on.
struct SocketOptions {
  std::optional<KeepAlive> keepalive{};
  std::optional<std::chrono::milliseconds> user_timeout{};  // sent octets unacknowledged for longer: lost (RFC 5482)
  std::optional<int> send_buffer{};                         // octets; setting one turns the kernel's auto-tuning off
  std::optional<int> receive_buffer{};  // give it to Listener or Connector: window scale is fixed by the SYN
  // DSCP, the upper six bits of IPv4's TOS and IPv6's traffic class; the lower two (ECN) stay the kernel's
  std::optional<std::uint8_t> type_of_service{};
  std::string congestion_control{};  // TCP's, by its name; absent when it is empty
};

// Whether the system has a congestion control of this name and lets the process use it.
std::error_code check_congestion_control(const std::string& name) noexcept;

// For sockets that are not connected yet: IP_TOS, and IPV6_TCLASS where the socket is IPv6.
std::error_code set_type_of_service(int descriptor, std::uint8_t octet) noexcept;

// Move-only owner of a descriptor. read() and write() may run in two threads at once; everything that ends or replaces
// the descriptor (close, reset, move, destructor) may not run beside them. Remove a socket from its ReadinessSet first.
class Socket {
 public:
  static constexpr std::size_t kMaxPieces = 256;  // of one write

  Socket() = default;
  ~Socket() { close(); }
  Socket(Socket&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  Socket& operator=(Socket&& other) noexcept;

  // Takes over a connected TCP socket: makes it non-blocking, close-on-exec and TCP_NODELAY. Closes it on failure.
  // For tests: weft makes its sockets so.
  [[nodiscard]] static std::expected<Socket, std::error_code> adopt(int descriptor);
  // The same of one that has all three already: made so, or accepted from a listener that is TCP_NODELAY.
  [[nodiscard]] static Socket own(int descriptor) noexcept { return Socket(descriptor); }
  [[nodiscard]] int release() noexcept { return std::exchange(descriptor_, -1); }
  [[nodiscard]] std::error_code set_no_delay() noexcept;  // MPA-A.2-01

  [[nodiscard]] bool is_open() const noexcept { return descriptor_ >= 0; }
  [[nodiscard]] int descriptor() const noexcept { return descriptor_; }

  // --- Data path
  [[nodiscard]] IoResult read(MutableBytes into) noexcept;
  // The same to two places, the second when the first, which is not empty, is full.
  [[nodiscard]] IoResult read(MutableBytes first, MutableBytes second) noexcept;
  // The same, and the octets stay where they are.
  [[nodiscard]] IoResult peek(MutableBytes into) noexcept;
  // Writes the pieces as one run of octets with one sendmsg. Pieces behind the first kMaxPieces wait for the next call.
  [[nodiscard]] IoResult write(std::span<const Bytes> pieces) noexcept;

  // --- Ending
  void shutdown_write() noexcept;  // FIN behind what was written; reading goes on
  void close() noexcept;           // FIN in the background (the kernel sends RST if octets were left unread)
  void reset() noexcept;           // RST at once; octets not yet sent are dropped

  // --- Options and queries
  std::error_code set(const SocketOptions& options) noexcept;
  [[nodiscard]] std::expected<Endpoint, std::error_code> local() const;
  [[nodiscard]] std::expected<Endpoint, std::error_code> peer() const;
  // Octets that TCP puts into one segment now, options subtracted: MPA's EMSS. It changes with path MTU and window, so
  // ask again before cutting a long message; the query is one short system call. 0 when the connection is gone.
  [[nodiscard]] std::uint32_t emss() const noexcept;
  // The peer's FIN has come, and all octets before it, read or not.
  [[nodiscard]] bool peer_has_closed() const noexcept;
  // Octets wait to be sent, and none is on its way: the peer's window is closed. Our FIN would be behind them.
  [[nodiscard]] bool peer_takes_nothing() const noexcept;
  // The error that the kernel holds for this connection, cleared by asking. Empty when there is none.
  [[nodiscard]] std::error_code pending_error() noexcept;
  // TCP_INFO of tcp(7): as much of a struct tcp_info as there is room for and the kernel knows. Returns how much; 0
  // when the connection is gone.
  [[nodiscard]] std::size_t tcp_info(MutableBytes into) const noexcept;
  // Whether there is something to read (octets, or the peer's FIN), or room to write, of what is asked for.
  [[nodiscard]] bool is_ready(bool to_read, bool to_write) const noexcept;

 private:
  IoResult write_one(Bytes piece) noexcept;
  explicit Socket(int descriptor) noexcept : descriptor_(descriptor) {}
  int descriptor_ = -1;
};

}  // namespace weft::transport
