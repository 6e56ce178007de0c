// SPDX-License-Identifier: Apache-2.0
// main() of all GoogleTest executables (weft_test in cmake/Weft.cmake). GoogleTest ends with 0 when a case was skipped, and ctest
// then says "Passed" although something was not tested. Ours puts each skipped case, with its reason, into the list that
// report.sh shows. It ends with 77, ctest's "Skipped", when no case passed, or when the list cannot be written: no case is
// skipped in silence. A failure is 1 whatever else was skipped.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>

#include "tests/skips/sanitizers.hpp"
#include "tests/skips/skipped.hpp"

#if WEFT_ADDRESS_SANITIZER
// LeakSanitizer asks this at the end of a process. A child of fork() has the memory of its parent's threads and not the threads:
// what only they pointed to would be leaked.
namespace {
const pid_t the_tests = ::getpid();
}
extern "C" int __lsan_is_turned_off() { return ::getpid() == the_tests ? 0 : 1; }
#endif

namespace {

constexpr int kSkipped = 77;  // SKIP_RETURN_CODE of weft_tells_skips (cmake/WeftSkips.cmake)

std::string said(const testing::TestResult& result) {
  std::string words;
  for (int i = 0; i < result.total_part_count(); ++i) {
    const testing::TestPartResult& part = result.GetTestPartResult(i);
    if (part.skipped()) words += (words.empty() ? "" : "; ") + std::string(part.message());
  }
  return words;
}

// False when one of them is not in the list.
bool tell_all() {
  const testing::UnitTest& program = *testing::UnitTest::GetInstance();
  bool told = true;
  for (int i = 0; i < program.total_test_suite_count(); ++i) {
    const testing::TestSuite& suite = *program.GetTestSuite(i);
    for (int j = 0; j < suite.total_test_count(); ++j) {
      const testing::TestInfo& test = *suite.GetTestInfo(j);
      if (!test.should_run() || !test.result()->Skipped()) continue;
      const std::string reason = said(*test.result());
      told = weft::test::tell_skipped(std::string(suite.name()) + '.' + test.name(),
                                      reason.empty() ? said(suite.ad_hoc_test_result()) : reason) &&
             told;
    }
  }
  return told;
}

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  const int result = RUN_ALL_TESTS();
  const testing::UnitTest& program = *testing::UnitTest::GetInstance();
  const int skipped = program.skipped_test_count();
  if (skipped == 0) return result;
  std::printf("%d skipped: what they would have tested is not tested here.\n", skipped);
  const bool told = tell_all();
  if (result != 0) return result;
  return told && program.successful_test_count() > 0 ? 0 : kSkipped;
}
