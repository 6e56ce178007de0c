// SPDX-License-Identifier: Apache-2.0
// A thread that sleeps in the kernel until one of its sockets is ready, and tells who it is. Between the kernel's
// wake-up and the socket's read there is nothing else: no second descriptor to ask, none to register again.
#pragma once

#include <expected>
#include <functional>
#include <system_error>
#include <thread>

#include "transport/readiness_set.hpp"

namespace weft::transport {

class ReadinessThread {
 public:
  using Serve = std::move_only_function<void(const Ready&)>;

  // `serve` runs in the thread, one call at a time, again and again while a socket stays ready and its interest stands;
  // it must not throw. Fails when the process is out of descriptors.
  [[nodiscard]] static std::expected<ReadinessThread, std::error_code> create(Serve serve);
  ~ReadinessThread() { stop(); }
  ReadinessThread(ReadinessThread&& other) noexcept = default;  // before start()
  ReadinessThread& operator=(ReadinessThread&&) = delete;

  // All signals are blocked in the thread. Once.
  void start();
  // Waits for a call of `serve` under way; it is the last one. Not in the thread itself.
  void stop();
  // Sockets come and go in any thread. Tokens from 1 on.
  [[nodiscard]] ReadinessSet& sockets() noexcept { return sockets_; }

 private:
  class Bell {  // rung to end the thread
   public:
    Bell() noexcept;
    ~Bell();
    Bell(Bell&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
    Bell& operator=(Bell&&) = delete;
    void ring() const noexcept;
    [[nodiscard]] int descriptor() const noexcept { return descriptor_; }

   private:
    int descriptor_;
  };

  ReadinessThread(ReadinessSet sockets, Serve serve) noexcept
      : sockets_(std::move(sockets)), serve_(std::move(serve)) {}
  void run();

  Bell bell_{};
  ReadinessSet sockets_;
  Serve serve_;
  std::thread thread_{};
};

}  // namespace weft::transport
