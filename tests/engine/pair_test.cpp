// SPDX-License-Identifier: Apache-2.0
// Every operation between two engines, in every framing.
#include <gtest/gtest.h>

#include "tests/engine/scenes.hpp"

namespace weft::engine::test {
namespace {

TEST(Pair, ClientServerStartupTellsBothEndsTheTerms) {
  Pair pair(initiator(), responder());
  const auto private_data = pattern(100);
  ASSERT_TRUE(pair.a.engine.connect(private_data));
  pair.run();
  const auto requested = pair.b.first<ConnectionRequested>();
  ASSERT_TRUE(requested);
  EXPECT_EQ(requested->private_data, private_data);
  EXPECT_EQ(requested->revision, 2);
  ASSERT_TRUE(pair.b.engine.accept(pattern(7), {}));
  pair.run();
  const auto a = pair.a.first<Established>(), b = pair.b.first<Established>();
  ASSERT_TRUE(a && b);
  EXPECT_EQ(a->private_data, pattern(7));
  EXPECT_TRUE(a->crc);
  EXPECT_EQ(a->rtr, std::nullopt);
  EXPECT_EQ(a->ird, 128u);
}

struct Wire {
  bool crc, markers_a, markers_b;
  std::uint8_t revision;
  std::uint32_t emss;
  bool lend;
};

class EveryOperation : public testing::TestWithParam<Wire> {};

TEST_P(EveryOperation, BothWays) {
  const Wire& wire = GetParam();
  Config a = initiator(), b = responder();
  a.mpa.crc = b.mpa.crc = wire.crc;
  a.mpa.markers = wire.markers_a;
  b.mpa.markers = wire.markers_b;
  a.mpa.revision = wire.revision;
  a.emss = b.emss = wire.emss;
  Pair pair(a, b);
  pair.a.memory.lend = pair.b.memory.lend = wire.lend;
  establish(pair);
  ASSERT_EQ(pair.a.first<Established>()->markers_in, wire.markers_a);
  do_every_operation(pair, pair.a, pair.b);
  do_every_operation(pair, pair.b, pair.a);
  close_both(pair);
}

INSTANTIATE_TEST_SUITE_P(
    Framings, EveryOperation,
    testing::Values(Wire{true, false, false, 2, 1460, false}, Wire{true, true, false, 2, 1460, false},
                    Wire{true, false, true, 2, 1448, false}, Wire{true, true, true, 1, 9000, false},
                    Wire{false, false, false, 2, 1460, true}, Wire{false, false, false, 1, 1460, false},
                    Wire{false, true, true, 2, 1460, true}, Wire{true, true, true, 2, 200, false},
                    Wire{true, false, false, 2, 64, false}, Wire{true, false, false, 2, 65483, false}));

class ReadyToReceive : public testing::TestWithParam<mpa::RtrTypes> {};

// MPA2-1.1-01
TEST_P(ReadyToReceive, LetsTheResponderSendFirst) {
  Config a = initiator(), b = responder();
  a.mpa.peer_to_peer = true;
  a.mpa.rtr = GetParam();
  b.mpa.rtr = {true, true, true};
  Pair pair(a, b);
  if (GetParam().send) pair.b.memory.post_receive(77, 16);
  establish(pair);
  const mpa::Rtr rtr = GetParam().send ? mpa::Rtr::kSend : GetParam().write ? mpa::Rtr::kWrite : mpa::Rtr::kRead;
  EXPECT_EQ(pair.a.first<Established>()->rtr, rtr);
  EXPECT_EQ(pair.b.first<Established>()->rtr, rtr);
  EXPECT_EQ(pair.a.count<SendCompleted>(), 0u) << "the RTR is nobody's work request (MPA2-5-05)";
  EXPECT_EQ(pair.b.count<Received>(), rtr == mpa::Rtr::kSend ? 1u : 0u);
  do_every_operation(pair, pair.b, pair.a);
  do_every_operation(pair, pair.a, pair.b);
  close_both(pair);
}

INSTANTIATE_TEST_SUITE_P(Kinds, ReadyToReceive,
                         testing::Values(mpa::RtrTypes{true, false, false}, mpa::RtrTypes{false, true, false},
                                         mpa::RtrTypes{false, false, true}));

TEST(Pair, RejectionCarriesItsPrivateData) {
  Pair pair(initiator(), responder());
  ASSERT_TRUE(pair.a.engine.connect({}));
  pair.run();
  ASSERT_TRUE(pair.b.engine.reject(pattern(9)));
  pair.run();
  ASSERT_EQ(pair.a.count<Rejected>(), 1u);
  EXPECT_EQ(pair.a.first<Rejected>()->private_data, pattern(9));
  EXPECT_EQ(pair.a.count<Closed>(), 1u);
  EXPECT_EQ(pair.b.count<Closed>(), 1u);
}

TEST(Pair, OrdLimitsWhatIsOutstanding) {
  Config a = initiator(), b = responder();
  a.mpa.ord = 2;
  Pair pair(a, b);
  establish(pair);
  EXPECT_EQ(pair.a.first<Established>()->ord, 2u);
  pair.b.memory.add(1, 64);
  pair.a.memory.add(2, 64);
  const rdmap::LocalSegment sink{0, 64, 2};
  for (std::uint64_t i = 0; i < 10; ++i) {
    ASSERT_TRUE(pair.a.engine.post(read_of(i, sink, 1, 0)));
  }
  TransmitBatch batch(65536);
  pair.a.engine.fill(batch, pair.now);
  EXPECT_EQ(batch.size(), 2u * 52u) << "two Read Requests and no more";
}

TEST(Pair, FillTellsWhetherThereIsMore) {
  Pair pair(initiator(), responder());
  establish(pair);
  pair.a.memory.add(1, 4096);
  TransmitBatch batch(1024);
  EXPECT_FALSE(pair.a.engine.fill(batch, pair.now)) << "nothing is posted";
  const rdmap::LocalSegment source{0, 1500, 1};
  ASSERT_TRUE(pair.a.engine.post({.operation = Operation::kWrite, .local = {&source, 1}}));
  EXPECT_TRUE(pair.a.engine.fill(batch, pair.now));
  batch.consume(batch.size());
  EXPECT_FALSE(pair.a.engine.fill(batch, pair.now));
  EXPECT_FALSE(batch.empty());
  EXPECT_FALSE(pair.a.engine.has_output());
}

// DDP-5.2-03: 2^32 octets are too many for one message.
TEST(Pair, PostErrors) {
  Pair pair(initiator(), responder());
  EXPECT_EQ(pair.a.engine.post({}).error(), PostError::kNotConnected);
  establish(pair);
  std::vector<rdmap::LocalSegment> many(kMaxSegments + 1);
  EXPECT_EQ(pair.a.engine.post({.operation = Operation::kSend, .local = many}).error(), PostError::kTooManySegments);
  many.pop_back();
  EXPECT_TRUE(pair.a.engine.post({.operation = Operation::kWrite, .local = many}));
  const std::vector<std::byte> inline_data(257);
  EXPECT_EQ(pair.a.engine.post({.operation = Operation::kSend, .inline_data = inline_data}).error(),
            PostError::kInlineTooLong);
  const std::vector<rdmap::LocalSegment> huge(2, {0, 0x80000000, 1});
  EXPECT_EQ(pair.a.engine.post({.operation = Operation::kSend, .local = huge}).error(), PostError::kMessageTooLong);
  EXPECT_EQ(pair.a.engine.post({.operation = Operation::kFetchAdd}).error(), PostError::kBadOperands);
  const auto few = pattern(8);
  EXPECT_EQ(pair.a.engine.post({.operation = Operation::kRead, .inline_data = few}).error(), PostError::kBadOperands);
  for (std::uint32_t i = 1; i < 128; ++i) ASSERT_TRUE(pair.a.engine.post({.operation = Operation::kWrite}));
  EXPECT_EQ(pair.a.engine.post({.operation = Operation::kWrite}).error(), PostError::kQueueFull);
}

TEST(Pair, ARoomInTheSendQueueComesBackWhenItsCompletionIsPolled) {
  Config a = initiator();
  a.send_queue_depth = 1;
  Pair pair(a, responder());
  establish(pair);
  ASSERT_TRUE(pair.a.engine.post({.operation = Operation::kWrite}));
  TransmitBatch batch(4096);
  pair.a.engine.fill(batch, pair.now);
  pair.a.engine.written(batch.size(), pair.now);
  EXPECT_EQ(pair.a.engine.post({.operation = Operation::kWrite}).error(), PostError::kQueueFull);
  ASSERT_TRUE(pair.a.engine.poll_event());
  EXPECT_TRUE(pair.a.engine.post({.operation = Operation::kWrite}));
}

}  // namespace
}  // namespace weft::engine::test
