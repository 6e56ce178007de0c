// SPDX-License-Identifier: Apache-2.0
// Private to transport/: the user's callback and the gate in front of it, which keeps the promise of reactor.hpp that a
// closed object never calls back.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

namespace weft::transport::detail {

// The mutex also guards the Asio object next to the gate, which is not thread-safe by itself. It is never held while
// the callback runs: a callback may use any reactor object, its own included, and so may other threads meanwhile.
template <typename... Args>
class CallbackGate {
 public:
  using Function = std::move_only_function<void(Args...)>;

  explicit CallbackGate(Function function) : function_(std::move(function)) {}

  [[nodiscard]] std::unique_lock<std::mutex> lock() { return std::unique_lock(mutex_); }
  [[nodiscard]] bool is_open(const std::unique_lock<std::mutex>&) const noexcept { return open_; }

  // Calls through, unless the gate is closed. `held` was taken from lock(), so a check made under it still holds when
  // the gate is passed; it is released. Returns whether the gate is open afterwards.
  bool call(std::unique_lock<std::mutex> held, Args... args) {
    if (!open_) return false;
    running_in_ = std::this_thread::get_id();
    held.unlock();
    try {
      function_(std::move(args)...);
    } catch (...) {
      end_call(held);
      throw;
    }
    end_call(held);
    if (open_) return true;
    Function dead = std::move(function_);  // dies after the lock: what it captured may take locks of its own
    held.unlock();
    return false;
  }

  // No callback starts from now on. Releases `held`. Returns when none is running, except the one that is calling this.
  void close(std::unique_lock<std::mutex> held) {
    open_ = false;
    idle_.wait(held, [this] { return running_in_ == std::thread::id{} || running_in_ == std::this_thread::get_id(); });
    if (running_in_ == std::this_thread::get_id()) return;  // call() above will drop the function
    Function dead = std::move(function_);
    held.unlock();
  }

 private:
  void end_call(std::unique_lock<std::mutex>& held) {
    held.lock();
    running_in_ = {};
    idle_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable idle_;
  Function function_;
  std::thread::id running_in_{};
  bool open_ = true;
};

}  // namespace weft::transport::detail
