// SPDX-License-Identifier: Apache-2.0
// Reactions of which the RFCs allow more than one: what passes, what is a warning, and what is a failure.
#include <gtest/gtest.h>

#include "connected.hpp"
#include "probe/cases/startups.hpp"
#include "probe/plan/stage.hpp"
#include "probe/verdict.hpp"

namespace weft::probe::test {
namespace {

// The verdict on a peer that has sent these octets, and its FIN where `ends`.
template <typename Call>
Verdict verdict_on(Bytes octets, bool ends, bool started, Call call) {
  Connected pair;
  if (started) pair.conversation->start_fpdus(mpa::Framing{}, mpa::Framing{});
  pair.say(octets);
  if (ends) pair.peer->shutdown_write();
  try {
    call(*pair.conversation);
  } catch (const Judgement& judgement) {
    return judgement.verdict;
  }
  return Verdict::kPass;
}

std::vector<std::byte> framed_terminate(const rdmap::ErrorCode& error) {
  return Framer().fpdu(Messages().terminate(rdmap::make_terminate(error)));
}

TEST(Overlooked, IsAWarningWhereTheStreamGoesOn) {
  const auto verdict = [](Bytes octets, bool ends) {
    return verdict_on(octets, ends, true,
                      [](Conversation& by) { plan::expect_refused_or_overlooked(by, kVersion, "overlooked"); });
  };
  EXPECT_EQ(verdict(framed_terminate(kVersion), true), Verdict::kPass);
  EXPECT_EQ(verdict(Framer().fpdu(Messages().read_response({7}, {0x1234}, {})), false), Verdict::kWarn);
  EXPECT_EQ(verdict(framed_terminate(kMarkerMismatch), true), Verdict::kFail) << "another error";
  EXPECT_EQ(verdict(framed_terminate(kVersion), false), Verdict::kFail) << "the connection stays open";
  EXPECT_EQ(verdict({}, true), Verdict::kFail) << "no Terminate";
  EXPECT_EQ(verdict({}, false), Verdict::kFail) << "silence";
}

TEST(AfterAReply, ATerminateIsAWarningOfTheEnhancedStartUpAlone) {
  const auto verdict = [](Bytes octets, bool ends, bool enhanced) {
    return verdict_on(octets, ends, false,
                      [&](Conversation& by) { judge_terminate(expect_end_after_reply(by, enhanced)); });
  };
  for (const bool enhanced : {false, true}) {
    EXPECT_EQ(verdict({}, true, enhanced), Verdict::kPass) << enhanced;
    EXPECT_EQ(verdict({}, false, enhanced), Verdict::kFail) << enhanced;
    EXPECT_EQ(verdict(Framer().fpdu(Messages().write({}, {}, {})), true, enhanced), Verdict::kFail) << enhanced;
    EXPECT_EQ(verdict(framed_terminate(kBadStartupFrame), false, enhanced), Verdict::kFail) << enhanced;
  }
  EXPECT_EQ(verdict(framed_terminate(kBadStartupFrame), true, true), Verdict::kWarn);
  EXPECT_EQ(verdict(framed_terminate(kBadStartupFrame), true, false), Verdict::kFail);
}

// One octet below an offset of 0 is offset 2^64 - 1.
TEST(Bounds, OfMemoryThatBeginsAtZeroAreAlsoBrokenByAWrap) {
  EXPECT_EQ(bounds_errors(true, {~0ULL}, 64), (Errors{kTaggedBounds, kTaggedWrap}));
  EXPECT_EQ(bounds_errors(true, {0 - 64ULL}, 64), (Errors{kTaggedBounds, kTaggedWrap})) << "its end is 2^64";
  EXPECT_EQ(bounds_errors(true, {0 - 65ULL}, 64), Errors{kTaggedBounds});
  EXPECT_EQ(bounds_errors(true, {0xFFF}, 64), Errors{kTaggedBounds});
  EXPECT_EQ(bounds_errors(false, {~0ULL}, 8), (Errors{kReadBounds, kReadWrap}));
}

}  // namespace
}  // namespace weft::probe::test
