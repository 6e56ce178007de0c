// SPDX-License-Identifier: Apache-2.0
#include "transport/detail/capture_descriptor.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <optional>

#include "transport/cancellation.hpp"

namespace weft::transport::detail {
namespace {

constexpr mode_t kOwnersAlone = S_IRUSR | S_IWUSR;

// Links there are the system's own.
bool names_a_descriptor(std::string_view path) noexcept {
  return path == "/dev/stdout" || path == "/dev/stderr" || path.starts_with("/dev/fd/") ||
         path.starts_with("/proc/self/fd/");
}

Refusal refusal_of(int error) noexcept {
  if (error == ELOOP) return {.why = "it is a symbolic link, which a capture does not follow"};
  if (error == ENXIO) return {.why = "it is a pipe without a reader"};
  return {.os_error = error};
}

// What is wrong with a file that was there, or has just been made.
std::optional<Refusal> complaint(const struct stat& about) noexcept {
  if (!S_ISREG(about.st_mode) && !S_ISFIFO(about.st_mode)) return std::nullopt;
  if (about.st_uid != ::geteuid()) return Refusal{.why = "it belongs to another user"};
  if (S_ISREG(about.st_mode) && about.st_nlink != 1) return Refusal{.why = "the file has a second name"};
  return std::nullopt;
}

std::optional<Refusal> make_own(int descriptor) noexcept {
  struct stat about{};
  if (::fstat(descriptor, &about) != 0) return refusal_of(errno);
  if (const auto wrong = complaint(about)) return wrong;
  if (::fcntl(descriptor, F_SETFL, 0) != 0) return refusal_of(errno);  // it was not to wait for a pipe's reader
  if (!S_ISREG(about.st_mode)) return std::nullopt;
  if (::fchmod(descriptor, kOwnersAlone) != 0 && errno != EPERM) return refusal_of(errno);  // FAT has no modes
  if (::ftruncate(descriptor, 0) != 0) return refusal_of(errno);
  return std::nullopt;
}

}  // namespace

std::expected<int, Refusal> open_capture(const std::string& path) noexcept {
  const NoCancellation here;
  const bool given = names_a_descriptor(path);
  const int how = given ? O_TRUNC : O_CREAT | O_NOFOLLOW | O_NONBLOCK;
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY | how, kOwnersAlone);
  if (descriptor < 0) return std::unexpected(refusal_of(errno));
  if (given) return descriptor;
  if (const auto wrong = make_own(descriptor)) {
    ::close(descriptor);
    return std::unexpected(*wrong);
  }
  return descriptor;
}

}  // namespace weft::transport::detail
