// SPDX-License-Identifier: Apache-2.0
// A TCP relay for programs that cannot wait until the other end listens: perftest connects twice, and its server
// listens anew in between. What was turned away before it heard a single octet is tried again, with all that was said
// so far.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

namespace weft::interop {

class Relay {
 public:
  // Takes connections on a port of 127.0.0.1 and passes them on to another one.
  explicit Relay(std::uint16_t to);
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;
  ~Relay();
  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
  // A connection stood for 3 s, and nothing came back.
  [[nodiscard]] bool met_silence() const noexcept { return met_silence_; }

 private:
  void take_connections(int listener);
  void serve(int client);
  int reach(int client);  // a connection on which the far end has answered; -1: given up
  int keep(int socket);   // until the end
  void drop(int socket);

  std::uint16_t to_;
  std::uint16_t port_ = 0;
  std::atomic<bool> over_ = false;
  std::atomic<bool> met_silence_ = false;
  std::mutex mutex_{};
  std::vector<int> sockets_{};
  std::vector<std::thread> connections_{};
  std::thread taker_{};
};

}  // namespace weft::interop
