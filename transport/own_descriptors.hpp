// SPDX-License-Identifier: Apache-2.0
// Where weft's own descriptors lie: high, so that their numbers and the program's do not meet. A program that becomes a
// daemon closes all it does not know, most often up to some 256; a socket of ours with such a number would become one
// of its files, and we would read and write there. Costs two system calls each, about 1 us of a connection's 700.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>

#include "common/sanitizers.hpp"

namespace weft::transport {

inline constexpr int kFirstOwnDescriptor = 512;

// The same file at a high number; at the one it has where there is none to be had (ulimit -n), or below 0. With errno
// as it was.
[[nodiscard]] inline int move_up(int low) noexcept {
  if (low < 0 || low >= kFirstOwnDescriptor) return low;
  const int before = errno;
  const int high = ::fcntl(low, F_DUPFD_CLOEXEC, kFirstOwnDescriptor);
  // ThreadSanitizer knows of dup3() and not of F_DUPFD: what came in by a socket happened behind what went out.
  if (high >= 0 && kThreadSanitizer) static_cast<void>(::dup3(low, high, O_CLOEXEC));
  if (high >= 0) ::close(low);
  errno = before;
  return high >= 0 ? high : low;
}

// While it lives, what is opened lies high: for a library that opens descriptors itself, and does not tell which. Takes
// a fifth of a millisecond.
class LowDescriptorsTaken {
 public:
  LowDescriptorsTaken() noexcept {
    const int first = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    for (int next = first; next >= 0; next = ::fcntl(first, F_DUPFD_CLOEXEC, 0)) {
      taken_[count_++] = next;
      if (next >= kFirstOwnDescriptor || count_ == taken_.size()) break;
    }
    if (count_ != 0 && taken_[count_ - 1] < kFirstOwnDescriptor) release();  // there is no higher one
    while (count_ != 0 && taken_[count_ - 1] >= kFirstOwnDescriptor) ::close(taken_[--count_]);
  }
  ~LowDescriptorsTaken() { release(); }
  LowDescriptorsTaken(const LowDescriptorsTaken&) = delete;
  LowDescriptorsTaken& operator=(const LowDescriptorsTaken&) = delete;

 private:
  void release() noexcept {
    while (count_ != 0) ::close(taken_[--count_]);
  }

  std::array<int, kFirstOwnDescriptor + 1> taken_{};
  std::size_t count_ = 0;
};

}  // namespace weft::transport
