// SPDX-License-Identifier: Apache-2.0
// The one place where the thread of the slow path blocks, and the origin of all its callbacks: timers, connectors,
// resolvers. Asio lies behind it and is seen nowhere else.
#pragma once

#include <chrono>
#include <expected>
#include <functional>
#include <memory>
#include <system_error>

namespace weft::transport {

using Task = std::move_only_function<void()>;

namespace detail {
struct ReactorState;
}

// Objects made with a Reactor (Timer, Listener, Connector, Resolver) must be destroyed before it.
// They share these rules:
//   * Their callbacks run in the thread that is inside run(), one at a time, never inside the call that started them.
//   * They may be used and destroyed in any thread. After the destructor has returned, the callback is not
//     running and will not run. To keep that promise the destructor waits for a callback that runs in another thread:
//     hold no lock that the callback takes. A callback may destroy its own object; it then runs to its end.
//   * Callbacks must not throw.
class Reactor {
 public:
  // Fails when the process is out of descriptors.
  [[nodiscard]] static std::expected<Reactor, std::error_code> create();
  ~Reactor();
  Reactor(Reactor&&) noexcept;
  Reactor& operator=(Reactor&&) noexcept;

  // Serves callbacks until stop(), and blocks in the kernel while there is nothing to do. One thread at a time.
  // The thread that calls it should have blocked all signals. May be called again after it returned.
  void run();
  // From any thread or callback, also before run(): the current, or else the next, run() returns soon. Callbacks that
  // did not get their turn wait for the run() after that.
  void stop() noexcept;
  // Runs the task in the thread inside run(), after the tasks posted before. From any thread. Tasks that never got
  // their turn are destroyed unrun with the reactor.
  void post(Task task);
  void post_later(Task task, std::chrono::milliseconds delay);

  [[nodiscard]] detail::ReactorState& state() noexcept { return *state_; }  // for the classes of this room

 private:
  [[nodiscard]] bool run_some();
  explicit Reactor(std::unique_ptr<detail::ReactorState> state) noexcept;
  std::unique_ptr<detail::ReactorState> state_;
};

}  // namespace weft::transport
