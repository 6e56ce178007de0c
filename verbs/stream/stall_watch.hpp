// SPDX-License-Identifier: Apache-2.0
// Detects that a stream has waited for the same thing for longer than the program allows (SEC-6.4.4-01). Reported once
// per stall: the stall ends when what is waited for changes or progresses. Time is an argument.
#pragma once

#include <cstdint>
#include <optional>

#include "common/instant.hpp"
#include "verbs/live_streams.hpp"

namespace weft::verbs::detail {

class StallWatch {
 public:
  explicit StallWatch(Duration patience) noexcept : patience_(patience) {}

  // What the stream waits for now, and a number that changes when that moves. True: it is to be told, and has_told() or
  // later() follows.
  [[nodiscard]] bool look(StreamWait wait, std::uint64_t moved, Instant now) noexcept {
    if (wait != wait_ || moved != moved_) {
      wait_ = wait;
      moved_ = moved;
      due_ = wait == StreamWait::kNothing ? std::nullopt : std::optional(now + patience_);
    }
    return due_ && *due_ <= now;
  }
  void has_told() noexcept { due_.reset(); }
  void later(Instant now) noexcept { due_ = now + patience_; }  // there was no room for it
  // Another stall of the same kind begins.
  void begin_anew() noexcept { wait_ = StreamWait::kNothing; }

  // When to look again, if nothing happens before.
  [[nodiscard]] std::optional<Instant> deadline() const noexcept { return due_; }

 private:
  const Duration patience_;
  StreamWait wait_{};
  std::uint64_t moved_ = 0;
  std::optional<Instant> due_{};
};

}  // namespace weft::verbs::detail
