// SPDX-License-Identifier: Apache-2.0
// A part of a test in a process of its own: what it does to signals, descriptors and the log is its own, too.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <string>

namespace weft::verbs::test {

// Runs `body` in a child whose standard error is `error`, and returns how it ended.
inline int status_of_child(int error, const std::function<void()>& body, bool by_exit = false) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(error, STDERR_FILENO);
    ::alarm(60);
    int code = 1;
    try {
      body();
      code = testing::Test::HasFailure() ? 1 : 0;
    } catch (const std::exception& wrong) {
      std::printf("child: %s\n", wrong.what());
    }
    std::fflush(stdout);
    if (by_exit) std::exit(code);
    ::_exit(code);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  return status;
}

inline std::string said_by_child(const std::function<void()>& body, bool by_exit = true) {
  std::FILE* const file = std::tmpfile();
  EXPECT_EQ(status_of_child(::fileno(file), body, by_exit), 0);
  std::rewind(file);
  std::string said(1 << 20, '\0');
  said.resize(std::fread(said.data(), 1, said.size(), file));
  std::fclose(file);
  return said;
}

}  // namespace weft::verbs::test
