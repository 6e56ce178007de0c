// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/standard_output.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

namespace weft::tools {
namespace {

std::unexpected<Failure> output_failure() {
  return failure(std::string("cannot write to standard output: ") + std::strerror(errno) + ".");
}

}  // namespace

void occupy_standard_descriptors() {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(descriptor, F_GETFD) >= 0) continue;
    // open() takes the lowest free number, which is this one.
    static_cast<void>(::open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY));
  }
}

Outcome<void> print_line(const std::string& text) {
  if (std::fputs((text + '\n').c_str(), stdout) >= 0 && std::fflush(stdout) == 0) return {};
  return output_failure();
}

Outcome<void> flush_output() {
  const bool failed_before = std::ferror(stdout) != 0;
  if (std::fflush(stdout) != 0) return output_failure();
  if (failed_before) return failure("cannot write to standard output.");
  return {};
}

}  // namespace weft::tools
