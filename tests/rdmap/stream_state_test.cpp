// SPDX-License-Identifier: Apache-2.0
#include "rdmap/stream_state.hpp"

#include <gtest/gtest.h>

#include <set>

namespace weft::rdmap {
namespace {

constexpr StreamState kStates[] = {StreamState::kStartup, StreamState::kOperational, StreamState::kHalfClosed,
                                   StreamState::kClosing, StreamState::kTerminating, StreamState::kClosed};

TEST(StreamState, TableIsUnambiguous) {
  std::set<std::pair<StreamState, StreamEvent>> seen;
  for (const Transition& t : kTransitions)
    EXPECT_TRUE(seen.insert({t.from, t.event}).second) << name(t.from) << ' ' << name(t.event);
}

TEST(StreamState, EveryStateCanEnd) {
  for (const StreamState state : kStates) {
    if (state == StreamState::kClosed) continue;
    EXPECT_EQ(next(state, StreamEvent::kConnectionLost), StreamState::kClosed) << name(state);
  }
}

TEST(StreamState, NothingHappensAfterTheEnd) {
  for (const Transition& t : kTransitions) {
    EXPECT_NE(t.from, StreamState::kClosed);
    EXPECT_FALSE(next(StreamState::kClosed, t.event));
  }
}

TEST(StreamState, DrawsItself) {
  const std::string text = diagram();
  EXPECT_TRUE(text.starts_with("stateDiagram-v2\n"));
  for (const StreamState state : kStates) EXPECT_NE(text.find(name(state)), std::string::npos) << name(state);
  EXPECT_NE(text.find("  Operational --> Terminating: error found\n"), std::string::npos);
  EXPECT_EQ(static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')), kTransitions.size() + 3);
}

}  // namespace
}  // namespace weft::rdmap
