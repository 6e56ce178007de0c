// SPDX-License-Identifier: Apache-2.0
// A pair of links in virtual time: what TCP may do to the octets changes nothing but the time it takes, and each end of a
// connection, wherever it comes, reports each work request once.
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "link_pair.hpp"

namespace weft::verbs::detail {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kShort = 33;
constexpr std::size_t kLong = 6000;

struct Traffic {
  explicit Traffic(LinkPair& on) : pair(on) {
    for (std::size_t i = 0; i < sent.size(); ++i) sent[i] = static_cast<std::byte>(i * 7 + i / 251);
    for (auto& one : receives) pair.server.receive_into(one);
    pair.server.segment(target);
  }
  // Two Sends, a Write and a Read, in this order.
  void post() {
    const Sge brief = pair.client.segment(std::span(sent).first(kShort));
    const Sge all = pair.client.segment(source);
    const Sge sink = pair.client.segment(fetched);
    const Sge remote = pair.server.segment(target);
    std::ranges::copy(sent, source.begin());
    const auto request = [&](std::uint64_t id, SendOpcode opcode, const Sge& local) {
      pair.client.post({.wr_id = id,
                        .opcode = opcode,
                        .flags = SendFlags::kSignaled,
                        .segments = std::span(&local, 1),
                        .remote_address = remote.address,
                        .rkey = remote.lkey});
    };
    request(0, SendOpcode::kSend, brief);
    request(1, SendOpcode::kRdmaWrite, all);
    request(2, SendOpcode::kSend, all);
    request(3, SendOpcode::kRdmaRead, sink);
  }

