// SPDX-License-Identifier: Apache-2.0
#include "mpa/startup_phase.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <utility>

#include "support.hpp"

namespace weft::mpa {
namespace {

TEST(StartupPhase, EachTriggerLeadsToOnePlace) {
  std::set<std::pair<Phase, Trigger>> seen;
  for (const Transition& t : kTransitions) EXPECT_TRUE(seen.emplace(t.from, t.trigger).second) << name(t.from);
}

// MPA-7.1.2-17: only a first FPDU leads a responder to a phase in which it may send.
TEST(StartupPhase, AResponderMaySendOnlyAfterTheFirstFpdu) {
  std::set<Phase> reached{Phase::kAwaitingRequest};
  for (std::size_t round = 0; round < kTransitions.size(); ++round) {
    for (const Transition& t : kTransitions) {
      if (reached.contains(t.from) && t.trigger != Trigger::kFirstFpduReceived) reached.insert(t.to);
    }
  }
  for (const Phase phase : reached) EXPECT_FALSE(may_send_fpdus(phase)) << name(phase);
  EXPECT_EQ(step(Phase::kFenced, Trigger::kFirstFpduReceived), Phase::kOpen);
}

// MPA-7.1.2-24: neither end sends or expects FPDUs before both frames have been exchanged.
TEST(StartupPhase, NoFpdusDuringTheExchange) {
  for (const Phase phase : {Phase::kIdle, Phase::kAwaitingReply, Phase::kAwaitingRequest, Phase::kDeciding,
                            Phase::kRejected, Phase::kFailed}) {
    EXPECT_FALSE(may_send_fpdus(phase));
    EXPECT_FALSE(test::expects_fpdus(phase));
  }
}

TEST(StartupPhase, TheDiagramHasEveryTransition) {
  const std::string text = diagram();
  EXPECT_EQ(static_cast<std::size_t>(std::ranges::count(text, '\n')), kTransitions.size() + 1);
  EXPECT_NE(text.find("fenced --> open : first FPDU received"), std::string::npos);
}

}  // namespace
}  // namespace weft::mpa
