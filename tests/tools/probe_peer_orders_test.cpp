// SPDX-License-Identifier: Apache-2.0
// `weft probe-peer` does what it is told: each order, and what its report says of it.
#include <gmock/gmock.h>

#include <cstring>

#include "peer_caller.hpp"

namespace weft::test {
namespace {

using verbs::WcStatus;

class PeerOrders : public testing::Test {
 protected:
  // A number as it lies in the caller's memory.
  std::uint64_t number() {
    std::uint64_t out = 0;
    std::memcpy(&out, caller_.data().data(), sizeof out);
    return out;
  }
  void put(std::uint64_t value) { std::memcpy(caller_.data().data(), &value, sizeof value); }

  ListeningPeer peer_{};
  PeerCaller caller_{peer_.at(), Wish{}};
};

TEST_F(PeerOrders, Sends) {
  caller_.order({.operation = Order::kSend, .count = 3, .length = 100});
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(caller_.receive().size(), 100U);
    EXPECT_FALSE(caller_.last.solicited);
  }
  caller_.order({.operation = Order::kSendSolicited});
  EXPECT_EQ(caller_.receive().size(), 0U);
  EXPECT_TRUE(caller_.last.solicited);
}

TEST_F(PeerOrders, SendsThatInvalidate) {
  for (const bool solicited : {false, true}) {
    std::vector<std::byte> octets(16);
    const auto target = caller_.link.domain().register_memory(octets.data(), octets.size(), verbs::Access::kRemoteRead,
                                                              {.only_for = &caller_.link.queue_pair()});
    ASSERT_TRUE(target);
    const auto kind = solicited ? Order::kSendSolicitedInvalidate : Order::kSendInvalidate;
    caller_.order({.operation = kind, .length = 5, .stag = {target->rkey()}});
    EXPECT_EQ(caller_.receive().size(), 5U);
    EXPECT_TRUE(caller_.last.with_invalidate);
    EXPECT_EQ(caller_.last.invalidated_rkey, target->rkey());
    EXPECT_EQ(caller_.last.solicited, solicited);
  }
}

TEST_F(PeerOrders, SendsImmediateData) {
  for (const bool solicited : {false, true}) {
    caller_.order(
        {.operation = solicited ? Order::kImmediateSolicited : Order::kImmediate, .first = 0x0102030405060708});
    caller_.receive();
    EXPECT_EQ(caller_.last.opcode, verbs::WcOpcode::kReceiveImmediate);
    EXPECT_EQ(caller_.last.immediate.front(), std::byte{1}) << "big-endian";
    EXPECT_EQ(caller_.last.immediate.back(), std::byte{8});
    EXPECT_EQ(caller_.last.solicited, solicited);
  }
}

TEST_F(PeerOrders, WritesAndReads) {
  EXPECT_EQ(caller_.answer_to(caller_.aimed(Order::kWrite, 300)).requests_done, 1U);
  for (std::size_t i = 0; i < 300; ++i) ASSERT_EQ(caller_.data()[i], probe::first_content({}, i)) << i;
  EXPECT_EQ(caller_.data()[300], std::byte{0});

  std::ranges::fill(caller_.data(), std::byte{0x5A});
  EXPECT_EQ(caller_.answer_to(caller_.aimed(Order::kRead, 200)).requests_done, 2U);
  std::ranges::fill(caller_.data(), std::byte{0});
  caller_.order({.operation = Order::kSend, .length = 201});
  const auto sent = caller_.receive();
  EXPECT_EQ(std::ranges::count(sent.first(200), std::byte{0x5A}), 200) << "what was read";
  EXPECT_EQ(sent[200], probe::first_content({}, 200));
}

TEST_F(PeerOrders, Atomics) {
  put(40);
  Order add = caller_.aimed(Order::kFetchAdd, 0);
  add.first = 2;
  EXPECT_EQ(caller_.answer_to(add).requests_done, 1U);
  EXPECT_EQ(number(), 42U);
  Order swap = caller_.aimed(Order::kCmpSwap, 0);
  swap.first = 42;
  swap.second = 7;
  EXPECT_EQ(caller_.answer_to(swap).requests_done, 2U);
  EXPECT_EQ(number(), 7U);
}

TEST_F(PeerOrders, FillsAndRevokes) {
  const Region& region = caller_.plain(Region::kRead);
  caller_.answer_to({.operation = Order::kFill, .flags = Order::kAnswer, .stag = region.stag, .first = 0x1FE});
  ASSERT_EQ(caller_.read(region, 4096), WcStatus::kSuccess);
  EXPECT_EQ(std::ranges::count(caller_.data().first(4096), std::byte{0xFE}), 4096);
  caller_.answer_to({.operation = Order::kRevoke, .flags = Order::kAnswer, .stag = region.stag});
  EXPECT_EQ(caller_.read(region, 1), WcStatus::kRemoteAccessError);
}

TEST_F(PeerOrders, PostsReceives) {
  PeerCaller one(peer_.at(), Wish{.receives = 1});
  const auto report = one.answer_to({.operation = Order::kPostReceives, .flags = Order::kAnswer, .count = 5});
  EXPECT_EQ(report.receives_done, 1U);
  for (std::uint32_t i = 2; i < 9; ++i) EXPECT_EQ(one.report().receives_done, i);
}

// An order that wants no answer, after one that does, takes nothing away from it.
TEST_F(PeerOrders, EachAnswerThatIsOwedComes) {
  caller_.order(caller_.aimed(Order::kRead, 8000));
  caller_.order({.operation = Order::kWrite, .stag = {caller_.own->rkey()}, .offset = {caller_.own->iova()}});
  EXPECT_EQ(caller_.answer().requests_done, 2U);
}

TEST_F(PeerOrders, TellsWhatFails) {
  Order wrong = caller_.aimed(Order::kRead, 8);
  wrong.stag.value ^= 0x100U;
  caller_.order(wrong);
  EXPECT_EQ((caller_.receive(), caller_.last.status), WcStatus::kFlushed) << "our own stack has ended the stream";
  PeerCaller next(peer_.at(), Wish{.session = caller_.advert.session});
  const auto report = next.report();
  EXPECT_EQ(report.terminate_received, 0x01000100U) << "RDMAP, remote protection, invalid STag";
  EXPECT_EQ(report.requests_failed, 1U);
  EXPECT_EQ(report.last_failure, static_cast<std::uint32_t>(WcStatus::kRemoteAccessError));
}

TEST_F(PeerOrders, CountsWhatIsNoOrder) {
  const std::vector<std::byte> octets(33, std::byte{'x'});
  caller_.send(octets);
  const auto report = caller_.report();
  EXPECT_EQ(report.receives_done, 2U);
  EXPECT_EQ(report.last_length, probe::kOrderSize);
}

TEST_F(PeerOrders, Disconnects) {
  caller_.order({.operation = Order::kDisconnect});
  EXPECT_EQ((caller_.receive(), caller_.last.status), WcStatus::kFlushed);
  PeerCaller next(peer_.at(), Wish{.session = caller_.advert.session});
  EXPECT_EQ(next.report().terminate_sent, 0U);
}

}  // namespace
}  // namespace weft::test
