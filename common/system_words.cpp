// SPDX-License-Identifier: Apache-2.0
#include "common/system_words.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace weft {

std::string system_words(int error) {
  std::string words = std::generic_category().message(error);
  struct rlimit limit{};
  if (error == EACCES) words += " (running as uid " + std::to_string(::geteuid()) + ')';
  if (error == EMFILE && ::getrlimit(RLIMIT_NOFILE, &limit) == 0)
    words += " (the limit is " + std::to_string(limit.rlim_cur) + ": ulimit -n)";
  return words;
}

}  // namespace weft
