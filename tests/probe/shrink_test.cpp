// SPDX-License-Identifier: Apache-2.0
// What the prober makes of a long random conversation that found something. The peer is a function of the test.
#include <gtest/gtest.h>

#include <algorithm>

#include "probe/random/fuzz.hpp"

namespace weft::probe {
namespace {

ScriptFinding finding_of(const Script& script, const std::string& what) {
  return {.seed = 7, .script = script, .what = what, .exchanges = {}};
}

bool has_bad_write(const Script& script) {
  return std::ranges::any_of(script.steps,
                             [](const Step& step) { return step.kind == Step::kWrite && step.crc_xor != 0; });
}

// A conversation of many steps, most of which have nothing to do with what it finds.
Script long_script() {
  Script script{.markers = true, .edits = {{3, 1}, {17, 8}}, .steps = {}};
  for (const Step::Kind kind : {Step::kSend, Step::kRead, Step::kSendInvalidate, Step::kWrite, Step::kTerminate}) {
    script.steps.push_back({.kind = kind,
                            .offset = 40,
                            .size = 1000,
                            .edits = {{2, 3}},
                            .crc_xor = kind == Step::kWrite ? 0x10U : 0U,
                            .length_xor = 4,
                            .cuts = {1, 2},
                            .again = true});
  }
  return script;
}

TEST(Shrink, LeavesTheOneStepThatMatters) {
  const RunScript peer = [](const Script& script) -> std::optional<ScriptFinding> {
    if (!has_bad_write(script)) return {};
    return finding_of(script, "an octet at " + std::to_string(script.steps.size()) + " was placed");
  };
  const auto found = peer(long_script());
  ASSERT_TRUE(found);
  const ScriptFinding small = shrink(peer, *found);
  EXPECT_EQ(small.script, (Script{.steps = {{.kind = Step::kWrite, .crc_xor = 0x10}}})) << to_text(small.script);
  EXPECT_EQ(small.seed, 7U);
  EXPECT_EQ(small.what, "an octet at 1 was placed");
}

// A smaller script that brings another fault to light is no smaller form of this one.
TEST(Shrink, KeepsToItsFinding) {
  const RunScript peer = [](const Script& script) -> std::optional<ScriptFinding> {
    return finding_of(script, has_bad_write(script) ? "placed" : "it hangs");
  };
  const ScriptFinding small = shrink(peer, *peer(long_script()));
  EXPECT_TRUE(has_bad_write(small.script)) << to_text(small.script);
  EXPECT_EQ(small.what, "placed");
}

// A finding that comes once only stays as it was found.
TEST(Shrink, LeavesWhatDoesNotComeAgain) {
  const RunScript peer = [](const Script&) { return std::optional<ScriptFinding>(); };
  EXPECT_EQ(shrink(peer, finding_of(long_script(), "once")).script, long_script());
}

TEST(Shrink, TakesNoMoreConversationsThanItMay) {
  std::size_t runs = 0;
  const RunScript peer = [&runs](const Script& script) {
    ++runs;
    return std::optional(finding_of(script, "always"));
  };
  static_cast<void>(shrink(peer, finding_of(long_script(), "always"), 3));
  EXPECT_EQ(runs, 3U);
}

}  // namespace
}  // namespace weft::probe
