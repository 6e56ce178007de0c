// SPDX-License-Identifier: Apache-2.0
#include "conformance/capture/stoppable_file.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace weft::conformance::capture {

// O_NONBLOCK: a named pipe opens before its writer comes. The standard input is shared with others and left as it is.
StoppableFile::StoppableFile(const std::string& path, const StopSwitch* stop)
    : own_(path != "-"),
      descriptor_(own_ ? ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK) : STDIN_FILENO),
      stop_(stop) {
  struct stat status{};
  if (descriptor_ < 0 || ::fstat(descriptor_, &status) != 0) return;
  open_ = true;
  if (S_ISREG(status.st_mode)) size_ = static_cast<std::uint64_t>(status.st_size);
}

StoppableFile::~StoppableFile() {
  if (descriptor_ >= 0 && own_) ::close(descriptor_);
}

bool StoppableFile::ready() const noexcept {
  pollfd one{descriptor_, POLLIN, 0};
  return ::poll(&one, 1, 0) > 0;
}

// Only poll() sleeps, for octets and for the switch. After the first octets, read() comes before it: where a pipe's
// writer had closed before this end opened it, read() returns 0, and poll() would wait for the next writer.
ssize_t StoppableFile::read(MutableBytes into) {
  for (bool wait = taken_ == 0 || !own_; !stopped(); wait = true) {
    if (wait) {
      std::array<pollfd, 2> ready{{{descriptor_, POLLIN, 0}, {stop_ != nullptr ? stop_->descriptor() : -1, POLLIN, 0}}};
      const int status = ::poll(ready.data(), ready.size(), -1);
      if (stopped()) return 0;
      if (status < 0 && errno != EINTR) return -1;
      if (status <= 0 || ready[0].revents == 0) continue;
    }
    const ssize_t got = ::read(descriptor_, into.data(), into.size());
    if (got > 0) taken_ += static_cast<std::uint64_t>(got);
    if (got >= 0 || (errno != EINTR && errno != EAGAIN)) return got;
  }
  return 0;
}

}  // namespace weft::conformance::capture
