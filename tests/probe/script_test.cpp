// SPDX-License-Identifier: Apache-2.0
#include "probe/random/script.hpp"

#include <gtest/gtest.h>

#include <set>

namespace weft::probe {
namespace {

TEST(Script, IsReadAsItWasWritten) {
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    const Script script = random_script(seed);
    const auto read = parse_script(to_text(script));
    ASSERT_TRUE(read) << read.error() << "\n" << to_text(script);
    ASSERT_EQ(*read, script) << to_text(script);
  }
}

// The product of the tables is gone through in a stride that leaves out none and repeats none.
TEST(Script, OfABoundaryIsReadAsItWasWrittenAndVariesAll) {
  std::set<std::string> texts;
  std::set<Step::Kind> kinds;
  std::set<std::size_t> places;
  bool glued = false, dribbled = false, again = false, edits = false;
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    const Script script = boundary_script(seed);
    EXPECT_EQ(script, boundary_script(seed));
    const auto read = parse_script(to_text(script));
    ASSERT_TRUE(read) << read.error();
    ASSERT_EQ(*read, script) << to_text(script);
    texts.insert(to_text(script));
    places.insert(script.steps.size());
    const Step& step = script.steps[script.steps.size() - 2];
    kinds.insert(step.kind);
    glued = glued || step.glued;
    dribbled = dribbled || step.cuts.size() > 50;
    again = again || step.again;
    edits = edits || !step.edits.empty();
  }
  EXPECT_GT(texts.size(), 2500U);
  EXPECT_EQ(kinds.size(), 11U);
  EXPECT_EQ(places.size(), 5U);
  EXPECT_TRUE(glued && dribbled && again && edits);
}

// A number is a script: reruns give the same. Among many numbers each kind of step and of fault occurs.
TEST(Script, OfANumberIsAlwaysTheSame) {
  EXPECT_EQ(random_script(5), random_script(5));
  std::set<Step::Kind> kinds;
  bool crc = false, length = false, edits = false, cuts = false, again = false, frame = false;
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    const Script script = random_script(seed);
    frame = frame || !script.edits.empty();
    for (const Step& step : script.steps) {
      kinds.insert(step.kind);
      crc = crc || step.crc_xor != 0;
      length = length || step.length_xor != 0;
      edits = edits || !step.edits.empty();
      cuts = cuts || !step.cuts.empty();
      again = again || step.again;
    }
  }
  EXPECT_EQ(kinds.size(), Step::kKinds);
  EXPECT_TRUE(crc && length && edits && cuts && again && frame);
}

TEST(Script, RefusalsNameTheLine) {
  EXPECT_EQ(parse_script("").error(), "it is empty");
  EXPECT_EQ(parse_script("send\n").error(), "line 1 is not '# weft probe script 1'");
  const auto refusal = [](const std::string& line) { return parse_script("# weft probe script 1\n" + line).error(); };
  EXPECT_EQ(refusal("sned"), "line 2: no step has the name 'sned'");
  EXPECT_EQ(refusal("send size=x"), "line 2: 'size=x' makes no sense there");
  EXPECT_EQ(refusal("send size=99999999"), "line 2: 'size=99999999' makes no sense there");
  EXPECT_EQ(refusal("send xor=1"), "line 2: 'xor=1' makes no sense there");
  EXPECT_EQ(refusal("startup crc=2"), "line 2: 'crc=2' makes no sense there");
  std::string many;
  for (std::size_t i = 0; i <= kMostSteps; ++i) many += "fin\n";
  EXPECT_EQ(refusal(many), "line 258: more than 256 steps");
}

}  // namespace
}  // namespace weft::probe
