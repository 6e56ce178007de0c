// SPDX-License-Identifier: Apache-2.0
// The event loop of the slow path: the only place where its thread blocks, and the origin of all callbacks of timers,
// connectors and resolvers. It hides Asio from all other code.
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

// Objects created with a Reactor (Timer, Listener, Connector, Resolver) must be destroyed before it. They follow these
// rules:
//   * Their callbacks run in the thread that is in run(), one at a time, and never inside the call that started them.
//   * They may be used and destroyed in any thread. Once the destructor has returned, the callback does not run any
//     more. The destructor therefore waits for a callback that runs in another thread: hold no lock that the callback
//     takes. A callback may destroy its own object and then runs to its end.
//   * Callbacks must not throw.
class Reactor {
 public:
  // Fails if the process cannot open another descriptor.
  [[nodiscard]] static std::expected<Reactor, std::error_code> create();
  ~Reactor();
  Reactor(Reactor&&) noexcept;
  Reactor& operator=(Reactor&&) noexcept;

  // Runs callbacks until stop(), and blocks in the kernel while there are none. One thread at a time. The calling
  // thread should have blocked all signals. May be called again after it returned.
  void run();
  // Makes the current run(), or else the next one, return soon. Thread-safe, and allowed in callbacks and before run().
  // Callbacks that did not run are left to the run() after that.
  void stop() noexcept;
  // Runs a task in the thread that is in run(), after the tasks posted before. Thread-safe. Tasks that did not run are
  // destroyed with the reactor.
  void post(Task task);
  void post_later(Task task, std::chrono::milliseconds delay);

  // For the classes of this module.
  [[nodiscard]] detail::ReactorState& state() noexcept { return *state_; }

 private:
  [[nodiscard]] bool run_some();
  explicit Reactor(std::unique_ptr<detail::ReactorState> state) noexcept;
  std::unique_ptr<detail::ReactorState> state_;
};

}  // namespace weft::transport
