// SPDX-License-Identifier: Apache-2.0
// How a tool's functions fail: with one sentence for people. The command line turns it into a line on stderr and an
// exit code.
#pragma once

#include <expected>
#include <string>
#include <utility>

namespace weft::tools {

enum class ExitCode : int {
  kSuccess = 0,
  kFailure = 1,          // the work was tried and went wrong
  kUsage = 2,            // the command line asks for something that makes no sense
  kUnwritten = 2,        // the output cannot be written: nothing that it says has arrived for sure
  kNotExecutable = 126,  // the program to run is there and cannot be run, as shells say it
  kNotFound = 127,
  kInterrupted = 130,  // by ^C or SIGTERM, before the work was done: what shells say of SIGINT
};

// A sentence, and whether the command line or the world is to blame.
struct Failure {
  std::string sentence{};
  ExitCode code = ExitCode::kFailure;
};

template <typename T>
using Outcome = std::expected<T, Failure>;

inline std::unexpected<Failure> failure(std::string sentence) { return std::unexpected(Failure{std::move(sentence)}); }
inline std::unexpected<Failure> usage_error(std::string sentence) {
  return std::unexpected(Failure{std::move(sentence), ExitCode::kUsage});
}

}  // namespace weft::tools
