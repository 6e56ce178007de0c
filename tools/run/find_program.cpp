// SPDX-License-Identifier: Apache-2.0
#include "tools/run/find_program.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <ranges>
#include <string_view>
#include <vector>

namespace weft::tools::run {
namespace {

bool is_runnable(const std::string& path) {
  struct stat status{};
  return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) && ::access(path.c_str(), X_OK) == 0;
}

// The files that `name` may mean, in the shell's order.
std::vector<std::string> candidates(const std::string& name) {
  if (name.contains('/')) return {name};
  const char* const path = std::getenv("PATH");
  std::vector<std::string> found;
  for (const auto piece : std::views::split(std::string_view(path != nullptr ? path : "/bin:/usr/bin"), ':')) {
    const std::string directory(std::string_view{piece});
    found.push_back((directory.empty() ? "." : directory) + '/' + name);
  }
  return found;
}

}  // namespace

Outcome<std::string> find_program(const std::string& name) {
  bool exists = false;
  for (const std::string& path : candidates(name)) {
    if (is_runnable(path)) return path;
    exists = exists || ::access(path.c_str(), F_OK) == 0;
  }
  if (exists)
    return std::unexpected(Failure{"'" + name + "' is no file that may be executed.", ExitCode::kNotExecutable});
  return std::unexpected(Failure{"there is no program '" + name + "'.", ExitCode::kNotFound});
}

}  // namespace weft::tools::run
