// SPDX-License-Identifier: Apache-2.0
// What runs the command for the other tests: its collected output is whole, however many processes write it.
#include "command.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace weft::test {
namespace {

TEST(Collected, WhatManyProcessesWroteIsWhole) {
  const Ended ended = Command({"-c",
                               "for writer in 1 2 3 4; do"
                               " { i=0; while [ $i -lt 5000 ]; do echo line >&2; i=$((i + 1)); done; } & done; wait"},
                              "/bin/sh")
                          .wait();
  ASSERT_EQ(ended.exit_code, 0);
  EXPECT_EQ(std::count(ended.err.begin(), ended.err.end(), '\n'), 4 * 5000);
}

}  // namespace
}  // namespace weft::test
