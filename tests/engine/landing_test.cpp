// SPDX-License-Identifier: Apache-2.0
// Payload that was read straight to its place: what it leads to is the same as if it had been copied there, and what is
// wrong with it is found all the same.
#include <gtest/gtest.h>

#include <random>

#include "tests/engine/scenes.hpp"

namespace weft::engine::test {
namespace {

constexpr std::size_t kSize = 200'003;  // four FPDUs
constexpr std::uint32_t kLargeEmss = 65'483;

Config large(Config config, bool crc = true) {
  config.emss = kLargeEmss;
  config.mpa.crc = crc;
  return config;
}

struct Landings {
  std::size_t a{}, b{};
};

// Everything once in both directions, in pieces of any size.
Landings play(unsigned seed, bool crc) {
  std::mt19937 random(seed);
  Pair pair(large(initiator(), crc), large(responder(), crc));
  pair.chop = [&random](std::size_t n) { return 1 + random() % n; };
  pair.a.lands = pair.b.lands = true;
  establish(pair);
  do_every_operation(pair, pair.a, pair.b, kSize);
  do_every_operation(pair, pair.b, pair.a, kSize);
  close_both(pair);
  return {pair.a.landings, pair.b.landings};
}

TEST(Landing, EveryOperationComesOutTheSame) {
  Landings all;
  for (unsigned seed = 1; seed <= 50; ++seed) {
    const Landings some = play(seed, true);
    all.a += some.a;
    all.b += some.b;
  }
  EXPECT_GT(all.a, 50U);
  EXPECT_GT(all.b, 50U);
}

// There a copy costs less than a read for each frame.
TEST(Landing, IsForStreamsWithACrc) {
  const Landings none = play(1, false);
  EXPECT_EQ(none.a + none.b, 0U);
}

// One FPDU from a to b, of which the header and some of the payload came first.
struct Scene {
  Scene() : pair(large(initiator()), large(responder())) {
    establish(pair);
    pair.a.memory.add(10, kLength).octets = pattern(kLength);
    pair.b.memory.add(20, kLength);
    pair.b.memory.post_receive(7, kLength);
    pair.b.lands = true;
    pair.chop = [this](std::size_t) { return std::exchange(first, kLength * 2); };
  }
  static constexpr std::uint32_t kLength = 50'000;
  const rdmap::LocalSegment all{0, kLength, 10};
  std::size_t first = 1000;
  Pair pair;
};

TEST(Landing, ASendLandsInItsReceive) {
  Scene scene;
  ASSERT_TRUE(scene.pair.a.engine.post(send_of(1, scene.all)));
  scene.pair.run();
  EXPECT_EQ(scene.pair.b.landings, 1U);
  EXPECT_EQ(scene.pair.b.memory.received()[7], pattern(Scene::kLength));
  EXPECT_EQ(scene.pair.b.first<Received>()->length, Scene::kLength);
}

TEST(Landing, AReadResponseLandsInItsSink) {
  Scene scene;
  scene.pair.a.memory.add(11, Scene::kLength);
  scene.pair.a.lands = true;
  scene.pair.b.memory.regions()[20].octets = pattern(Scene::kLength, 2);
  scene.pair.chop = [&scene](std::size_t n) { return n < 1000 ? n : std::exchange(scene.first, Scene::kLength * 2); };
  const rdmap::LocalSegment sink{0, Scene::kLength, 11};
  ASSERT_TRUE(scene.pair.a.engine.post(read_of(1, sink, 20, 0)));
  scene.pair.run();
  EXPECT_EQ(scene.pair.a.landings, 1U);
  EXPECT_EQ(scene.pair.a.memory.regions()[11].octets, pattern(Scene::kLength, 2));
  EXPECT_EQ(scene.pair.a.first<SendCompleted>()->status, WorkStatus::kSuccess);
}

// MPA-6-01: the target of a Write may be looked at any time, so nothing is there before it is verified.
TEST(Landing, AWriteLandsNowhere) {
  Scene scene;
  ASSERT_TRUE(scene.pair.a.engine.post(write_of(1, scene.all, 20, 0)));
  scene.pair.run();
  EXPECT_EQ(scene.pair.b.landings, 0U);
  EXPECT_EQ(scene.pair.b.memory.regions()[20].octets, pattern(Scene::kLength));
}

// Octets that the caller has elsewhere are verified there, and a wrong one is placed as little as any.
TEST(Landing, AWriteIsVerifiedWhereItIs) {
  constexpr std::size_t kHere = 100, kThere = 2 + 14 + Scene::kLength - kHere;
  for (const bool spoiled : {false, true}) {
    Scene scene;
    End& b = scene.pair.b;
    ASSERT_TRUE(scene.pair.a.engine.post(write_of(1, scene.all, 20, 0)));
    scene.pair.a.engine.fill(scene.pair.a.batch, {});
    const Bytes fpdu = scene.pair.a.batch.pieces()[0];
    std::vector<std::byte> octets(fpdu.begin(), fpdu.end());
    EXPECT_EQ(b.engine.landing(Bytes(octets).first(kHere)).unplaced, kThere);
    const auto missing = std::span(octets).subspan(kHere, kThere);
    std::vector<std::byte> elsewhere(missing.begin(), missing.end());
    std::ranges::fill(missing, std::byte{0x5A});
    if (spoiled) elsewhere.back() ^= std::byte{1};
    const auto before = b.memory.regions()[20].octets;
    b.engine.receive(octets, {}, {kHere, elsewhere});
    EXPECT_EQ(b.memory.regions()[20].octets == before, spoiled);
  }
}

TEST(Landing, IsTheUsersToForbid) {
  Config cautious = large(responder());
  cautious.early_placement = 0;
  Pair pair(large(initiator()), cautious);
  pair.b.lands = true;
  std::mt19937 random(1);
  pair.chop = [&random](std::size_t n) { return 1 + random() % n; };
  establish(pair);
  do_every_operation(pair, pair.a, pair.b, kSize);
  EXPECT_EQ(pair.b.landings, 0U);
}

// MPA-8-01, RDMAP-5.1-03: the receive is given back, as it is when the octets had been copied.
TEST(Landing, AFlippedBitIsFound) {
  for (const std::size_t at : {1001U, 20'000U, 50'019U}) {
    Scene scene;
    std::size_t before = 0;
    scene.pair.meddle = [&](const End& from, std::vector<std::byte>& octets) {
      if (&from != &scene.pair.a) return;
      if (at >= before && at < before + octets.size()) octets[at - before] ^= std::byte{1};
      before += octets.size();
    };
    ASSERT_TRUE(scene.pair.a.engine.post(send_of(1, scene.all)));
    scene.pair.run();
    EXPECT_EQ(scene.pair.b.landings, 1U);
    ASSERT_TRUE(scene.pair.b.first<ProtocolError>()) << at;
    EXPECT_EQ(scene.pair.b.first<ProtocolError>()->report.layer, Layer::kLlp);
    ASSERT_TRUE(scene.pair.b.first<Received>());
    EXPECT_EQ(scene.pair.b.first<Received>()->status, WorkStatus::kFlushed);
  }
}

// What place() would refuse lands nowhere, and is refused when all of it is there.
TEST(Landing, AMessageTooLongLandsNowhere) {
  Scene scene;
  ASSERT_TRUE(scene.pair.b.memory.take_receive());
  scene.pair.b.memory.post_receive(8, Scene::kLength - 1);
  ASSERT_TRUE(scene.pair.a.engine.post(send_of(1, scene.all)));
  scene.pair.run();
  EXPECT_EQ(scene.pair.b.landings, 0U);
  EXPECT_TRUE(scene.pair.b.first<ProtocolError>());
  EXPECT_EQ(scene.pair.b.memory.received()[8], std::vector<std::byte>(Scene::kLength - 1));
}

// Fewer octets to come than Config::early_placement are copied, to the octet.
TEST(Landing, OfTooFewOctetsToComeIsNot) {
  constexpr std::size_t kFpdu = 2 + 18 + Scene::kLength;  // as far as the payload's end
  for (const bool enough : {true, false}) {
    Scene scene;
    End& b = scene.pair.b;
    ASSERT_TRUE(scene.pair.a.engine.post(send_of(1, scene.all)));
    scene.pair.a.engine.fill(scene.pair.a.batch, {});
    const Bytes fpdu = scene.pair.a.batch.pieces()[0];
    const std::size_t here = kFpdu - Config{}.early_placement + (enough ? 0 : 1);
    std::vector<std::byte> octets(fpdu.begin(), fpdu.begin() + static_cast<std::ptrdiff_t>(here));
    EXPECT_EQ(b.engine.receive(octets, {}).consumed, 0U);
    EXPECT_EQ(b.engine.landing(octets).memory.empty(), !enough);
    EXPECT_NE(b.memory.take_receive().has_value(), enough) << "taken for what lands, and for nothing else";
  }
}

// Between two frames there is nothing to land.
TEST(Landing, OfNoFrameIsNot) {
  Scene scene;
  EXPECT_TRUE(scene.pair.b.engine.landing({}).memory.empty());
}

// No receive is taken for a segment that waits for one; it lands when it is presented again, as a copy.
TEST(Landing, WithoutAReceiveItWaits) {
  Scene scene;
  ASSERT_TRUE(scene.pair.b.memory.take_receive());
  ASSERT_TRUE(scene.pair.a.engine.post(send_of(1, scene.all)));
  scene.pair.run();
  EXPECT_EQ(scene.pair.b.landings, 0U);
  EXPECT_EQ(scene.pair.b.last.want, ReceiveResult::Want::kReceive);
  scene.pair.b.memory.post_receive(9, Scene::kLength);
  scene.pair.b.last = {};
  scene.pair.run();
  EXPECT_EQ(scene.pair.b.memory.received()[9], pattern(Scene::kLength));
}

// What landed could not be presented while the user's events are full.
TEST(Landing, WaitsUntilTheEventsArePolled) {
  Scene scene;
  End& b = scene.pair.b;
  while (b.memory.take_receive()) continue;
  std::uint64_t count = 0;
  while (b.last.want != ReceiveResult::Want::kPollEvents) {
    b.memory.post_receive(count++, 1);
    ASSERT_TRUE(scene.pair.a.engine.post({.cookie = 1, .operation = Operation::kSend}));
    scene.pair.a.engine.fill(scene.pair.a.batch, {});
    std::vector<std::byte> octets(scene.pair.a.batch.pieces()[0].begin(), scene.pair.a.batch.pieces()[0].end());
    scene.pair.a.batch.consume(octets.size());
    scene.pair.a.engine.written(octets.size(), {});
    scene.pair.a.poll();
    b.last = b.engine.receive(octets, {});
  }
  while (b.memory.take_receive()) continue;
  b.memory.post_receive(count, Scene::kLength);
  ASSERT_TRUE(scene.pair.a.engine.post(send_of(1, scene.all)));
  scene.pair.a.engine.fill(scene.pair.a.batch, {});
  const std::vector<std::byte> octets(scene.pair.a.batch.pieces()[0].begin(),
                                      scene.pair.a.batch.pieces()[0].begin() + 1000);
  EXPECT_TRUE(b.engine.landing(octets).memory.empty());
  EXPECT_TRUE(b.memory.take_receive());
}

// A peer that ends inside an FPDU whose receive was taken: the receive is given back.
TEST(Landing, ATakenReceiveIsGivenBackWhenTheRestNeverComes) {
  Scene scene;
  ASSERT_TRUE(scene.pair.a.engine.post(send_of(1, scene.all)));
  scene.pair.a.engine.fill(scene.pair.a.batch, {});
  std::vector<std::byte> octets(scene.pair.a.batch.pieces()[0].begin(), scene.pair.a.batch.pieces()[0].begin() + 20);
  End& b = scene.pair.b;
  EXPECT_EQ(b.engine.receive(octets, {}).consumed, 0U);
  EXPECT_EQ(b.engine.landing(octets).memory.size(), Scene::kLength);
  EXPECT_FALSE(b.memory.take_receive());
  b.engine.end_of_stream({});
  b.poll();
  ASSERT_TRUE(b.first<Received>());
  EXPECT_EQ(b.first<Received>()->cookie, 7U);
  EXPECT_EQ(b.first<Received>()->status, WorkStatus::kFlushed);
  EXPECT_TRUE(b.engine.landing(octets).memory.empty()) << "the stream is over";
}

}  // namespace
}  // namespace weft::engine::test