  LinkPair& pair;
  std::array<std::byte, kLong> sent{}, source{}, target{}, fetched{};
  std::array<std::array<std::byte, kLong>, 2> receives{};
};

// With and without QueuePair::confirm_writes().
class Links : public testing::TestWithParam<bool> {
 protected:
  const ServedQueuePair::Extensions extensions{.confirm_writes = GetParam()};
};
INSTANTIATE_TEST_SUITE_P(Confirmation, Links, testing::Bool());

TEST_P(Links, CarryTheSameWhateverTheSplits) {
  for (const std::size_t piece : {1UZ, 2UZ, 3UZ, 13UZ, 64UZ, 1459UZ, 5000UZ, 1UZ << 20U}) {
    for (const std::size_t room : {1UZ, 100UZ, 4096UZ, 1UZ << 30U}) {
      SCOPED_TRACE(std::to_string(piece) + " octets a read, room for " + std::to_string(room));
      LinkPair pair({}, extensions);
      pair.there.piece = pair.back.piece = piece;
      pair.there.room = pair.back.room = room;
      Traffic traffic(pair);
      pair.run();
      ASSERT_EQ(pair.client.established_count, 1);
      ASSERT_EQ(pair.server.established_count, 1);
      traffic.post();
      pair.run();
      ASSERT_EQ(pair.client.sends.size(), 4U);
      for (std::uint64_t i = 0; i < 4; ++i) {
        EXPECT_EQ(pair.client.sends[i].wr_id, i);
        EXPECT_EQ(pair.client.sends[i].status, WcStatus::kSuccess);
      }
      ASSERT_EQ(pair.server.received.size(), 2U);
      EXPECT_EQ(pair.server.received[0].byte_len, kShort);
      EXPECT_EQ(pair.server.received[1].byte_len, kLong);
      EXPECT_TRUE(
          std::ranges::equal(std::span(traffic.receives[0]).first(kShort), std::span(traffic.sent).first(kShort)));
      EXPECT_EQ(traffic.receives[1], traffic.sent);
      EXPECT_EQ(traffic.target, traffic.sent);
      EXPECT_EQ(traffic.fetched, traffic.sent);
    }
  }
}

// Every work request completes once, in order, and each end is reported once.
void expect_one_end(const LinkEnd& end) {
  EXPECT_EQ(end.closed_count, 1);
  EXPECT_LE(end.established_count, 1);
  EXPECT_EQ(end.sends.size(), end.posted_sends);
  EXPECT_EQ(end.received.size(), end.attached ? end.posted_receives : 0);
  const auto in_order = [](const std::vector<WorkCompletion>& all) {
    return std::ranges::is_sorted(all, {}, &WorkCompletion::wr_id) &&
           std::ranges::adjacent_find(all, {}, &WorkCompletion::wr_id) == all.end();
  };
  EXPECT_TRUE(in_order(end.sends));
  EXPECT_TRUE(in_order(end.received));
  EXPECT_TRUE(std::ranges::is_sorted(end.sends, {}, [](const auto& one) { return one.status != WcStatus::kSuccess; }))
      << "no success follows a failure";
}

TEST_P(Links, ReportEachWorkRequestOnceWhereverTheyAreCut) {
  const auto play = [this](std::size_t there, std::size_t back) {
    LinkPair pair({}, extensions);
    pair.there.cut_after = there;
    pair.back.cut_after = back;
    pair.there.piece = pair.back.piece = 700;
    Traffic traffic(pair);
    pair.run();
    traffic.post();
    pair.run();
    const std::pair passed{pair.there.passed, pair.back.passed};
    if (pair.client.link.life().disconnect.stage == StreamLife::DisconnectWait::Stage::kNone &&
        !pair.client.link.life().finished())
      pair.client.disconnect();
    pair.run();
    pair.pass(1h);
    expect_one_end(pair.client);
    expect_one_end(pair.server);
    return passed;
  };
  constexpr std::size_t kNever = std::numeric_limits<std::size_t>::max();
  const auto [there, back] = play(kNever, kNever);
  ASSERT_GT(there, 2 * kLong);
  ASSERT_GT(back, kLong);
  for (std::size_t at = 0; at < there; at += at < 300 ? 1 : 211) {
    SCOPED_TRACE("the responder's connection is cut after " + std::to_string(at));
    play(at, kNever);
  }
  for (std::size_t at = 0; at < back; at += at < 300 ? 1 : 211) {
    SCOPED_TRACE("the initiator's connection is cut after " + std::to_string(at));
    play(kNever, at);
  }
}

// What the pipe has taken and the peer has not read.
TEST_P(Links, CompleteAWriteOnceItIsPlacedIfThatIsConfirmed) {
  LinkPair pair({}, extensions);
  Traffic traffic(pair);
  pair.run();
  traffic.post();
  while (pair.client.drive()) {
  }
  const std::size_t before = GetParam() ? 1 : 3;  // the Send ahead of it; or all but the Read
  EXPECT_EQ(pair.client.sends.size(), before);
  pair.run();
  EXPECT_EQ(pair.client.sends.size(), 4U);
  for (const auto& one : pair.client.sends) EXPECT_EQ(one.status, WcStatus::kSuccess);
}

// The later ones share a confirmation: 28 octets of an RDMA Read Request and 14 of its answer, and what MPA adds.
TEST(LinkPair, HasOneConfirmationUnderWayAtATime) {
  LinkPair pair({}, {.confirm_writes = true});
  std::array<std::byte, 8> octets{}, target{};
  const Sge local = pair.client.segment(octets), remote = pair.server.segment(target);
  pair.run();
  const auto write = [&](std::uint64_t id, SendFlags flags) {
    pair.client.post({.wr_id = id,
                      .opcode = SendOpcode::kRdmaWrite,
                      .flags = flags,
                      .segments = std::span(&local, 1),
                      .remote_address = remote.address,
                      .rkey = remote.lkey});
  };
  write(0, SendFlags::kSignaled);
  pair.run();
  const std::size_t answer = pair.back.passed;
  write(1, {});
  pair.run();
  EXPECT_EQ(pair.back.passed, answer) << "nobody waits for one that is not signaled";
  for (std::uint64_t id = 2; id < 12; ++id) write(id, SendFlags::kSignaled);
  while (pair.client.drive()) {
  }
  EXPECT_EQ(pair.client.sends.size(), 1U);
  const std::size_t one_answer = 20;  // MPA's length and CRC, DDP's tagged header
  pair.run();
  EXPECT_EQ(pair.client.sends.size(), 11U);
  EXPECT_EQ(pair.back.passed, answer + 2 * one_answer);
}

TEST(LinkPair, WaitsForTheStartUpAsLongAsThePolicySays) {
  Policy policy;
  policy.timeouts.startup = 7s;
  LinkPair pair(policy);
  pair.there.room = 0;  // the Request never arrives
  pair.run();
  pair.pass(7s - 1ms);
  EXPECT_FALSE(pair.client.startup_failure);
  pair.pass(2ms);
  EXPECT_TRUE(pair.client.startup_failure);
  EXPECT_TRUE(pair.server.startup_failure);
}

Policy patient_for(std::chrono::milliseconds time) {
  Policy policy;
  policy.timeouts.disconnect = time;
  return policy;
}

// The client has posted what the pipe does not take, and disconnects.
std::unique_ptr<Traffic> disconnected_with_work(LinkPair& pair, Unfinished work = Unfinished::kFlush) {
  auto traffic = std::make_unique<Traffic>(pair);
  pair.run();
  pair.there.room = 0;
  traffic->post();
  pair.run();
  pair.client.disconnect(work);
  return traffic;
}

// Octets of the client, into a pipe that takes nothing otherwise.
void let_pass(LinkPair& pair, std::size_t octets) {
  pair.there.room = octets;
  pair.client.drive();
  pair.there.room = 0;
  pair.run();
}

TEST(LinkPair, GivesUpAPeerThatTakesNothingAfterDisconnect) {
  LinkPair pair(patient_for(3s));
  const auto traffic = disconnected_with_work(pair);
  pair.pass(3s - 1ms);
  EXPECT_EQ(pair.client.sends.size(), 0U);
  pair.pass(2ms);
  EXPECT_EQ(pair.client.sends.size(), 4U);
  for (const auto& one : pair.client.sends) EXPECT_EQ(one.status, WcStatus::kFlushed);
  EXPECT_EQ(pair.client.peer_closed_count, 1);
}

// What is under way on a slow path is no sign of a peer that takes nothing.
TEST(LinkPair, WaitsAfterDisconnectForFourRoundTrips) {
  LinkPair pair(patient_for(250ms));
  pair.client.round_trip = 300ms;
  const auto traffic = disconnected_with_work(pair);
  pair.pass(1200ms - 1ms);
  EXPECT_EQ(pair.client.sends.size(), 0U);
  let_pass(pair, 100);
  pair.pass(1200ms - 1ms);
  EXPECT_EQ(pair.client.sends.size(), 1U) << "the short Send; and the wait begins anew, as long as before";
  pair.pass(2ms);
  EXPECT_EQ(pair.client.sends.size(), 4U);
}

TEST(LinkPair, HasThatPatienceAnewWithEachOctetThatMoves) {
  LinkPair pair(patient_for(3s));
  const auto traffic = disconnected_with_work(pair);
  for (int i = 0; i < 5; ++i) {
    let_pass(pair, 100);
    pair.pass(2900ms);
    EXPECT_EQ(pair.client.peer_closed_count, 0);
    EXPECT_EQ(pair.client.sends.size(), 1U) << "the short Send";
  }
  pair.there.room = std::numeric_limits<std::size_t>::max();
  pair.run();
  ASSERT_EQ(pair.client.sends.size(), 4U);
  for (const auto& one : pair.client.sends) EXPECT_EQ(one.status, WcStatus::kSuccess);
}

TEST(LinkPair, FlushesNoWorkThatIsAwaited) {
  LinkPair pair(patient_for(250ms));
  const auto traffic = disconnected_with_work(pair, Unfinished::kAwait);
  pair.pass(30s);
  EXPECT_EQ(pair.client.sends.size(), 0U);
  EXPECT_EQ(pair.client.peer_closed_count, 0);
  pair.there.room = std::numeric_limits<std::size_t>::max();
  pair.run();
  ASSERT_EQ(pair.client.sends.size(), 4U);
  for (const auto& one : pair.client.sends) EXPECT_EQ(one.status, WcStatus::kSuccess);
}

TEST(LinkPair, AwaitsWorkUntilItHasToBeFinished) {
  Policy policy = patient_for(250ms);
  policy.timeouts.finish = 10s;
  LinkPair pair(policy);
  const auto traffic = disconnected_with_work(pair, Unfinished::kAwait);
  pair.pass(10s - 1ms);
  EXPECT_EQ(pair.client.sends.size(), 0U);
  pair.pass(2ms);
  ASSERT_EQ(pair.client.sends.size(), 4U);
  for (const auto& one : pair.client.sends) EXPECT_EQ(one.status, WcStatus::kFlushed);
}

// The peer's Send waits for a receive that may still be posted; this end's work goes on meanwhile.
TEST(LinkPair, DoesNotLeaveAPeerWhoseSendWaitsWhileWorkIsAwaited) {
  LinkPair pair(patient_for(250ms));
  pair.run();
  std::array<std::byte, kShort> source{};
  pair.server.receive_into(source);
  pair.client.post({.opcode = SendOpcode::kSend});  // then the responder may send, too
  pair.run();
  const Sge of_server = pair.server.segment(source);
  pair.server.post({.opcode = SendOpcode::kSend, .segments = std::span(&of_server, 1)});
  pair.run();
  ASSERT_TRUE(pair.client.link.inbox().stalled);
  pair.there.room = 0;
  const Sge of_client = pair.client.segment(source);
  pair.client.post({.opcode = SendOpcode::kSend, .flags = SendFlags::kSignaled, .segments = std::span(&of_client, 1)});
  pair.client.disconnect(Unfinished::kAwait);
  pair.pass(2s);
  EXPECT_EQ(pair.client.sends.size(), 0U);
  pair.there.room = std::numeric_limits<std::size_t>::max();
  pair.run();
  ASSERT_EQ(pair.client.sends.size(), 1U);
  EXPECT_EQ(pair.client.sends[0].status, WcStatus::kSuccess);
}

TEST(LinkPair, GoesOnWithASendThatFoundNoReceive) {
  LinkPair pair;
  pair.run();
  std::array<std::byte, kShort> source{}, sink{};
  source.fill(std::byte{0x5a});
  const Sge local = pair.client.segment(source);
  pair.client.post({.opcode = SendOpcode::kSend, .flags = SendFlags::kSignaled, .segments = std::span(&local, 1)});
  pair.run();
  EXPECT_TRUE(pair.server.link.inbox().stalled);
  EXPECT_FALSE(pair.server.link.inbox().reads());
  pair.server.receive_into(sink);
  pair.run();
  EXPECT_EQ(sink, source);
  EXPECT_EQ(pair.client.sends.size(), 1U);
}

// The Terminate that follows an end inside an FPDU is lost with the connection, and nothing is waited for.
// Its application does not know yet that the peer has closed, and ibv_post_send(3) takes requests in RTS and in ERR.
TEST(LinkPair, FlushesWhatIsPostedAfterThePeerHasClosed) {
  LinkPair pair;
  Traffic traffic(pair);
  pair.run();
  pair.there.room = 0;
  traffic.post();
  pair.run();
  pair.server.disconnect();
  pair.run();
  ASSERT_EQ(pair.client.link.life().stage(), Stage::kClosing);
  pair.client.post({.wr_id = 4, .opcode = SendOpcode::kSend});
  EXPECT_TRUE(pair.client.sends.empty()) << "not before the others";
  pair.there.room = 1U << 30U;
  pair.run();
  ASSERT_EQ(pair.client.sends.size(), 5U);
  for (std::uint64_t i = 0; i < 5; ++i) EXPECT_EQ(pair.client.sends[i].wr_id, i);
  EXPECT_EQ(pair.client.sends[4].status, WcStatus::kFlushed);
}

TEST(LinkPair, EndsAtOnceWhenThePeerHasGoneInsideAnFpdu) {
  LinkPair pair;
  pair.run();
  std::array<std::byte, kShort> source{}, sink{};
  const Sge local = pair.client.segment(source);
  const auto send = [&] {
    pair.server.receive_into(sink);
    pair.client.post({.opcode = SendOpcode::kSend, .segments = std::span(&local, 1)});
    pair.client.drive();
  };
  send();  // before a whole FPDU there is no Terminate
  pair.server.drive();
  pair.there.room = kShort / 2;
  send();
  pair.there.fin = pair.back.broken = true;
  pair.server.drive();
  EXPECT_EQ(pair.server.closed_count, 1);
  ASSERT_EQ(pair.server.received.size(), 2U);
  EXPECT_EQ(pair.server.received[0].status, WcStatus::kSuccess);
  EXPECT_EQ(pair.server.received[1].status, WcStatus::kFlushed);
}

}  // namespace
}  // namespace weft::verbs::detail
