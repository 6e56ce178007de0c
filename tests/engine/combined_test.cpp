// SPDX-License-Identifier: Apache-2.0
// Send with Immediate Data: two messages, which the receiver combines to one where both ends have agreed.
#include <gtest/gtest.h>

#include "tests/engine/rogue.hpp"
#include "tests/engine/scenes.hpp"

namespace weft::engine::test {
namespace {

using rdmap::Opcode;

Config combining(Config config) {
  config.combine_immediate = true;
  return config;
}

Octets with_mark(std::size_t size = kImmediateSize) {
  Octets octets = pattern(size - kSendFollows.size());
  octets.insert(octets.end(), kSendFollows.begin(), kSendFollows.end());
  return octets;
}

// A peer that has agreed.
struct Agreed : Rogue {
  Agreed() : Rogue(combining(responder())) {
    establish();
    end.events.clear();
  }
};

TEST(Combined, ASendWithImmediateDataUsesOneReceive) {
  Pair pair(combining(initiator()), combining(responder()));
  establish(pair);
  const auto data = pattern(10007, 3);
  const rdmap::LocalSegment all{0, 10007, 10};
  pair.a.memory.add(10, 10007).octets = data;
  for (std::uint64_t cookie : {5U, 6U, 7U}) pair.b.memory.post_receive(cookie, 10007);
  WorkRequest work{.cookie = 1, .operation = Operation::kSendImmediate, .solicited = true, .local = {&all, 1}};
  work.immediate = {std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4}, std::byte{5}};
  ASSERT_TRUE(pair.a.engine.post(work));
  ASSERT_TRUE(pair.a.engine.post({.cookie = 2, .operation = Operation::kSend}));
  ASSERT_TRUE(pair.a.engine.post({.cookie = 3, .operation = Operation::kImmediate, .immediate = work.immediate}));
  pair.run();
  EXPECT_EQ(pair.a.count<SendCompleted>(), 3U);
  for (std::uint64_t cookie : {1U, 2U, 3U}) expect_success(pair.a, cookie);

  const auto received = pair.b.all<Received>();
  ASSERT_EQ(received.size(), 3U);
  EXPECT_EQ(received[0].cookie, 5U);
  EXPECT_EQ(received[0].length, 10007U);
  EXPECT_EQ(pair.b.memory.received()[5], data);
  EXPECT_TRUE(received[0].solicited);
  EXPECT_TRUE(received[0].combined);
  const std::array expected{std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4},
                            std::byte{},  std::byte{},  std::byte{},  std::byte{}};
  ASSERT_TRUE(received[0].immediate);
  EXPECT_EQ(*received[0].immediate, expected) << "the mark is not the user's";
  EXPECT_FALSE(received[1].immediate) << "it belonged to one Send";
  EXPECT_FALSE(received[1].combined);
  EXPECT_TRUE(received[2].immediate);
  EXPECT_FALSE(received[2].combined);
}

TEST(Combined, OnlyWhereTheUserHasAgreed) {
  Pair pair(combining(initiator()), responder());
  establish(pair);
  for (std::uint64_t cookie : {5U, 6U}) pair.b.memory.post_receive(cookie, 64);
  ASSERT_TRUE(pair.a.engine.post({.cookie = 1, .operation = Operation::kSendImmediate}));
  EXPECT_EQ(pair.b.engine.post({.cookie = 1, .operation = Operation::kSendImmediate}),
            std::unexpected(PostError::kNotAgreed));
  pair.run();
  EXPECT_EQ(pair.b.count<Received>(), 2U) << "what is on the wire are two messages of RFC 7306 and RFC 5040";
}

TEST(Combined, AgreementMayComeBetweenRequestAndReply) {
  Pair pair(initiator(), responder());
  pair.a.engine.combine_immediate();
  ASSERT_TRUE(pair.a.engine.connect({}));
  pair.run();
  pair.b.engine.combine_immediate();
  ASSERT_TRUE(pair.b.engine.accept({}, {}));
  pair.run();
  pair.b.memory.post_receive(5, 64);
  ASSERT_TRUE(pair.a.engine.post({.cookie = 1, .operation = Operation::kSendImmediate}));
  pair.run();
  ASSERT_EQ(pair.b.count<Received>(), 1U);
  EXPECT_TRUE(pair.b.first<Received>()->combined);
}

