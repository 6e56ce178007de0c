// SPDX-License-Identifier: Apache-2.0
#include "transport/input_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "transport/cancellation.hpp"

namespace weft::transport {
namespace {

class InputFile {
 public:
  explicit InputFile(const std::string& path) noexcept
      : descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)) {}
  ~InputFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  [[nodiscard]] std::optional<FileRefusal> complaint() const noexcept {
    struct stat about{};
    if (descriptor_ < 0 || ::fstat(descriptor_, &about) != 0) return FileRefusal{.os_error = errno};
    if (!S_ISREG(about.st_mode)) return FileRefusal{.why = "not a regular file"};
    return std::nullopt;
  }
  // The number of octets, 0 at the end; negative: errno.
  template <typename Some>
  [[nodiscard]] ssize_t read(Some& some) const noexcept {
    ssize_t got = -1;
    do {
      got = ::read(descriptor_, some.data(), some.size());
    } while (got < 0 && errno == EINTR);
    return got;
  }

 private:
  const int descriptor_;
};

}  // namespace

std::expected<std::string, FileRefusal> read_file(const std::string& path, std::size_t most) {
  const NoCancellation here;
  const InputFile file(path);
  if (const auto wrong = file.complaint()) return std::unexpected(*wrong);
  std::string content;
  std::array<char, 4096> some;
  for (ssize_t got = file.read(some); got != 0; got = file.read(some)) {
    if (got < 0) return std::unexpected(FileRefusal{.os_error = errno});
    content.append(some.data(), static_cast<std::size_t>(got));
    if (content.size() > most) return std::unexpected(FileRefusal{.os_error = EFBIG});
  }
  return content;
}

std::optional<FileRefusal> why_unreadable(const std::string& path) noexcept {
  const NoCancellation here;
  const InputFile file(path);
  if (const auto wrong = file.complaint()) return wrong;
  std::array<char, 1> some;
  if (file.read(some) < 0) return FileRefusal{.os_error = errno};
  return std::nullopt;
}

}  // namespace weft::transport
