// SPDX-License-Identifier: Apache-2.0
#include "conformance/capture/stoppable_file.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <memory>

namespace weft::conformance::capture {
namespace {

struct WaitingInput {
  int descriptor{};
  const StopSwitch* stop{};

  [[nodiscard]] bool stopped() const noexcept { return stop != nullptr && stop->stopped(); }
};

// Only poll() sleeps, and it sleeps for octets and for the switch: read() is called when there are octets.
ssize_t read_input(void* cookie, char* into, std::size_t size) {
  const auto& input = *static_cast<WaitingInput*>(cookie);
  for (;;) {
    std::array<pollfd, 2> ready{
        {{input.descriptor, POLLIN, 0}, {input.stop != nullptr ? input.stop->descriptor() : -1, POLLIN, 0}}};
    const int status = ::poll(ready.data(), ready.size(), -1);
    if (input.stopped()) return 0;
    if (status < 0 && errno != EINTR) return -1;
    if (status <= 0 || ready[0].revents == 0) continue;
    const ssize_t got = ::read(input.descriptor, into, size);
    if (got >= 0 || (errno != EINTR && errno != EAGAIN)) return got;
  }
}

int close_input(void* cookie) {
  const std::unique_ptr<WaitingInput> input(static_cast<WaitingInput*>(cookie));
  return input->descriptor == STDIN_FILENO ? 0 : ::close(input->descriptor);
}

}  // namespace

std::FILE* open_stoppable(const std::string& path, const StopSwitch* stop) {
  // O_NONBLOCK: a named pipe opens before its writer comes. The standard input is shared with others and left as it is.
  const int descriptor = path == "-" ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct stat status{};
  if (descriptor < 0 || ::fstat(descriptor, &status) != 0) return nullptr;
  if (path != "-" && S_ISREG(status.st_mode)) return ::fdopen(descriptor, "rb");
  return ::fopencookie(new WaitingInput{descriptor, stop}, "rb",
                       {.read = read_input, .write = nullptr, .seek = nullptr, .close = close_input});
}

}  // namespace weft::conformance::capture
