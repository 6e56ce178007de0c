// SPDX-License-Identifier: Apache-2.0
// When two ends that name each other mean the same connection.
#include <gtest/gtest.h>

#include <optional>

#include "compat/direct/agreement.hpp"

namespace weft::compat::direct {
namespace {

constexpr End kPeer{.number = 1};
constexpr End kSelf{.number = 2};
constexpr std::uint32_t kPeers = 10;  // the packet sequence number of the peer's sends
constexpr std::uint32_t kOwn = 20;

using Psn = std::optional<std::uint32_t>;
Greeting own(Psn sq_psn) { return {.from = kSelf, .to = kPeer, .sq_psn = sq_psn, .rq_psn = kPeers}; }
Greeting peers(Psn sq_psn, Psn rq_psn) { return {.from = kPeer, .to = kSelf, .sq_psn = sq_psn, .rq_psn = rq_psn}; }

TEST(CompatDirectAgreement, NeedsAPacketSequenceNumberOfOneEnd) {
  EXPECT_EQ(judge(peers({}, kOwn), own({})), Verdict::kUnverified);
  EXPECT_EQ(judge(peers(kPeers, kOwn), own({})), Verdict::kVerified);
  EXPECT_EQ(judge(peers({}, kOwn), own(kOwn)), Verdict::kVerified);
  EXPECT_EQ(judge(peers(kPeers, kOwn), own(kOwn)), Verdict::kVerified);
}

TEST(CompatDirectAgreement, NoKnownNumberMayDiffer) {
  EXPECT_EQ(judge(peers(kPeers + 1, kOwn), own({})), Verdict::kOther);
  EXPECT_EQ(judge(peers(kPeers + 1, kOwn), own(kOwn)), Verdict::kOther);
  EXPECT_EQ(judge(peers(kPeers, kOwn + 1), own(kOwn)), Verdict::kOther);
  EXPECT_EQ(judge(peers({}, kOwn + 1), own(kOwn)), Verdict::kOther);
  EXPECT_EQ(judge(peers(kPeers, {}), own({})), Verdict::kOther) << "it is known in RTR";
}

TEST(CompatDirectAgreement, BothEndsAreNamed) {
  Greeting other = peers(kPeers, kOwn);
  other.from.number = 3;
  EXPECT_EQ(judge(other, own(kOwn)), Verdict::kOther);
  other = peers(kPeers, kOwn);
  other.to.number = 3;
  EXPECT_EQ(judge(other, own(kOwn)), Verdict::kOther);
}

TEST(CompatDirectAgreement, ANumberThatDiffersIsNotKept) {
  FirstNumber sends;
  EXPECT_TRUE(sends.expect(1));
  EXPECT_FALSE(sends.set(2));
  EXPECT_FALSE(sends.expect(3));
  EXPECT_TRUE(sends.expect(2));
  EXPECT_TRUE(sends.set(2));
}

}  // namespace
}  // namespace weft::compat::direct
