// SPDX-License-Identifier: Apache-2.0
// Runs the built `weft` as a user would: another process, its output collected, killed when the test forgets it.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tests/temporary_directory.hpp"

namespace weft::test {

struct Ended {
  int exit_code{};  // minus the signal when one ended it; kTimedOut when it was killed for taking too long
  std::string out{};
  std::string err{};
};
inline constexpr int kTimedOut = -1000;

// The path of the `weft` that is run: the environment's WEFT_COMMAND, or else that of this build. ./check without --all runs the release build's,
// because a process with AddressSanitizer takes several times as long to start and to end.
const std::string& weft_command();

class Command {
 public:
  // Starts `weft` with these arguments, or `program` when given.
  explicit Command(const std::vector<std::string>& arguments, const std::string& program = {});
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;
  ~Command();

  // True once `text` stands on its standard output; false when it ended or the time is over before that.
  bool wait_for_output(std::string_view text, std::chrono::seconds at_most = std::chrono::seconds(20));
  bool wait_for_error(std::string_view text, std::chrono::seconds at_most = std::chrono::seconds(20));  // on stderr
  Ended wait(std::chrono::seconds at_most = std::chrono::seconds(60));
  void signal(int number) const;
  [[nodiscard]] std::string out() const;
  [[nodiscard]] std::string err() const;
  [[nodiscard]] pid_t pid() const noexcept { return pid_; }

 private:
  bool collect();  // true when the process has ended
  bool wait_for(std::string_view text, int descriptor, std::chrono::seconds at_most);

  pid_t pid_ = -1;
  int out_ = -1;
  int err_ = -1;
  bool ended_ = false;
  int status_ = 0;
};

inline Ended run(const std::vector<std::string>& arguments) { return Command(arguments).wait(); }

// A TCP port that is free on 127.0.0.1 and ::1 at this moment.
std::uint16_t free_port();

// One line, and it ends in a full stop or is at least not empty: what a usage error must look like.
[[nodiscard]] bool is_one_line(const std::string& text);

}  // namespace weft::test
