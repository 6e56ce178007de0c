// SPDX-License-Identifier: Apache-2.0
// Connections that the program has closed without waiting for the peer, as close(2) does: a thread sends what is left,
// tells the peer, and frees them. Their number and their time are bounded, because the peer decides how long it takes.
//
// Locks: the closer's and a socket's are never held together by the thread; rclose asks for the closer's under the
// socket's.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "compat/rsockets/socket.hpp"

namespace weft::compat::rsockets {

// The end of a connection, one step after another. Under the socket's lock.
class Ending {
 public:
  explicit Ending(Deadline until) : until_(until) {}
  // Returns true if nothing is left to wait for, or the time is over. Otherwise, call it again after something has
  // happened, or at until().
  bool step(Socket& self);
  [[nodiscard]] const Deadline& until() const noexcept { return until_; }
  // Everything has arrived at the peer, which has only to close as well.
  [[nodiscard]] bool sent() const noexcept { return sent_; }

 private:
  Deadline until_;
  bool sent_ = false;
};

class Closer {
 public:
  // The one of this process, which is never destroyed. Its thread starts with the first connection.
  static Closer& of_process();
  // In a child of fork(): the thread and the connections are the parent's.
  static void leave_to_parent() noexcept;
  // Returns how many connections it has at most: they need descriptors, and the program needs some as well.
  static std::size_t most() noexcept;
  // Returns how many there are now, of this process. Takes no lock.
  static std::size_t count() noexcept;

  // Returns false if the caller has to finish it. When there are too many, another one ends at once: one that has only
  // to wait for its peer, or else the oldest one, which is reset.
  bool take(const std::shared_ptr<Socket>& socket, const Ending& ending) noexcept;

 private:
  struct Closing;
  enum class State : std::uint8_t { kOver, kCalm, kBusy };

  bool start();
  std::shared_ptr<Closing> oust();
  void forget(const std::shared_ptr<Closing>& one);
  void run() noexcept;
  void round();
  static State step(Closing& one) noexcept;

  std::mutex mutex_{};
  std::vector<std::shared_ptr<Closing>> ones_{};  // the oldest first
  std::optional<Flag> changed_{};                 // raised when one was added
};

}  // namespace weft::compat::rsockets
