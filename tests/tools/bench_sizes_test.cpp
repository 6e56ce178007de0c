// SPDX-License-Identifier: Apache-2.0
// `weft bench` with messages that no socket buffer holds: while one is still leaving, its buffer must not change.
#include <gtest/gtest.h>

#include <thread>

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

// What bench/drop_in_overhead.py holds the drop-in libraries against.
TEST(PerftestPattern, IsMeasured) {
  for (const std::string kind : {"lat", "bw"}) {
    Command command({"bench", kind, "--op", "write", "--pattern", "perftest", "--size", "64", "--iters", "150",
                     "--repetitions", "2", "--inline", "0"});
    const Ended ended = command.wait(std::chrono::seconds(250));
    EXPECT_EQ(ended.exit_code, 0) << ended.err;
    EXPECT_NE(ended.out.find("perftest"), std::string::npos) << ended.out;
    EXPECT_EQ(ended.out.find("ratio"), std::string::npos) << "raw TCP takes no part: " << ended.out;
  }
}

TEST(PerftestPattern, IsOfWritesOnly) {
  const Ended ended = run({"bench", "lat", "--op", "send", "--pattern", "perftest"});
  EXPECT_EQ(ended.exit_code, 2);
  EXPECT_NE(ended.err.find("--op write"), std::string::npos) << ended.err;
}

TEST(PerftestPattern, CanKeepEachProcessOnAProcessor) {
  Command command({"bench", "lat", "--op", "write", "--pattern", "perftest", "--pinned", "--iters", "150",
                   "--repetitions", "1", "--json"});
  const Ended ended = command.wait(std::chrono::seconds(250));
  if (std::thread::hardware_concurrency() < 2) {
    EXPECT_EQ(ended.exit_code, 2) << ended.err;
    return;
  }
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_NE(ended.out.find("\"pinned\": true"), std::string::npos) << ended.out;
}

TEST(PerftestPattern, IsTheOnlyOneThatIsPinnedWhole) {
  const Ended ended = run({"bench", "lat", "--op", "write", "--pinned"});
  EXPECT_EQ(ended.exit_code, 2);
  EXPECT_NE(ended.err.find("--pattern perftest"), std::string::npos) << ended.err;
}

// Each wakes the other, whichever way it sleeps; a wake-up that is lost would be a time-out.
class Sleepers : public testing::TestWithParam<std::vector<std::string>> {};

TEST_P(Sleepers, WakeEachOther) {
  std::vector<std::string> arguments{"bench", "lat", "--size", "64", "--iters", "300", "--repetitions", "2", "--json"};
  arguments.insert(arguments.end(), GetParam().begin(), GetParam().end());
  Command command(arguments);
  const Ended ended = command.wait(std::chrono::seconds(250));
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_NE(ended.out.find("\"tcp_waiting\": \"sleep\""), std::string::npos) << ended.out;
}

using Words = std::vector<std::string>;
INSTANTIATE_TEST_SUITE_P(
    Ways, Sleepers,
    testing::Values(Words{"--op", "send", "--blocking", "wait"}, Words{"--op", "send", "--blocking", "channel"},
                    Words{"--op", "write", "--blocking", "wait"}, Words{"--op", "write", "--blocking", "channel"},
                    Words{"--op", "read", "--blocking", "wait"}, Words{"--op", "read", "--idle-target"},
                    Words{"--op", "read", "--idle-target", "--blocking", "channel"}));

TEST(Sleeping, MustNotContradictItself) {
  EXPECT_NE(run({"bench", "lat", "--op", "send", "--idle-target"}).err.find("--op read"), std::string::npos);
  EXPECT_EQ(run({"bench", "lat", "--op", "write", "--pattern", "perftest", "--blocking", "wait"}).exit_code, 2);
  EXPECT_EQ(run({"bench", "bw", "--blocking", "wait"}).exit_code, 2) << "streams are polled for";
}

class Crowds : public testing::TestWithParam<Shape> {};

TEST_P(Crowds, AreMeasuredTogether) {
  const Shape& shape = GetParam();
  Command command({"bench", shape.kind, "--op", shape.op, "--size", shape.size, "--iters", "1000", "--repetitions", "2",
                   "--connections", "7", "--json"});
  const Ended ended = command.wait(std::chrono::seconds(250));
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_NE(ended.out.find("\"connections\": 7"), std::string::npos) << ended.out;
  EXPECT_NE(ended.out.find("\"weft_messages\": 1001"), std::string::npos) << "dealt out evenly: " << ended.out;
}

INSTANTIATE_TEST_SUITE_P(Patterns, Crowds,
                         testing::Values(Shape{"bw", "send", "5000"}, Shape{"bw", "write", "5000"},
                                         Shape{"bw", "read", "5000"}, Shape{"rate", "send", "64"},
                                         Shape{"rate", "write", "64"}, Shape{"rate", "read", "64"}),
                         testing::PrintToStringParamName());

TEST(Segments, CanBeThoseOfEthernet) {
  Command command(
      {"bench", "bw", "--size", "100000", "--emss", "1448", "--markers", "on", "--iters", "20", "--repetitions", "1"});
  const Ended ended = command.wait(std::chrono::seconds(250));
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_NE(ended.out.find("segments of 1448"), std::string::npos) << ended.out;
  EXPECT_NE(ended.out.find("markers on"), std::string::npos) << ended.out;
}

TEST(Markers, CanBeNamedOff) {
  const Ended ended = run({"bench", "lat", "--markers", "off", "--iters", "20", "--repetitions", "1"});
  EXPECT_NE(ended.out.find("markers off"), std::string::npos) << ended.out << ended.err;
  EXPECT_NE(run({"bench", "lat", "--markers", "--iters", "20", "--repetitions", "1"}).out.find("markers on"),
            std::string::npos);
  EXPECT_EQ(run({"bench", "lat", "--markers", "perhaps"}).exit_code, 2);
}

TEST(SignalEvery, IsBoundedByTheDepth) {
  Command command({"bench", "bw", "--op", "write", "--size", "64", "--iters", "500", "--repetitions", "1", "--depth",
                   "8", "--signal-every", "100"});
  const Ended ended = command.wait(std::chrono::seconds(250));
  EXPECT_EQ(ended.exit_code, 0) << "with fewer completions than the depth it would wait for ever: " << ended.err;
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
