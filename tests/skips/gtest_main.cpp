// SPDX-License-Identifier: Apache-2.0
// main() of all GoogleTest executables (weft_test in cmake/Weft.cmake). GoogleTest ends with 0 when a case was skipped,
// so that ctest says "Passed" although something was not tested. Ours ends with 77, and ctest says "Skipped" and lists
// the executable. A failure is 1 whatever else was skipped.
#include <gtest/gtest.h>

#include <cstdio>

int main(int argc, char** argv) {
  constexpr int kSkipped = 77;  // SKIP_RETURN_CODE of weft_test
  testing::InitGoogleTest(&argc, argv);
  const int result = RUN_ALL_TESTS();
  const int skipped = testing::UnitTest::GetInstance()->skipped_test_count();
  if (result != 0 || skipped == 0) return result;
  std::printf("%d skipped, and so exit code %d: what they would have tested is not tested here.\n", skipped, kSkipped);
  return kSkipped;
}
