// SPDX-License-Identifier: Apache-2.0
// Single keys from the terminal.
#pragma once

#include <termios.h>

#include <cstdint>
#include <optional>
#include <utility>

#include "tools/cli/outcome.hpp"

namespace weft::tools::explaining {

enum class Key : std::uint8_t { kNext, kBack, kFirst, kLast, kQuit, kOther };

// While it lives, the terminal on standard input gives each key at once and shows none. ^C and SIGTERM end the waiting
// for a key, so that the terminal is put right again (tools/cli/interruption.hpp); keys that would stop or kill the
// process on the spot mean nothing.
class KeyMode {
 public:
  [[nodiscard]] static Outcome<KeyMode> begin();
  ~KeyMode();
  KeyMode(KeyMode&& other) noexcept : before_(std::exchange(other.before_, std::nullopt)) {}
  KeyMode& operator=(KeyMode&&) = delete;

  // Waits for one. The end of the input is kQuit.
  [[nodiscard]] Outcome<Key> next() const;

 private:
  explicit KeyMode(const termios& before) noexcept : before_(before) {}

  std::optional<termios> before_;
};

}  // namespace weft::tools::explaining
