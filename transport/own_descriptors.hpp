// SPDX-License-Identifier: Apache-2.0
// Numbers of weft's descriptors: high, so that they do not collide with those of the program. A daemon typically closes
// all descriptors up to about 256 that it does not know; if one was a weft socket, its number would be reused for a
// file of the program, and weft would read and write that file. Costs two system calls per descriptor, about 1 us of
// the 700 us of a connection.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>

#include "common/sanitizers.hpp"

namespace weft::transport {

inline constexpr int kFirstOwnDescriptor = 512;

// Moves a descriptor to a high number. Returns the old number if no high number is available (ulimit -n), and a
// negative one for a negative `low`. Preserves errno.
[[nodiscard]] inline int move_up(int low) noexcept {
  if (low < 0 || low >= kFirstOwnDescriptor) return low;
  const int before = errno;
  const int high = ::fcntl(low, F_DUPFD_CLOEXEC, kFirstOwnDescriptor);
  // ThreadSanitizer knows dup3() but not F_DUPFD: data that a socket received happened after the data that was sent.
  if (high >= 0 && kThreadSanitizer) static_cast<void>(::dup3(low, high, O_CLOEXEC));
  if (high >= 0) ::close(low);
  errno = before;
  return high >= 0 ? high : low;
}

// During its lifetime, new descriptors get high numbers: for libraries that open descriptors themselves and do not
// report them. Takes 0.2 ms.
class LowDescriptorsTaken {
 public:
  LowDescriptorsTaken() noexcept {
    const int first = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    for (int next = first; next >= 0; next = ::fcntl(first, F_DUPFD_CLOEXEC, 0)) {
      taken_[count_++] = next;
      if (next >= kFirstOwnDescriptor || count_ == taken_.size()) break;
    }
    if (count_ != 0 && taken_[count_ - 1] < kFirstOwnDescriptor) release();  // no higher number is available
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
