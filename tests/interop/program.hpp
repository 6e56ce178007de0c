// SPDX-License-Identifier: Apache-2.0
// The weft command, or another program, as a child process whose output is kept.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace weft::interop {

std::uint16_t free_tcp_port();
// For execv(). Valid as long as the words are.
std::vector<char*> pointers(std::vector<std::string>& words);

class Program {
 public:
  // Arguments as a shell would split them, without quoting. Ends by itself or is ended after 300 s.
  explicit Program(const std::string& arguments, const std::string& path = WEFT_COMMAND);
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  ~Program();

  // Returns when something listens on this port of this machine; throws after 120 s or when the program has ended.
  void wait_listen(const std::string& port);
  // Returns when the program has printed this; throws after 120 s.
  void wait_for(const std::string& text) const;
  // Waits for the end: the exit code, or 128 + the signal.
  int finish();
  [[nodiscard]] std::string output() const;

 private:
  pid_t process_;
  int output_;  // an unnamed file: it need not be read while the program runs
};

}  // namespace weft::interop