TEST(Combined, TheSendWaitsForItsReceive) {
  Agreed rogue;
  rogue.untagged(Opcode::kImmediate, 1, with_mark());
  EXPECT_NE(rogue.end.last.want, ReceiveResult::Want::kReceive) << "the Immediate Data needs none";
  rogue.untagged(Opcode::kSend, 2, pattern(8));
  EXPECT_EQ(rogue.end.last.want, ReceiveResult::Want::kReceive);
  rogue.end.memory.post_receive(5, 64);
  rogue.offer();
  ASSERT_EQ(rogue.end.count<Received>(), 1U);
  EXPECT_TRUE(rogue.end.first<Received>()->combined);
}

TEST(Combined, ASendOfSeveralSegmentsKeepsItsImmediateData) {
  Agreed rogue;
  rogue.end.memory.post_receive(5, 64);
  rogue.untagged(Opcode::kImmediate, 1, with_mark());
  rogue.untagged(Opcode::kSend, 2, pattern(8), 0, false);
  rogue.tagged(Opcode::kWrite, 0, 0);
  rogue.untagged(Opcode::kSendSolicited, 2, pattern(8), 8);
  ASSERT_EQ(rogue.end.count<Received>(), 1U);
  EXPECT_EQ(rogue.end.first<Received>()->length, 16U);
  EXPECT_TRUE(rogue.end.first<Received>()->combined);
}

TEST(Combined, WhatDoesNotBearTheMarkIsOrdinary) {
  Agreed rogue;
  for (std::uint64_t cookie : {5U, 6U}) rogue.end.memory.post_receive(cookie, 64);
  rogue.untagged(Opcode::kImmediate, 1, pattern(8));
  rogue.untagged(Opcode::kSend, 2, pattern(8));
  const auto received = rogue.end.all<Received>();
  ASSERT_EQ(received.size(), 2U);
  EXPECT_TRUE(received[0].immediate);
  EXPECT_FALSE(received[0].combined);
  EXPECT_FALSE(received[1].immediate);
}

struct WrongCombination {
  const char* name;
  rdmap::ErrorCode error;
  void (*play)(Rogue&);
};
class CombinedWrongly : public testing::TestWithParam<WrongCombination> {};

TEST_P(CombinedWrongly, IsAnsweredByATerminate) {
  Agreed rogue;
  for (std::uint64_t cookie : {5U, 6U}) rogue.end.memory.post_receive(cookie, 64);
  GetParam().play(rogue);
  const auto terminate = rogue.terminate();
  ASSERT_TRUE(terminate);
  EXPECT_EQ(terminate->error, GetParam().error);
  for (const Received& one : rogue.end.all<Received>()) EXPECT_EQ(one.status, WorkStatus::kFlushed);
}

const auto kUnexpectedKind = rdmap::error_code(rdmap::OperationError::kUnexpectedOpcode);

INSTANTIATE_TEST_SUITE_P(
    All, CombinedWrongly,
    testing::Values(WrongCombination{"AnotherMark", kUnexpectedKind,
                                     [](Rogue& r) {
                                       r.untagged(Opcode::kImmediate, 1, with_mark());
                                       r.untagged(Opcode::kImmediate, 2, with_mark());
                                     }},
                    WrongCombination{"OtherImmediateData", kUnexpectedKind,
                                     [](Rogue& r) {
                                       r.untagged(Opcode::kImmediate, 1, with_mark());
                                       r.untagged(Opcode::kImmediate, 2, pattern(8));
                                     }},
                    WrongCombination{"InTheMiddleOfASend", kUnexpectedKind,
                                     [](Rogue& r) {
                                       r.untagged(Opcode::kSend, 1, pattern(8), 0, false);
                                       r.untagged(Opcode::kImmediate, 1, with_mark(), 8);
                                     }},
                    WrongCombination{"OutOfTurn", rdmap::error_code(ddp::UntaggedError::kMsnRange),
                                     [](Rogue& r) { r.untagged(Opcode::kImmediate, 2, with_mark()); }},
                    WrongCombination{"TooLong", rdmap::error_code(rdmap::OperationError::kUnspecified),
                                     [](Rogue& r) { r.untagged(Opcode::kImmediate, 1, with_mark(12)); }}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace weft::engine::test
