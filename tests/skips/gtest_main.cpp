// SPDX-License-Identifier: Apache-2.0
// main() of all GoogleTest executables (weft_test in cmake/Weft.cmake). GoogleTest ends with 0 when a case was skipped. Ours prints a line
// "SKIPPED case: reason" for each, as scripts do, and ends with 77: ctest reports the entry as skipped (cmake/WeftSkips.cmake). A failure
// stays one.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <string>

#include "tests/skips/sanitizers.hpp"

#if WEFT_ADDRESS_SANITIZER
// LeakSanitizer asks this at the end of a process. A child of fork() has the memory of its parent's threads and not the threads:
// what only they pointed to would be leaked.
namespace {
const pid_t the_tests = ::getpid();
}
extern "C" int __lsan_is_turned_off() { return ::getpid() == the_tests ? 0 : 1; }
#endif

namespace {

constexpr int kSkipped = 77;

class SkipReport : public testing::EmptyTestEventListener {
  void OnTestPartResult(const testing::TestPartResult& part) override {
    if (part.skipped()) reason_ += (reason_.empty() ? "" : "; ") + std::string(part.message());
  }
  void OnTestEnd(const testing::TestInfo& test) override {
    if (test.result()->Skipped()) {
      std::ranges::replace(reason_, '\n', ' ');
      std::printf("SKIPPED %s.%s: %s\n", test.test_suite_name(), test.name(),
                  reason_.empty() ? "no reason given" : reason_.c_str());
    }
    reason_.clear();
  }

  std::string reason_;
};

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  const testing::UnitTest& program = *testing::UnitTest::GetInstance();
  testing::UnitTest::GetInstance()->listeners().Append(new SkipReport);
  const int result = RUN_ALL_TESTS();
  return result == 0 && program.skipped_test_count() > 0 ? kSkipped : result;
}
