// SPDX-License-Identifier: Apache-2.0
// A test that looks at Box::put() and not at mean(): faults in the one are noticed, those in the other are not.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>

#include "toy.hpp"

namespace {

int failures = 0;

void check(bool holds, int line) {
  if (!holds) std::printf("%s:%d: Failure\n[  FAILED  ] Toy.Test\n", __FILE__, line), ++failures;
}

// In a child that ends without a word, as tests of fork() have them.
bool in_child(bool (*holds)()) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(holds() ? 0 : 1);
  int status = -1;
  return ::waitpid(child, &status, 0) == child && status == 0;
}

}  // namespace

int main() {
  using enum toy::BoxError;
  toy::Box box(2);
  check(box.put(-1) == std::unexpected(kTooLarge), __LINE__);
  check(box.put(10) == std::unexpected(kTooLarge), __LINE__);
  check(box.put(0).has_value(), __LINE__);
  check(box.put(9).has_value(), __LINE__);
  check(box.put(1) == std::unexpected(kFull), __LINE__);
  check(box.take() == 9, __LINE__);
  check(box.take() == 0, __LINE__);
  check(in_child([] { return toy::Box(1).take() == std::unexpected(kEmpty); }), __LINE__);
  return failures == 0 ? 0 : 1;
}
