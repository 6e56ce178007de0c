// SPDX-License-Identifier: Apache-2.0
// Cases to pass, to be skipped and to fail, so that told.sh can look at exit codes and at the list.
#include <gtest/gtest.h>

namespace {

TEST(Probe, Passes) {}
TEST(Probe, IsSkipped) { GTEST_SKIP() << "SKIPPED: on\tpurpose,\n  in two lines"; }
TEST(Probe, IsSkippedWithoutAWord) { GTEST_SKIP(); }
TEST(Probe, Fails) { FAIL() << "on purpose"; }

class Before : public testing::Test {
 protected:
  void SetUp() override { GTEST_SKIP() << "before it begins"; }
};
TEST_F(Before, IsSkipped) {}

}  // namespace
