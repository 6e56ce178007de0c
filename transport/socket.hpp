// SPDX-License-Identifier: Apache-2.0
// An established TCP connection on the data path: two system calls, without buffering, waiting or callbacks. System
// calls dominate the cost of a small message, so nothing else stands between the octets of the engine and the kernel.
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

// Holds the result of a read or write.
struct IoResult {
  enum class Status : std::uint8_t {
    kMoved,        // `octets` were moved; fewer than requested is normal
    kWouldBlock,   // nothing to read, or the send buffer is full: wait for readiness
    kEndOfStream,  // read: the FIN of the peer
    kLost,         // the connection is lost; `error` is the cause (reset, timeout, broken pipe ...)
    kSecured,      // read of a Pipe: the peer is authenticated; no octet has arrived yet
  } status{};
  std::size_t octets = 0;
  std::error_code error{};
};

// Probes of an idle connection: the first after `idle`, then one per `interval`; the connection is lost after `probes`
// without an answer.
struct KeepAlive {
  std::chrono::seconds idle{60};
  std::chrono::seconds interval{10};
  int probes = 6;
};

// Absent options keep the default of the system. TCP_NODELAY is always on.
struct SocketOptions {
  std::optional<KeepAlive> keepalive{};
  // Limit for unacknowledged octets, then the connection is lost (RFC 5482).
  std::optional<std::chrono::milliseconds> user_timeout{};
  std::optional<int> send_buffer{};     // octets; setting it disables the auto-tuning of the kernel
  std::optional<int> receive_buffer{};  // set it on the Listener or Connector: the SYN determines the window scale
  std::optional<int> max_segment{};     // limit for segments of both ends in octets (TCP_MAXSEG); set it before the SYN
  // DSCP, the upper six bits of the IPv4 TOS and the IPv6 traffic class; the lower two (ECN) are the kernel's
  std::optional<std::uint8_t> type_of_service{};
  std::string congestion_control{};  // name of the congestion control; empty: default
};

// Returns success if the system has this congestion control and the process may use it.
std::error_code check_congestion_control(const std::string& name) noexcept;

// For sockets that are not connected yet: sets IP_TOS, and IPV6_TCLASS for an IPv6 socket.
std::error_code set_type_of_service(int descriptor, std::uint8_t octet) noexcept;

// Owns a descriptor. read() and write() may run concurrently in two threads; everything that ends or replaces the
// descriptor (close, reset, move, destructor) must not run concurrently with them. Remove a socket from its
// ReadinessSet first.
class Socket {
 public:
  static constexpr std::size_t kMaxPieces = 256;  // maximum of pieces in one write

  Socket() = default;
  ~Socket() { close(); }
  Socket(Socket&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  Socket& operator=(Socket&& other) noexcept;

  // Takes over a connected TCP socket and makes it non-blocking, close-on-exec and TCP_NODELAY. Closes it on failure.
  // For tests: weft creates its sockets with these properties.
  [[nodiscard]] static std::expected<Socket, std::error_code> adopt(int descriptor);
  // Takes over a socket that has these properties already: created so, or accepted from a listener with TCP_NODELAY.
  [[nodiscard]] static Socket own(int descriptor) noexcept { return Socket(descriptor); }
  [[nodiscard]] int release() noexcept { return std::exchange(descriptor_, -1); }
  [[nodiscard]] std::error_code set_no_delay() noexcept;  // MPA-A.2-01

  [[nodiscard]] bool is_open() const noexcept { return descriptor_ >= 0; }
  [[nodiscard]] int descriptor() const noexcept { return descriptor_; }

  // --- Data path
  [[nodiscard]] IoResult read(MutableBytes into) noexcept;
  // Reads to two places: to the second once the first, which must not be empty, is full.
  [[nodiscard]] IoResult read(MutableBytes first, MutableBytes second) noexcept;
  // Reads without removing the octets.
  [[nodiscard]] IoResult peek(MutableBytes into) noexcept;
  // Writes contiguous octets with one sendmsg(). Pieces after the first kMaxPieces are left to the next call.
  [[nodiscard]] IoResult write(std::span<const Bytes> pieces) noexcept;

  // --- Ending
  // Sends the FIN after what was written; reading continues.
  void shutdown_write() noexcept;
  // FIN in the background (the kernel sends RST if octets were left unread).
  void close() noexcept;
  // RST at once; octets not yet sent are dropped.
  void reset() noexcept;

  // --- Options and queries
  std::error_code set(const SocketOptions& options) noexcept;
  [[nodiscard]] std::expected<Endpoint, std::error_code> local() const;
  [[nodiscard]] std::expected<Endpoint, std::error_code> peer() const;
  // Returns how many octets TCP currently puts into one segment, less options: the EMSS of MPA. It changes with path
  // MTU and window, so query it again before cutting a long message; the query is one short system call. 0 if the
  // connection is lost.
  [[nodiscard]] std::uint32_t emss() const noexcept;
  // Returns whether the FIN of the peer and all octets before it have arrived, read or not.
  [[nodiscard]] bool peer_has_closed() const noexcept;
  // Returns whether octets wait to be sent and none is in flight: the window of the peer is closed. The local FIN would
  // follow them.
  [[nodiscard]] bool peer_takes_nothing() const noexcept;
  // Returns how many octets that were written the peer has not acknowledged, or were not sent; 0 if unknown.
  [[nodiscard]] std::size_t unacknowledged() const noexcept;
  // Returns the smoothed round-trip time of the connection; 0 if unknown.
  [[nodiscard]] std::chrono::microseconds round_trip() const noexcept;
  // Returns and clears the error that the kernel holds for this connection, if any.
  [[nodiscard]] std::error_code pending_error() noexcept;
  // Copies the struct tcp_info of the connection (TCP_INFO, tcp(7)), truncated to the size of `into`. Returns the
  // number of octets; 0 if the connection is lost.
  [[nodiscard]] std::size_t tcp_info(MutableBytes into) const noexcept;
  // Returns whether the socket is readable (octets, or the FIN of the peer) or writable, as requested.
  [[nodiscard]] bool is_ready(bool to_read, bool to_write) const noexcept;

 private:
  IoResult write_one(Bytes piece) noexcept;
  explicit Socket(int descriptor) noexcept : descriptor_(descriptor) {}
  int descriptor_ = -1;
};

}  // namespace weft::transport
