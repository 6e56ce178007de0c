// SPDX-License-Identifier: Apache-2.0
// A check for lost wake-ups in debug and test builds: every 15 ms, while threads of the application drive sockets or a
// progress thread rests, the timer's thread looks for a ready socket that no thread is bound to serve. It serves such a
// socket itself and logs it, because it is a defect of weft. An idle process runs no checks.
//
// A socket counts as forgotten if several consecutive checks over at least 50 ms find it ready, neither read nor
// written meanwhile, and without a progress thread or a waiting thread to wake for it. A polling thread does not count
// here: if it has gone, the tick should have returned its sockets long before.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <system_error>
#include <utility>
#include <vector>

#include "transport/reactor.hpp"
#include "transport/timer.hpp"

namespace weft::verbs::detail {

class Watchdog {
 public:
  using Clock = std::chrono::steady_clock;
  // Looks at some sockets, by sight() and forget(). False: there is nothing to be looked at any more.
  using Look = std::move_only_function<bool()>;

  explicit Watchdog(Look look) : look_(std::move(look)) { sights_.reserve(kMostSights); }

  // Before the first start(). Fails when the process is out of descriptors.
  [[nodiscard]] std::error_code open(transport::Reactor& reactor);
  // From any thread: beats until a look says that there is nothing to be looked at.
  void start();
  // In a child of fork(): the timer is the parent's.
  void leave_to_parent() noexcept { beats_ = true; }

  // --- Within a look, of each that is suspicious: what was so in the look before and is not looked at again has gone.
  // `moved`: the same number twice: no thread came.
  // True when the stream is forgotten by now.
  [[nodiscard]] bool sight(std::uint64_t stream, std::uint64_t moved, Clock::time_point now);
  // It is well.
  void forget(std::uint64_t stream);
  struct Sight {
    std::uint64_t stream{};
    std::uint64_t moved{};
    std::uint32_t looks{};
    Clock::time_point since{};
    bool here = true;  // in the last look
  };
  [[nodiscard]] std::span<const Sight> sights() const noexcept { return sights_; }  // the suspicious

  // --- Tests fail when anything was found.
  [[nodiscard]] static std::uint64_t found() noexcept;  // in this process, by all runtimes
  // Something is wrong, and mended: says so at level warn.
  static void report(const char* what);

 private:
  static constexpr std::chrono::milliseconds kBeat{15};
  static constexpr std::size_t kMostSights = 64;  // further ones have to wait
  static constexpr std::chrono::milliseconds kForgotten{50};
  // The same thread serves the alarm of the tick: between this number of checks the alarm has fired several times,
  // however late that thread gets a processor.
  static constexpr std::uint32_t kLooks = 4;

  void beat();
  [[nodiscard]] bool look();
  void wait();

  Look look_;
  std::optional<transport::Timer> timer_;
  std::atomic<bool> beats_{false};
  std::vector<Sight> sights_;  // the timer's thread alone
};

}  // namespace weft::verbs::detail
