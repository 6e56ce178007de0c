// SPDX-License-Identifier: Apache-2.0
// Words for errors of the operating system. A header of its own that needs no library: conformance/ and probe/ use it,
// too.
#pragma once

#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>

namespace weft {

/// Returns strerror(3) of this errno value, with a hint for the user: "Permission denied (running as uid 1000)", "Too
/// many open files (the limit is 1024: ulimit -n)". Thread-safe.
[[nodiscard]] inline std::string system_words(int error) {
  std::string words = std::generic_category().message(error);
  struct rlimit limit{};
  if (error == EACCES) words += " (running as uid " + std::to_string(::geteuid()) + ')';
  if (error == EMFILE && ::getrlimit(RLIMIT_NOFILE, &limit) == 0)
    words += " (the limit is " + std::to_string(limit.rlim_cur) + ": ulimit -n)";
  return words;
}

}  // namespace weft
