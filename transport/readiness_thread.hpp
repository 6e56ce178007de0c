// SPDX-License-Identifier: Apache-2.0
// A thread that sleeps in the kernel until one of its sockets is ready, and tells which. Between the kernel's
// wake-up and the socket's read there is nothing else: no second descriptor to ask, none to register again.
//
// Where processors are few and other threads keep them busy, it may have to wait for one. A thread that has nothing
// better to do can help it out then.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <system_error>
#include <thread>
#include <unordered_map>

#include "transport/readiness_set.hpp"

namespace weft::transport {

class ReadinessThread {
 public:
  using Serve = std::move_only_function<void(const Ready&)>;

  // `serve` runs in the thread, or in one that helps, one call at a time, again and again while a socket stays ready
  // and its interest stands; it must not throw. Fails when the process is out of descriptors.
  [[nodiscard]] static std::expected<ReadinessThread, std::error_code> create(Serve serve);
  ~ReadinessThread() { stop(); }
  ReadinessThread(ReadinessThread&& other) noexcept = default;  // before start()
  ReadinessThread& operator=(ReadinessThread&&) = delete;

  // Signals are blocked in the thread, those of faults excepted, and it calls `first` before all else. Once. It calls
  // `gone` and ends when the application has closed its descriptors: from then on no socket is served.
  void start(std::function<void()> first = {}, std::function<void()> gone = {});
  // Waits for a call of `serve` under way; it is the last one. Not in the thread itself.
  void stop();

  // --- Sockets for `serve` come and go in any thread. Tokens from 1 on, and below kFirstVisitor.
  std::error_code add(const Socket& socket, std::uint64_t token, Interest interest) noexcept;
  std::error_code modify(const Socket& socket, std::uint64_t token, Interest interest) noexcept {
    return sockets_.modify(socket, token, interest);
  }
  void remove(const Socket& socket) noexcept;  // that was added
  // Also those that no Interest is left in.
  [[nodiscard]] bool serves_any() const noexcept { return serving_->sockets.load(std::memory_order_relaxed) != 0; }

  // From rest() on the thread sleeps, and a thread that helps serves instead of it, until resume(). In any thread.
  // Behind rest() only a call of `serve` may still be under way: serve_one() and help() wait for it or leave.
  void rest();
  void resume();
  [[nodiscard]] bool rests() const noexcept { return serving_->duty == Duty::kRest; }
  // A call of `serve` is under way, in whichever thread: perhaps it has lost its processor. In a thread without such a call.
  [[nodiscard]] bool serves_now() const noexcept;
  // In any other thread, which holds no lock that `serve` or a visitor takes. Serves some that are ready, `most` of
  // them, when the thread rests, or has had no turn for `late` since something was; does not wait. Neither beside nor
  // behind stop().
  void help(std::chrono::microseconds late, std::size_t most);
  // In any other thread, under the same rules: serves one of those that are ready, whether the thread rests or not.
  // False when there is none. The descriptor is readable while there is one.
  bool serve_one();
  [[nodiscard]] int descriptor() const noexcept { return sockets_.descriptor(); }

  // --- Sockets that are not for `serve`: a listener's
  static constexpr std::uint64_t kFirstVisitor = 1ULL << 63;
  using Come = std::function<void()>;
  // Has `come` called in the thread each time that something comes, and now if something is there. Returns its token.
  [[nodiscard]] std::expected<std::uint64_t, std::error_code> visit(const Socket& socket, Come come);
  // Has it called once more if something is still there.
  void call_again(const Socket& socket, std::uint64_t token) noexcept { sockets_.repeat_edge(socket, token); }
  // A call may be under way, or about to be made: it is the last one. Before the socket is closed.
  void leave(const Socket& socket, std::uint64_t token);

 private:
  class Bell {  // rung to tell the thread that it is to do something else
   public:
    Bell() noexcept;
    ~Bell();
    Bell(Bell&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
    Bell& operator=(Bell&&) = delete;
    void ring() const noexcept;
    void silence() const noexcept;
    [[nodiscard]] int descriptor() const noexcept { return descriptor_; }

   private:
    int descriptor_;
  };

  ReadinessThread(ReadinessSet sockets, Serve serve) noexcept
      : sockets_(std::move(sockets)), serve_(std::move(serve)) {}
  enum class Duty : int { kServe, kRest, kEnd };
  void run();
  void serve(std::span<const Ready> ready, auto may_serve);
  void change(Duty duty);
  void call(std::uint64_t visitor);
  [[nodiscard]] bool is_late(std::chrono::microseconds late);

  struct Serving {
    std::atomic<Duty> duty{Duty::kServe};
    std::atomic<bool> gone{false};  // the descriptors
    std::atomic<std::size_t> sockets{0};
    std::mutex mutex{};  // of the thread that serves, and of what follows
    // The first look since the thread's last turn that found something ready was then.
    std::optional<std::chrono::steady_clock::time_point> late_since{};
  };
  struct Visitors {
    std::mutex mutex{};
    std::uint64_t next = kFirstVisitor;
    std::unordered_map<std::uint64_t, std::shared_ptr<const Come>> come{};
  };

  Bell bell_{};
  std::unique_ptr<Serving> serving_ = std::make_unique<Serving>();
  std::unique_ptr<Visitors> visitors_ = std::make_unique<Visitors>();
  ReadinessSet sockets_;
  Serve serve_;
  std::thread thread_{};
};

}  // namespace weft::transport
