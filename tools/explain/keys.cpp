// SPDX-License-Identifier: Apache-2.0
#include "tools/explain/keys.hpp"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "tools/cli/interruption.hpp"

namespace weft::tools::explaining {
namespace {

// Arrows and their like begin with it (ECMA-48, "control sequence introducer").
constexpr char kEscape = '\x1b';

// The next octet; nothing at the end of the input, or when none comes soon.
std::optional<char> octet(int milliseconds) {
  pollfd input{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
  if (::poll(&input, 1, milliseconds) != 1) return std::nullopt;
  char one{};
  return ::read(STDIN_FILENO, &one, 1) == 1 ? std::optional(one) : std::nullopt;
}

// What follows kEscape: "[A" to "[D" and "OA" to "OD" are arrows, "[H" and "[F" Home and End. All of it is read.
Key behind_escape() {
  constexpr int kTogether = 50;              // milliseconds
  if (!octet(kTogether)) return Key::kQuit;  // the key Escape by itself
  auto last = octet(kTogether);
  while (last && (*last == ';' || (*last >= '0' && *last <= '9'))) last = octet(kTogether);
  switch (last.value_or(0)) {
    case 'B':
    case 'C': return Key::kNext;
    case 'A':
    case 'D': return Key::kBack;
    case 'H': return Key::kFirst;
    case 'F': return Key::kLast;
    default: return Key::kOther;
  }
}

Key key_of(char one) {
  switch (one) {
    case ' ':
    case '\n':
    case '\r':
    case 'n':
    case 'j': return Key::kNext;
    case 'b':
    case 'p':
    case 'k':
    case '\x7f': return Key::kBack;
    case 'g': return Key::kFirst;
    case 'G': return Key::kLast;
    case 'q':
    case '\x04': return Key::kQuit;
    case kEscape: return behind_escape();
    default: return Key::kOther;
  }
}

}  // namespace

Outcome<KeyMode> KeyMode::begin() {
  if (auto caught = catch_interruptions(); !caught) return std::unexpected(caught.error());
  termios before{};
  if (::tcgetattr(STDIN_FILENO, &before) != 0)
    return failure(std::string("cannot read keys: ") + std::strerror(errno) + ".");
  termios now = before;
  now.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
  now.c_cc[VMIN] = 1;
  now.c_cc[VTIME] = 0;
  now.c_cc[VQUIT] = now.c_cc[VSUSP] = _POSIX_VDISABLE;
  KeyMode mode(before);
  if (::tcsetattr(STDIN_FILENO, TCSADRAIN, &now) != 0)
    return failure(std::string("cannot read keys: ") + std::strerror(errno) + ".");
  return mode;
}

KeyMode::~KeyMode() {
  if (before_) ::tcsetattr(STDIN_FILENO, TCSADRAIN, &*before_);
}

Outcome<Key> KeyMode::next() const {
  if (auto ready = wait_readable(STDIN_FILENO); !ready) return std::unexpected(ready.error());
  const auto one = octet(0);
  return one ? key_of(*one) : Key::kQuit;
}

}  // namespace weft::tools::explaining
