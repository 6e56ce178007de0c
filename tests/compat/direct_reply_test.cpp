// SPDX-License-Identifier: Apache-2.0
// What accepts the connection of a queue pair has to be the one that its program named, or it gets nothing.
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "direct_sides.hpp"
#include "direct_stranger.hpp"

namespace weft::compat::test {
namespace {

constexpr std::uint32_t kOwnPsn = 0x111111;
constexpr std::uint32_t kPeersPsn = 0x222222;
constexpr std::string_view kReply = "MPA ID Rep Frame";

// A queue pair that connects to a stranger, with a receive and a Send posted.
struct Deceived {
  StrangersPort port;
  Side side;
  std::unique_ptr<Stranger> stranger;
  std::string request;

  Deceived() {
    if (side.qp->qp_num > port.number()) throw std::runtime_error("the stranger's port is to be the greater one");
    go(side, port.number(), kOwnPsn, kPeersPsn);
    std::memcpy(side.octets.data(), "private", 8);
    side.receive(20);
    if (side.post(1) != 0) throw std::runtime_error("post");
    stranger = std::make_unique<Stranger>(port.accept());
    request = stranger->hear_frame();
  }
  [[nodiscard]] Claim truth() const {
    return {.from = port.number(), .to = side.qp->qp_num, .sq_psn = kPeersPsn, .rq_psn = kOwnPsn};
  }
  void accept(const Claim& claim) const { stranger->say(startup_frame(kReply, claim.octets())); }
};

TEST(CompatDirectReply, OfTheNamedQueuePairMakesTheConnection) {
  const Deceived one;
  const Claim own{.from = one.side.qp->qp_num,
                  .to = one.port.number(),
                  .sq_psn = kUnknownPsn,  // before RTS
                  .rq_psn = kPeersPsn};
  ASSERT_EQ(one.request.size(), Stranger::kHeader + 4 + 64);
  EXPECT_EQ(one.request.substr(Stranger::kHeader + 4), own.octets());
  one.accept(one.truth());
  EXPECT_EQ(one.stranger->hear(1).size(), 1U) << "the ready-to-receive message";
  expect_done(one.side.next(), 1);
  one.stranger->say(first_send(std::string_view("strange", 8)));
  expect_done(one.side.next(), 20);
  EXPECT_STREQ(one.side.octets.data(), "strange");
}

std::vector<Claim> lies(const Claim& truth) {
  std::vector<Claim> all(10, truth);
  all[0].from += 1;
  all[1].to += 1;
  all[2].sq_psn += 1;
  all[3].rq_psn += 1;
  all[4].from_address[3] = 2;
  all[5].name[7] = 2;  // of another version
  all[6].size = 63;
  all[7].size = 8;
  all[8].size = 0;
  all[9].rq_psn = kUnknownPsn;  // it is known in RTR
  return all;
}

// All at once, because each send waits for two seconds.
TEST(CompatDirectReply, OfAnyOtherIsRefusedAndNothingMoves) {
  std::vector<std::unique_ptr<Deceived>> all;
  for (std::size_t i = 0; i < lies({}).size(); ++i) all.push_back(std::make_unique<Deceived>());
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Deceived& one = *all[i];
    one.accept(lies(one.truth())[i]);
    EXPECT_EQ(one.stranger->hear(1), "") << i << ": nothing is sent to it";
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Side& side = all[i]->side;
    const ibv_wc sent = side.next();
    EXPECT_EQ(sent.status, IBV_WC_RETRY_EXC_ERR) << i << ": " << ibv_wc_status_str(sent.status);
    EXPECT_EQ(sent.wr_id, 1U);
    const ibv_wc flushed = side.next();
    EXPECT_EQ(flushed.status, IBV_WC_WR_FLUSH_ERR) << i << ": " << ibv_wc_status_str(flushed.status);
    EXPECT_EQ(flushed.wr_id, 20U);
    EXPECT_EQ(side.query().qp_state, IBV_QPS_ERR);
    EXPECT_STREQ(side.octets.data(), "private") << i << ": nothing is placed";
  }
}

// The peer's program may not be as far as ours. By then ours is in RTS, and names both packet sequence numbers.
TEST(CompatDirectReply, ThatRejectsIsFollowedByAnotherRequest) {
  const Deceived one;
  std::string rejection = startup_frame(kReply, one.truth().octets());
  rejection[16] |= 0x20;
  std::unique_ptr<const Stranger> again;
  one.stranger->say(rejection);
  for (int times = 0; times < 3; ++times) {
    again = std::make_unique<Stranger>(one.port.accept());
    const Claim own{.from = one.side.qp->qp_num, .to = one.port.number(), .sq_psn = kOwnPsn, .rq_psn = kPeersPsn};
    EXPECT_EQ(again->hear_frame().substr(Stranger::kHeader + 4), own.octets());
    if (times != 2) again->say(rejection);
  }
  again->say(startup_frame(kReply, one.truth().octets()));
  EXPECT_EQ(again->hear(1).size(), 1U) << "the ready-to-receive message";
}

// MPA-7.1.1-25: the initiator has to speak first.
TEST(CompatDirectReply, WithOctetsBehindItIsRefusedForGood) {
  testing::internal::CaptureStderr();
  const Deceived one;
  one.stranger->say(startup_frame(kReply, one.truth().octets()) + first_send(std::string_view("strange", 8)));
  EXPECT_EQ(one.stranger->hear(1), "");
  const ibv_wc sent = one.side.next();
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_EQ(sent.status, IBV_WC_RETRY_EXC_ERR) << ibv_wc_status_str(sent.status);
  EXPECT_STREQ(one.side.octets.data(), "private");
  EXPECT_NE(said.find("octets followed the MPA Reply"), std::string::npos) << said;
  EXPECT_EQ(said.find("trying again"), std::string::npos) << said;
}

}  // namespace
}  // namespace weft::compat::test
