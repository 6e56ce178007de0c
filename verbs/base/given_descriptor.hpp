// SPDX-License-Identifier: Apache-2.0
// A descriptor that the program may poll, duplicate and change the mode of, and a second, internal descriptor of the
// same open file. If the program closes the given one despite the documentation, its number may become that of another
// file, which weft must not read, write or close.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <utility>

#include "transport/own_descriptors.hpp"

namespace weft::verbs::detail {

class GivenDescriptor {
 public:
  // Owns `kept`; below 0, like the duplicate, when there is none to be had: errno says why.
  explicit GivenDescriptor(int kept) noexcept
      : kept_(transport::move_up(kept)), given_(kept_ < 0 ? -1 : ::fcntl(kept_, F_DUPFD_CLOEXEC, 0)) {}
  ~GivenDescriptor() {
    if (still_ours()) ::close(given_);
    if (kept_ >= 0) ::close(kept_);
  }
  GivenDescriptor(GivenDescriptor&& other) noexcept
      : kept_(std::exchange(other.kept_, -1)), given_(std::exchange(other.given_, -1)) {}
  GivenDescriptor(const GivenDescriptor&) = delete;
  GivenDescriptor& operator=(const GivenDescriptor&) = delete;
  GivenDescriptor& operator=(GivenDescriptor&&) = delete;

  [[nodiscard]] bool valid() const noexcept { return given_ >= 0; }
  // What we use: mode and content are those of the given one.
  [[nodiscard]] int kept() const noexcept { return kept_; }
  [[nodiscard]] int given() const noexcept { return given_; }
  // False, with errno EBADF, when the program closed it, and nothing took its place.
  [[nodiscard]] bool open() const noexcept { return ::fcntl(given_, F_GETFD) >= 0; }

 private:
  // The signal of F_SETSIG belongs to the open file and not to the number, and means nothing to a file without O_ASYNC:
  // what is set at one number is seen at the other if, and only if, both name one file.
  [[nodiscard]] bool still_ours() const noexcept {
    if (given_ < 0) return false;
    const int before = ::fcntl(kept_, F_GETSIG);
    const bool same = mirrors(SIGIO) && mirrors(SIGURG);
    if (before >= 0) ::fcntl(kept_, F_SETSIG, before);
    return same;
  }
  [[nodiscard]] bool mirrors(int signal) const noexcept {
    return ::fcntl(kept_, F_SETSIG, signal) == 0 && ::fcntl(given_, F_GETSIG) == signal;
  }

  int kept_;
  int given_;
};

}  // namespace weft::verbs::detail
