// SPDX-License-Identifier: Apache-2.0
// Which of many established sockets can be read or written, with interest that is switched off and on per socket.
//
// Why not Asio's sockets: Asio registers every descriptor edge-triggered for its whole life and wakes its thread at
// each arrival, also when none of its threads is to read that socket. An application that spins in poll_cq reads it
// itself; a progress thread woken for the same octets takes a core, and often a lock, from it. Here interest off means
// that the kernel wakes no thread. docs/decisions/0003-readiness.md has the long version.
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

// Readiness is level-triggered: it is told again until the socket was read or written, or the interest is gone.
struct Interest {
  bool read = false;
  bool write = false;
  bool end = false;  // the peer's FIN, of a socket that is neither read nor written; told once
  bool operator==(const Interest&) const = default;
};

inline constexpr Interest kNoInterest{};
inline constexpr Interest kReadInterest{.read = true};

struct Ready {
  std::uint64_t token{};
  bool readable{};  // octets, or the peer's FIN
  bool writable{};
  bool hangup{};  // reset, error, both directions are over, or the end that was asked for. All but the last are told
                  // with no interest too, but then only once
};

// add, modify, remove and wait may be called from any threads at once. A wait that runs beside a remove may still
// return the removed token: let tokens name connections in a table, not point at them.
class ReadinessSet {
 public:
  [[nodiscard]] static std::expected<ReadinessSet, std::error_code> create();
  ~ReadinessSet();
  ReadinessSet(ReadinessSet&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  ReadinessSet& operator=(ReadinessSet&& other) noexcept;

  std::error_code add(const Socket& socket, std::uint64_t token, Interest interest) noexcept;
  // Any other descriptor that can be read, an eventfd for instance. It must be open as long as the set is.
  std::error_code watch(int descriptor, std::uint64_t token) noexcept;
  // Told once for each thing that comes, and not again while it waits to be read: a listening socket's connections.
  std::error_code add_edges(const Socket& socket, std::uint64_t token) noexcept;
  // What waits there is told once more.
  std::error_code repeat_edge(const Socket& socket, std::uint64_t token) noexcept;
  std::error_code modify(const Socket& socket, std::uint64_t token, Interest interest) noexcept;
  // Before the socket is closed: a forked child may keep the connection, and with it the registration, alive.
  std::error_code remove(const Socket& socket) noexcept;

  // Fills the front of `ready` (at most kMaxReady entries) and returns how many; 0 when `timeout` passed. With more
  // ready than room, calls take turns over all of them. A thread may be cancelled here, which unwinds it: no noexcept.
  static constexpr std::size_t kMaxReady = 64;
  static constexpr std::chrono::milliseconds kForEver{-1};
  [[nodiscard]] std::size_t wait(std::span<Ready> ready, std::chrono::milliseconds timeout = {});

  // Whether wait() would return something; takes nothing away, not even what is told only once.
  [[nodiscard]] bool any_ready() const;
  // False when the application has closed the descriptor, or it is another file's by now.
  [[nodiscard]] bool is_there() const noexcept;
  [[nodiscard]] int descriptor() const noexcept { return descriptor_; }  // readable while wait() would return something

 private:
  explicit ReadinessSet(int descriptor) noexcept : descriptor_(descriptor) {}
  int descriptor_ = -1;
};

}  // namespace weft::transport
