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

std::unexpected<Failure> unwritten(const std::string& where, int error) {
  const std::string why = error != 0 ? std::string(": ") + std::strerror(error) : std::string();
  return std::unexpected(Failure{"cannot write " + where + why + ".", ExitCode::kUnwritten});
}

}  // namespace

std::unexpected<Failure> output_failure(int error) { return unwritten("to standard output", error); }

bool output_has_failed() { return std::ferror(stdout) != 0; }

void occupy_standard_descriptors() {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(descriptor, F_GETFD) >= 0) continue;
    // open() takes the lowest free number, which is this one.
    static_cast<void>(::open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY));
  }
}

Outcome<void> print_now(const std::string& text) {
  if (std::fputs(text.c_str(), stdout) >= 0 && std::fflush(stdout) == 0) return {};
  return output_failure(errno);
}

Outcome<void> print_line(const std::string& text) { return print_now(text + '\n'); }

Outcome<void> flush_output() {
  const bool failed_before = output_has_failed();
  if (std::fflush(stdout) != 0) return output_failure(errno);
  if (failed_before) return output_failure(0);
  return {};
}

Outcome<void> write_file(const std::string& path, const std::string& text) {
  std::FILE* const file = std::fopen(path.c_str(), "wb");
  if (file == nullptr) return unwritten(path, errno);
  const bool put = std::fputs(text.c_str(), file) >= 0 && std::fflush(file) == 0;
  const int error = errno;
  const bool closed = std::fclose(file) == 0;
  if (put && closed) return {};
  return unwritten(path, put ? errno : error);
}

}  // namespace weft::tools
