// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/standard_output.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <string>
#include <string_view>

#include "common/shown_text.hpp"
#include "tools/cli/interruption.hpp"
#include "transport/system_words.hpp"

namespace weft::tools {
namespace {

void survive(int number) {
  if (is_answered_by(number, SIG_DFL)) std::signal(number, [](int) {});  // child processes would inherit SIG_IGN
}

}  // namespace

std::unexpected<Failure> output_failure(const std::string& target, int error) {
  const std::string why = error != 0 ? ": " + system_words(error) : std::string();
  return std::unexpected(Failure{"cannot write " + target + why + ".", ExitCode::kUnwritten});
}

std::unexpected<Failure> output_failure(int error) { return output_failure("to standard output", error); }

bool output_has_failed() { return std::ferror(stdout) != 0; }

void occupy_standard_descriptors() {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(descriptor, F_GETFD) >= 0) continue;
    // open() takes the lowest free number, which is this one.
    static_cast<void>(::open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY));
  }
}

void survive_size_limits() { survive(SIGXFSZ); }

void survive_closed_pipes() { survive(SIGPIPE); }

Outcome<void> print_now(const std::string& text) {
  if (std::fputs(text.c_str(), stdout) >= 0 && std::fflush(stdout) == 0) return {};
  return output_failure(errno);
}

void print_error(std::string_view line) { std::fprintf(stderr, "%s\n", shown_text(line).c_str()); }

Outcome<void> print_line(const std::string& text) { return print_now(text + '\n'); }

Outcome<void> flush_output() {
  const bool failed_before = output_has_failed();
  if (std::fflush(stdout) != 0) return output_failure(errno);
  if (failed_before) return output_failure(0);
  return {};
}

}  // namespace weft::tools
