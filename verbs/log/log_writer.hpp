// SPDX-License-Identifier: Apache-2.0
// The writer of log lines to standard error. A thread that logs may hold a stream's lock or serve a hundred
// connections, and standard error may be a pipe without a reader. So a line is put into a bounded queue, and a
// dedicated thread, for which no other thread waits, writes it. docs/decisions/0008-log.md has the reasons.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/instant.hpp"

namespace weft::verbs::detail {

class LogWriter {
 public:
  // Called by the thread between two writes, with no lock held; may push lines. Returns when it is to be called again.
  // `last`: the process ends.
  using Between = std::optional<Instant> (*)(bool last);

  static constexpr std::size_t kMostPending = 1 << 20;  // octets

  // Writes to `descriptor`, which stays the caller's. The thread starts with the first line.
  explicit LogWriter(int descriptor, Between between = nullptr);
  ~LogWriter();  // what is pending may be lost
  LogWriter(const LogWriter&) = delete;
  LogWriter& operator=(const LogWriter&) = delete;

  // In any thread; neither blocks nor throws. Without a newline at its end. A line that the queue has no room for is
  // dropped and counted, and the count is written where it is missing.
  void push(std::string_view line) noexcept;
  // Has `between` called soon.
  void look_again() noexcept;
  // Waits until all lines so far are written, `patience` at most. False when they are not. Does not wait at all after
  // a wait that was in vain, until the descriptor takes something again.
  bool flush(std::chrono::milliseconds patience) noexcept;
  // The process ends: waits as long as the descriptor takes something, but not forever.
  void finish() noexcept;
  // In a child of fork(): its parent's lines, lock and thread are the parent's.
  void leave_to_parent();

 private:
  struct State {
    std::mutex mutex{};
    std::condition_variable work{};
    std::condition_variable written{};
    std::string pending{};
    std::uint64_t dropped = 0;            // after what is pending
    bool runs = false;                    // the thread
    bool busy = false;                    // and does not wait for work
    bool look = false;                    // `between` is to be called
    bool last = false;                    // the process ends
    bool over = false;                    // the thread is to end
    bool stuck = false;                   // a flush waited in vain
    std::atomic<std::uint64_t> moved{0};  // octets
  };

  static void run(const std::shared_ptr<State>& state, int descriptor, Between between);
  static std::optional<Instant> look(State& state, std::unique_lock<std::mutex>& lock, Between between);
  static void wait(State& state, std::unique_lock<std::mutex>& lock, std::optional<Instant> until);
  static std::string take(State& state);
  static void write(State& state, int descriptor, std::string_view octets) noexcept;
  void start_locked();

  const int descriptor_;
  const Between between_;
  std::shared_ptr<State> state_ = std::make_shared<State>();
  std::vector<std::shared_ptr<State>> parents_{};  // kept: a thread of the parent waits there
};

}  // namespace weft::verbs::detail
