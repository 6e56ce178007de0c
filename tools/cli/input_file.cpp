// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/input_file.hpp"

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "tools/cli/interruption.hpp"
#include "tools/cli/unique_fd.hpp"

namespace weft::tools {

// O_NONBLOCK: a named pipe opens before its writer comes. Only poll() waits then, for octets and for the request to
// end.
Outcome<std::string> read_input(const std::string& path, std::size_t most, const std::unexpected<Failure>& unreadable) {
  const InterruptionsCaught caught;
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!file.valid()) return unreadable;
  std::string text;
  std::array<char, 4096> some;
  while (text.size() <= most) {
    if (auto ready = wait_readable(file.get()); !ready)
      return ready.error().code == ExitCode::kInterrupted ? std::unexpected(ready.error()) : unreadable;
    const ssize_t got = ::read(file.get(), some.data(), std::min(some.size(), most + 1 - text.size()));
    if (got == 0) break;
    if (got > 0) text.append(some.data(), static_cast<std::size_t>(got));
    if (got < 0 && errno != EINTR && errno != EAGAIN) return unreadable;
  }
  return text;
}

}  // namespace weft::tools
