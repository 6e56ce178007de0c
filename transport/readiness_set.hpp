// SPDX-License-Identifier: Apache-2.0
// Readiness of many established sockets, with interest that is enabled and disabled per socket.
//
// Why not Asio's sockets: Asio registers every descriptor edge-triggered for its whole life and wakes its thread at
// each arrival, even if none of its threads is to read that socket. An application that spins in poll_cq() reads it
// itself; a progress thread woken for the same octets takes a core, and often a lock, from it. Here, the kernel wakes
// no thread for a socket without interest. docs/decisions/0003-readiness.md has the details.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <span>
#include <system_error>
#include <utility>

#include "transport/socket.hpp"

namespace weft::transport {

// Selects what is reported. Readiness is level-triggered: it is reported again until the socket was read or written, or
// the interest was removed.
struct Interest {
  bool read = false;
  bool write = false;
  bool end = false;  // the FIN of the peer, for a socket that is neither read nor written; reported once
  bool operator==(const Interest&) const = default;
};

inline constexpr Interest kNoInterest{};
inline constexpr Interest kReadInterest{.read = true};

struct Ready {
  std::uint64_t token{};
  bool readable{};  // octets, or the FIN of the peer
  bool writable{};
  bool hangup{};  // reset, error, end of both directions, or the requested end; all but the last are
                  // also reported without interest, but then only once
};

// add, modify, remove and wait are thread-safe. A wait() concurrent with a remove() may still return the removed token:
// let tokens identify connections in a table instead of pointing at them.
class ReadinessSet {
 public:
  [[nodiscard]] static std::expected<ReadinessSet, std::error_code> create();
  ~ReadinessSet();
  ReadinessSet(ReadinessSet&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  ReadinessSet& operator=(ReadinessSet&& other) noexcept;

  std::error_code add(const Socket& socket, std::uint64_t token, Interest interest) noexcept;
  // Watches any other readable descriptor, such as an eventfd, which must remain open as long as the set.
  std::error_code watch(int descriptor, std::uint64_t token) noexcept;
  // Reports each arrival once, and not again while it waits to be read: for the connections of a listening socket.
  std::error_code add_edges(const Socket& socket, std::uint64_t token) noexcept;
  // Re-arms the edge-triggered notification: reports once more what waits there.
  std::error_code repeat_edge(const Socket& socket, std::uint64_t token) noexcept;
  std::error_code modify(const Socket& socket, std::uint64_t token, Interest interest) noexcept;
  // Call it before closing the socket: a forked child may keep the connection, and so the registration, alive.
  std::error_code remove(const Socket& socket) noexcept;

  // Fills the front of `ready` (at most kMaxReady entries) and returns their number; 0 after `timeout`. If more sockets
  // are ready, successive calls rotate over all of them. It is a cancellation point, so it is not noexcept.
  static constexpr std::size_t kMaxReady = 64;
  static constexpr std::chrono::milliseconds kForEver{-1};
  [[nodiscard]] std::size_t wait(std::span<Ready> ready, std::chrono::milliseconds timeout = {});

  // Returns whether wait() would return something. Consumes nothing, not even what is reported only once.
  [[nodiscard]] bool any_ready() const;
  // After this thread's wait() returned 0: returns false if the application had closed the descriptor, or if it
  // referred to another file. A second epoll_wait() would consume what is reported only once, such as a listener's
  // connection.
  [[nodiscard]] static bool was_there() noexcept;
  [[nodiscard]] int descriptor() const noexcept { return descriptor_; }  // readable while wait() would return something

 private:
  explicit ReadinessSet(int descriptor) noexcept : descriptor_(descriptor) {}
  int descriptor_ = -1;
};

}  // namespace weft::transport
