// SPDX-License-Identifier: Apache-2.0
// Cases to be skipped and to fail, so that CMakeLists.txt can look at exit codes.
#include <gtest/gtest.h>

namespace {

TEST(Probe, Passes) {}
TEST(Probe, IsSkipped) { GTEST_SKIP() << "on purpose"; }
TEST(Probe, Fails) { FAIL() << "on purpose"; }

}  // namespace
