// SPDX-License-Identifier: Apache-2.0
// The progress threads, over which connections and listeners are distributed, and the threads of the application that
// take over their sockets: see relief().
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "transport/readiness_thread.hpp"
#include "verbs/error.hpp"

namespace weft::verbs::detail {

class ProgressThreads {
 public:
  // Serves a socket. True when a message came for an established connection.
  using Serve = std::function<bool(const transport::Ready&)>;

  // `threads` of them, not started yet.
  [[nodiscard]] Result<void> open(std::size_t threads, const Serve& serve);
  // Each calls `first` before all else, and `gone` when the process has closed their descriptors.
  void start(const std::function<void()>& first, const std::function<void()>& gone);
  void stop();
  // Returns whether the process has closed their descriptors. A thread that slept on one then sleeps forever: nothing
  // wakes it.
  [[nodiscard]] bool are_cut_off() const noexcept;

  // Where the listener of this number listens, or the stream of this number has its home (but see
  // SocketWatch::move_to).
  [[nodiscard]] transport::ReadinessThread& of(std::uint64_t number) noexcept {
    return threads_[number % threads_.size()];
  }

  // --- Pollers
  // By one that finds nothing: serves sockets of threads that rest, or get no processor.
  void help();
  // One leaves: whether others have time is not known before the next tick.
  void poller_leaves();

  // --- The proxy
  // From here on the thread that calls serve_one() serves, and the progress thread rests, as relief() has it. False
  // when relief() says otherwise, or there is a proxy already.
  [[nodiscard]] bool proxy_comes();
  void proxy_leaves();
  bool serve_one() { return threads_.front().serve_one(); }  // false when nothing is ready
  [[nodiscard]] int descriptor() const noexcept { return threads_.front().descriptor(); }  // readable meanwhile
  // Around the sleep of a thread that is to be woken for an event of a set-up.
  void falls_asleep();
  void wakes_up() noexcept { --sleepers_; }

  // --- The tick
  void on_tick(bool pollers_have_time);

  // --- The watchdog
  [[nodiscard]] bool has_proxy() const noexcept { return proxy_ == ProxyState::kPresent; }
  [[nodiscard]] bool any_rests() const noexcept;
  void resume_all();

 private:
  enum class ProxyState : std::uint8_t { kNoThreads, kNone, kPresent };

  [[nodiscard]] bool messages() noexcept { return messages_.exchange(false); }

  std::vector<transport::ReadinessThread> threads_;
  std::atomic<ProxyState> proxy_{};
  std::atomic<bool> messages_{false};  // came since the last look
  std::atomic<int> sleepers_{0};
};

}  // namespace weft::verbs::detail
