// SPDX-License-Identifier: Apache-2.0
// MPA Requests of ends that no queue pair waits for: each is rejected and counted, and nothing is placed.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <vector>

#include "direct_sides.hpp"
#include "direct_stranger.hpp"

namespace weft::compat::test {
namespace {

constexpr std::uint32_t kLesserPeer = 0x040001;  // at port 1024: it connects, if anybody does
constexpr std::size_t kFlags = 16;
constexpr char kRejected = 0x20;

class Caller {
 public:
  explicit Caller(const Claim& claim) : stranger_(Stranger::connected(claim.to >> 8)) {
    stranger_.say(startup_frame("MPA ID Req Frame", claim.octets()));
  }
  [[nodiscard]] bool is_rejected() const {
    const std::string reply = stranger_.hear_frame();
    return reply.size() >= Stranger::kHeader && reply.starts_with("MPA ID Rep Frame") &&
           (reply[kFlags] & kRejected) != 0;
  }
  [[nodiscard]] const Stranger& stranger() const { return stranger_; }

 private:
  Stranger stranger_;
};

// The numbers of the lines about rejected Requests in a log.
std::vector<unsigned long> numbers_in(const std::string& log) {
  constexpr std::string_view kBefore = "MPA Request rejected: ";
  constexpr std::string_view kNumber = "(number ";
  std::vector<unsigned long> all;
  for (auto at = log.find(kBefore); at != std::string::npos; at = log.find(kBefore, at + 1)) {
    all.push_back(std::stoul(log.substr(log.find(kNumber, at) + kNumber.size())));
  }
  return all;
}

// Rejects one more, and returns what the log says of all since CaptureStderr().
std::vector<unsigned long> counted_with(const Claim& claim) {
  EXPECT_TRUE(Caller(claim).is_rejected());
  return numbers_in(testing::internal::GetCapturedStderr());
}

std::vector<Claim> wrong_ones(const Claim& truth) {
  std::vector<Claim> all(6, truth);
  all[0].from += 1;
  all[1].to += 1;  // of the same port, and nobody's
  all[2].sq_psn += 1;
  all[3].rq_psn += 1;
  all[4].from_address[3] = 2;
  all[5].size = 63;
  return all;
}

TEST(CompatDirectRequest, OfAnEndThatNobodyWaitsForIsRejectedAndCounted) {
  Side victim;
  go(victim, kLesserPeer, 1, 2);
  victim.receive(20);
  const Claim truth{.from = kLesserPeer, .to = victim.qp->qp_num, .sq_psn = 2, .rq_psn = 1};
  testing::internal::CaptureStderr();
  for (const Claim& lie : wrong_ones(truth)) EXPECT_TRUE(Caller(lie).is_rejected());
  const Caller honest(truth);
  EXPECT_FALSE(honest.is_rejected());
  const auto numbers = counted_with(truth);  // its place is taken
  ASSERT_EQ(numbers.size(), wrong_ones(truth).size() + 1);
  for (std::size_t i = 1; i < numbers.size(); ++i) EXPECT_EQ(numbers[i], numbers[i - 1] + 1);
  ibv_wc wc{};
  EXPECT_EQ(ibv_poll_cq(victim.cq, 1, &wc), 0);
  honest.stranger().say(first_send(std::string_view("letters", 8)));
  expect_done(victim.next(), 20);
  EXPECT_STREQ(victim.octets.data(), "letters");
}

// GIDs and numbers are no secrets: in RTR the peer's own number has to be right, for there is no other to compare.
TEST(CompatDirectRequest, WithoutAPacketSequenceNumberIsRejectedInRtr) {
  Side victim;
  ASSERT_EQ(modify(victim.qp, IBV_QPS_INIT), 0);
  ASSERT_EQ(to_rtr(victim, kLesserPeer, 2), 0);
  victim.receive(20);
  const Claim truth{.from = kLesserPeer, .to = victim.qp->qp_num, .sq_psn = 2, .rq_psn = 1};
  Claim stranger = truth;
  stranger.sq_psn = kUnknownPsn;
  EXPECT_TRUE(Caller(stranger).is_rejected());
  stranger.rq_psn = 0x123456;
  EXPECT_TRUE(Caller(stranger).is_rejected());
  const Caller honest(truth);
  EXPECT_FALSE(honest.is_rejected());
  ASSERT_EQ(to_rts(victim, 1), 0) << "the strangers' numbers are not kept";
  honest.stranger().say(first_send(std::string_view("letters", 8)));
  expect_done(victim.next(), 20);
}

// Its program only receives, and never reaches RTS: what it expects is right.
TEST(CompatDirectRequest, WithoutItsOwnPacketSequenceNumberIsAcceptedInRts) {
  Side victim;
  go(victim, kLesserPeer, 1, 2);
  Claim receiver{.from = kLesserPeer, .to = victim.qp->qp_num, .sq_psn = kUnknownPsn, .rq_psn = 3};
  EXPECT_TRUE(Caller(receiver).is_rejected());
  receiver.rq_psn = 1;
  EXPECT_FALSE(Caller(receiver).is_rejected());
}

// With packet sequence numbers that anybody can guess, a stranger may come first. It keeps the peer out while it stays.
TEST(CompatDirectRequest, OfThePeerIsAcceptedWhenAStrangerHasLeft) {
  for (const bool established : {false, true}) {
    Side victim;
    go(victim, kLesserPeer);
    victim.receive(20);
    const Claim zero{.from = kLesserPeer, .to = victim.qp->qp_num};
    {
      const Caller stranger(zero);
      ASSERT_FALSE(stranger.is_rejected());
      if (established) stranger.stranger().say(first_send(std::string_view("strange", 8)));
      if (established) expect_done(victim.next(), 20);
    }
    wait_until([&] { return !Caller(zero).is_rejected(); }, "the end of the stranger's connection");
  }
}

// The places are full, and one is found for it; its queue pair then rejects the others.
TEST(CompatDirectRequest, OfThePeerIsAcceptedAlthoughStrangersWait) {
  const Side listens;  // at the same port
  go(listens, kLesserPeer);
  Side one, other;
  Side& peer = one.qp->qp_num < other.qp->qp_num ? one : other;
  Side& late = &peer == &one ? other : one;
  std::vector<std::unique_ptr<Caller>> callers;
  const Claim stranger{.from = 1, .to = late.qp->qp_num};
  for (int i = 0; i < 9; ++i) callers.push_back(std::make_unique<Caller>(stranger));
  std::vector<pollfd> sockets;
  for (const auto& each : callers) sockets.push_back({.fd = each->stranger().socket(), .events = POLLIN, .revents = 0});
  ASSERT_GT(::poll(sockets.data(), sockets.size(), static_cast<int>(std::chrono::milliseconds(kPatience).count())), 0)
      << "eight wait";
  go(peer, late.qp->qp_num);
  for (int i = 0; i < 9; ++i) callers.push_back(std::make_unique<Caller>(stranger));
  go(late, peer.qp->qp_num);
  exchange(peer, late);
  for (const auto& each : callers) EXPECT_TRUE(each->is_rejected());
}

// Of a queue pair that is not in RTR yet, eight wait; those of one that goes are rejected with it.
TEST(CompatDirectRequest, TooEarlyOnesWaitAndAreCountedWhenTheirQueuePairGoes) {
  const Side listens;  // at the same port
  go(listens, kLesserPeer);
  testing::internal::CaptureStderr();
  const Claim stray{.from = kLesserPeer, .to = listens.qp->qp_num, .sq_psn = 9};
  const auto before = counted_with(stray);
  ASSERT_EQ(before.size(), 1U);
  testing::internal::CaptureStderr();
  std::vector<std::unique_ptr<Caller>> callers;
  {
    const Side late;
    for (int i = 0; i < 9; ++i) callers.push_back(std::make_unique<Caller>(Claim{.from = 1, .to = late.qp->qp_num}));
    std::vector<pollfd> sockets;
    for (const auto& one : callers) sockets.push_back({.fd = one->stranger().socket(), .events = POLLIN, .revents = 0});
    ASSERT_GT(::poll(sockets.data(), sockets.size(), static_cast<int>(std::chrono::milliseconds(kPatience).count())),
              0);
    EXPECT_EQ(std::ranges::count_if(sockets, [](const pollfd& one) { return one.revents != 0; }), 1) << "the oldest";
  }
  for (const auto& one : callers) EXPECT_TRUE(one->is_rejected());
  const auto after = counted_with(stray);
  ASSERT_EQ(after.size(), 2U) << "the one that gave way, and this one";
  EXPECT_EQ(after[0], before[0] + 1);
  EXPECT_EQ(after[1], before[0] + 10);
}

TEST(CompatDirectRequest, OneThatIsTooEarlyFromElsewhereDoesNotWait) {
  const Side listens, late;  // at the same port
  go(listens, kLesserPeer);
  testing::internal::CaptureStderr();
  EXPECT_TRUE(Caller({.from = 1, .to = late.qp->qp_num, .from_address = {127, 0, 0, 2}}).is_rejected());
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("MPA Request rejected: it does not come from the address that it names (number "),
            std::string::npos)
      << said;
}

TEST(CompatDirectRequest, OneThatIsTooEarlyWaitsForTenSeconds) {
  const Side listens, late;  // at the same port
  go(listens, kLesserPeer);
  testing::internal::CaptureStderr();
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_TRUE(Caller({.from = 1, .to = late.qp->qp_num}).is_rejected());
  EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("MPA Request rejected: its queue pair did not reach RTR in time (number "), std::string::npos)
      << said;
}

}  // namespace
}  // namespace weft::compat::test
