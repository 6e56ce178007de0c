// SPDX-License-Identifier: Apache-2.0
// `weft bench` with messages that no socket buffer holds: while one is still leaving, its buffer must not change.
#include <gtest/gtest.h>

#include "command.hpp"

namespace weft::test {
namespace {

struct Shape {
  std::string kind;
  std::string op;
  std::string size;
};
void PrintTo(const Shape& shape, std::ostream* out) { *out << shape.kind << '_' << shape.op << '_' << shape.size; }

class LongMessages : public testing::TestWithParam<Shape> {};

TEST_P(LongMessages, AreMeasured) {
  const Shape& shape = GetParam();
  Command command({"bench", shape.kind, "--op", shape.op, "--size", shape.size, "--iters", "3", "--repetitions", "1"});
  const Ended ended = command.wait(std::chrono::seconds(250));
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
}

constexpr const char* kMebi = "1048576";
INSTANTIATE_TEST_SUITE_P(Patterns, LongMessages,
                         testing::Values(Shape{"lat", "send", kMebi}, Shape{"lat", "write", kMebi},
                                         Shape{"lat", "read", kMebi}, Shape{"bw", "send", kMebi},
                                         Shape{"bw", "write", kMebi}, Shape{"bw", "read", kMebi},
                                         Shape{"rate", "send", kMebi}, Shape{"rate", "write", kMebi},
                                         Shape{"rate", "read", kMebi}, Shape{"lat", "write", "16777216"}),
                         testing::PrintToStringParamName());

}  // namespace
}  // namespace weft::test
