// SPDX-License-Identifier: Apache-2.0
// A descriptor that the program may poll, duplicate and change the mode of, and a second, internal descriptor of the
// same open file. If the program closes the given one despite the documentation, its number may become that of another
// file, which weft must not read, write or close. The given one is made when the program asks for it: most users of the
// C++ API never do.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <utility>

#include "transport/own_descriptors.hpp"

namespace weft::verbs::detail {

class GivenDescriptor {
 public:
  // Owns `kept`; below 0 when there is none to be had: errno says why.
  explicit GivenDescriptor(int kept) noexcept : kept_(transport::move_up(kept)) {}
  ~GivenDescriptor() {
    if (still_ours()) ::close(given_);
    if (kept_ >= 0) ::close(kept_);
  }
  GivenDescriptor(GivenDescriptor&& other) noexcept
      : kept_(std::exchange(other.kept_, -1)), given_(other.given_.exchange(-1)) {}
  GivenDescriptor(const GivenDescriptor&) = delete;
  GivenDescriptor& operator=(const GivenDescriptor&) = delete;
  GivenDescriptor& operator=(GivenDescriptor&&) = delete;

  [[nodiscard]] bool valid() const noexcept { return kept_ >= 0; }
  // What we use: mode and content are those of the given one.
  [[nodiscard]] int kept() const noexcept { return kept_; }
  // The same number each time; that of kept() if there is no further descriptor to be had.
  [[nodiscard]] int given() const noexcept {
    int given = given_.load(std::memory_order_acquire);
    if (given >= 0) return given;
    const int made = ::fcntl(kept_, F_DUPFD_CLOEXEC, 0);
    const int offered = made >= 0 ? made : kept_;
    if (given_.compare_exchange_strong(given, offered, std::memory_order_acq_rel)) return offered;
    if (made >= 0) ::close(made);  // another thread was faster
    return given;
  }
  // False, with errno EBADF, when the program closed it, and nothing took its place.
  [[nodiscard]] bool open() const noexcept {
    const int given = given_.load(std::memory_order_acquire);
    return given < 0 || ::fcntl(given, F_GETFD) >= 0;
  }

 private:
  // The signal of F_SETSIG belongs to the open file and not to the number, and means nothing to a file without O_ASYNC:
  // what is set at one number is seen at the other if, and only if, both name one file.
  [[nodiscard]] bool still_ours() const noexcept {
    if (given_ < 0 || given_ == kept_) return false;
    const int before = ::fcntl(kept_, F_GETSIG);
    const bool same = mirrors(SIGIO) && mirrors(SIGURG);
    if (before >= 0) ::fcntl(kept_, F_SETSIG, before);
    return same;
  }
  [[nodiscard]] bool mirrors(int signal) const noexcept {
    return ::fcntl(kept_, F_SETSIG, signal) == 0 && ::fcntl(given_, F_GETSIG) == signal;
  }

  int kept_;
  mutable std::atomic<int> given_{-1};
};

}  // namespace weft::verbs::detail
