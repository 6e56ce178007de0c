// SPDX-License-Identifier: Apache-2.0
// A thread that answers the requests of all listeners of the process as they come, as the kernel does for its sockets:
// a peer is connected at once, and raccept takes the connection when the program gets to it.
//
// Locks: the acceptor's, then a listener's. The thread holds neither while it answers.
#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "compat/rsockets/socket.hpp"

namespace weft::compat::rsockets {

class Acceptor {
 public:
  // The one of this process, which is never destroyed. Its thread starts with the first listener.
  static Acceptor& of_process();
  // In a child of fork(): the thread is the parent's.
  static void leave_to_parent() noexcept;

  // From now on its requests are answered.
  void watch(const std::shared_ptr<Socket>& listener);
  // A place among its accepted connections is free again, or it accepts again. Under its lock.
  void resume(Socket& listener) noexcept;
  // When this returns, the thread does not use the listener of this channel and will not: its port is free once the
  // caller lets go of it.
  void forget(int channel);

 private:
  struct Request {
    std::shared_ptr<Socket> connection{};  // to be
    verbs::ConnectionEvent event{};
  };

  Acceptor();
  void run() noexcept;
  void serve(int channel);
  enum class Nothing : std::uint8_t { kToTake, kToTakeItWith };
  std::expected<Request, Nothing> take(int channel);
  void give(int channel, std::shared_ptr<Socket> connection);
  void arm(int channel) const noexcept;

  const int set_;  // epoll, of the listeners' channels; each is armed for one event at a time
  std::mutex mutex_{};
  bool runs_ = false;
  std::unordered_map<int, std::weak_ptr<Socket>> listeners_{};  // by their channel
};

}  // namespace weft::compat::rsockets
