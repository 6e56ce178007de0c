// SPDX-License-Identifier: Apache-2.0
#include "transport/output_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <optional>

#include "transport/cancellation.hpp"
#include "transport/own_descriptors.hpp"

namespace weft::transport {
namespace {

using Content = OutputRules::Content;

constexpr mode_t kOwnersAlone = S_IRUSR | S_IWUSR;
constexpr mode_t kForAll = 0666;

FileRefusal refusal_of(int error) noexcept {
  if (error == ELOOP) return {.why = "it is a symbolic link"};
  if (error == ENXIO) return {.why = "it is a pipe without a reader"};
  return {.os_error = error};
}

// What is wrong with a file that existed, or was just created.
std::optional<FileRefusal> complaint(const struct stat& about, const OutputRules& rules) noexcept {
  if (!S_ISREG(about.st_mode) && rules.regular_only) return FileRefusal{.why = "it is not a regular file"};
  if (!S_ISREG(about.st_mode) && !S_ISFIFO(about.st_mode)) return std::nullopt;
  if (about.st_uid != ::geteuid()) return FileRefusal{.why = "it belongs to another user"};
  if (S_ISREG(about.st_mode) && about.st_nlink != 1) return FileRefusal{.why = "the file has a second name"};
  return std::nullopt;
}

std::optional<FileRefusal> prepare(int descriptor, const OutputRules& rules) noexcept {
  struct stat about{};
  if (::fstat(descriptor, &about) != 0) return refusal_of(errno);
  if (const auto wrong = complaint(about, rules)) return wrong;
  // Only open() was not to wait.
  const int appends = rules.content == Content::kAppended ? O_APPEND : 0;
  if (::fcntl(descriptor, F_SETFL, appends) != 0) return refusal_of(errno);
  if (!S_ISREG(about.st_mode)) return std::nullopt;
  if (rules.owner_only && ::fchmod(descriptor, kOwnersAlone) != 0 && errno != EPERM)  // FAT has no modes
    return refusal_of(errno);
  if (rules.content == Content::kReplaced && ::ftruncate(descriptor, 0) != 0) return refusal_of(errno);
  return std::nullopt;
}

int flags_of(Content content, bool given) noexcept {
  const int how = content == Content::kAppended ? O_APPEND : 0;
  if (given) return content == Content::kReplaced ? O_TRUNC : how;
  return how | O_CREAT | O_NOFOLLOW | O_NONBLOCK | (content == Content::kNew ? O_EXCL : 0);
}

}  // namespace

// Links there are the system's own.
bool names_a_descriptor(std::string_view path) noexcept {
  return path == "/dev/stdout" || path == "/dev/stderr" || path.starts_with("/dev/fd/") ||
         (path.starts_with("/proc/") && path.contains("/fd/"));
}

std::expected<int, FileRefusal> open_output(const std::string& path, const OutputRules& rules) noexcept {
  const NoCancellation here;
  const bool given = names_a_descriptor(path);
  const mode_t mode = rules.owner_only ? kOwnersAlone : kForAll;
  const int flags = O_WRONLY | O_CLOEXEC | O_NOCTTY | flags_of(rules.content, given);
  const int descriptor = move_up(::open(path.c_str(), flags, mode));
  if (descriptor < 0) return std::unexpected(refusal_of(errno));
  if (given) return descriptor;
  if (const auto wrong = prepare(descriptor, rules)) {
    ::close(descriptor);
    return std::unexpected(*wrong);
  }
  return descriptor;
}

}  // namespace weft::transport
