// SPDX-License-Identifier: Apache-2.0
// A terminal for a command to write to: what arrives there is kept.
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <chrono>
#include <stdexcept>
#include <string>
#include <string_view>

namespace weft::test {

class Terminal {
 public:
  // `columns` 0: a terminal that does not say its size.
  explicit Terminal(unsigned short columns = 0) : master_(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC)) {
    char name[64];
    if (master_ < 0 || ::grantpt(master_) != 0 || ::unlockpt(master_) != 0 ||
        ::ptsname_r(master_, name, sizeof name) != 0) {
      throw std::runtime_error("no pseudo terminal");
    }
    path_ = name;
    const winsize size{.ws_row = 24, .ws_col = columns, .ws_xpixel = 0, .ws_ypixel = 0};
    if (columns != 0 && ::ioctl(master_, TIOCSWINSZ, &size) != 0) throw std::runtime_error("no size of a terminal");
    slave_ = ::open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);  // held open: the master sees no end between two writers
  }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;
  ~Terminal() {
    ::close(slave_);
    ::close(master_);
  }

  // For a redirection.
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

  // All that was written so far.
  const std::string& text() {
    while (readable(0)) take();
    return text_;
  }
  // True once `words` have been written; false when that takes too long.
  bool wait_for(std::string_view words, std::chrono::seconds at_most = std::chrono::seconds(60)) {
    const auto deadline = std::chrono::steady_clock::now() + at_most;
    while (text().find(words) == std::string::npos) {
      if (std::chrono::steady_clock::now() > deadline) return false;
      static_cast<void>(readable(100));
    }
    return true;
  }

 private:
  [[nodiscard]] bool readable(int milliseconds) const {
    pollfd descriptor{.fd = master_, .events = POLLIN, .revents = 0};
    return ::poll(&descriptor, 1, milliseconds) == 1 && (descriptor.revents & POLLIN) != 0;
  }
  void take() {
    char piece[4096];
    const ssize_t got = ::read(master_, piece, sizeof piece);
    if (got > 0) text_.append(piece, static_cast<std::size_t>(got));
  }

  int master_ = -1;
  int slave_ = -1;
  std::string path_{};
  std::string text_{};
};

}  // namespace weft::test
