// SPDX-License-Identifier: Apache-2.0
// The stages of a stream, and the table of them that docs/progress.md shows.
#include "verbs/stream/stream_life.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

namespace weft::verbs::detail {
namespace {

TEST(StreamLife, IsPrintedInTheDocuments) {
  std::ifstream file(WEFT_SOURCE_DIR "/docs/progress.md");
  const std::string page{std::istreambuf_iterator<char>(file), {}};
  EXPECT_NE(page.find(StreamLife::print()), std::string::npos) << "the table should be\n" << StreamLife::print();
}

TEST(StreamLife, GoesForwardOnly) {
  for (const auto& step : StreamLife::kSteps) {
    EXPECT_LT(step.from, step.to);
    StreamLife life;
    life.reach(step.from);
    EXPECT_EQ(life.stage(), step.from);
    life.reach(step.to);
    EXPECT_EQ(life.stage(), step.to);
    life.reach(step.from);
    EXPECT_EQ(life.stage(), step.to) << "what was passed stays behind";
  }
}

TEST(StreamLife, TellsWhereItIs) {
  StreamLife life;
  EXPECT_FALSE(life.is_established());
  life.reach(Stage::kEstablished);
  EXPECT_TRUE(life.is_established());
  EXPECT_FALSE(life.fails());
  life.reach(Stage::kFailing);
  EXPECT_TRUE(life.is_established() && life.fails() && !life.is_closed());
  life.reach(Stage::kClosed);
  EXPECT_TRUE(life.is_closed() && !life.fails());
}

}  // namespace
}  // namespace weft::verbs::detail
