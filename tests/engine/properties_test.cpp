// SPDX-License-Identifier: Apache-2.0
// What holds for every run: any chopping gives the same events, a flipped bit touches no memory, random work never
// writes outside what was registered, every point of failure ends cleanly, and a scribbling application breaks no FPDU.
#include <gtest/gtest.h>

#include <random>

#include "tests/engine/scenes.hpp"

namespace weft::engine::test {
namespace {

// --- Chopping

struct Story {
  std::vector<std::uint64_t> completions, receives;
  std::vector<std::byte> memory;
  bool operator==(const Story&) const = default;
};

Story story_of(std::size_t piece, bool markers) {
  Config a = initiator(), b = responder();
  a.mpa.markers = b.mpa.markers = markers;
  Pair pair(a, b);
  pair.chop = [piece](std::size_t) { return piece; };
  establish(pair);
  do_every_operation(pair, pair.a, pair.b, 3001);
  Story story;
  for (const auto& done : pair.a.all<SendCompleted>())
    story.completions.push_back(done.cookie << 8 | std::to_underlying(done.status));
  for (const auto& got : pair.b.all<Received>()) story.receives.push_back(got.cookie << 32 | got.length);
  story.memory = pair.b.memory.regions()[20].octets;
  close_both(pair);
  return story;
}

// DDP-3-04
TEST(Chopping, AnyGivesTheSameEventsAndTheSameMemory) {
  for (const bool markers : {false, true}) {
    const Story whole = story_of(1 << 20, markers);
    for (const std::size_t piece : {1U, 2U, 3U, 7U, 100U, 1459U, 4096U})
      EXPECT_EQ(story_of(piece, markers), whole) << piece;
  }
}

// --- One flipped bit

// DDP-3-07
TEST(FlippedBit, InACheckedFpduChangesNoOctetOfMemory) {
  constexpr std::size_t kSize = 300;
  std::size_t refused = 0;
  // The Write's FPDU is 2 + 14 + 300 + 0 + 4 octets; flip each bit of each octet in turn.
  for (std::size_t bit = 0; bit < (kSize + 20) * 8; bit += 3) {
    Pair pair(initiator(), responder());
    establish(pair);
    pair.a.memory.add(10, kSize).octets = pattern(kSize);
    pair.b.memory.add(20, kSize);
    pair.b.memory.post_receive(1, 1024);
    bool done = false;
    pair.meddle = [&](const End& from, std::vector<std::byte>& octets) {
      if (&from != &pair.a || done) return;
      octets.at(bit / 8) ^= static_cast<std::byte>(1 << bit % 8);
      done = true;
    };
    const rdmap::LocalSegment source{0, kSize, 10};
    ASSERT_TRUE(pair.a.engine.post(write_of(1, source, 20, 0)));
    ASSERT_TRUE(pair.a.engine.post(write_of(2, source, 20, 0)));  // so that a length grown too long is noticed at once
    pair.run();
    ASSERT_TRUE(done);
    EXPECT_EQ(pair.b.memory.octets_placed, 0u) << "bit " << bit;
    EXPECT_EQ(pair.b.memory.regions()[20].octets, std::vector<std::byte>(kSize)) << "bit " << bit;
    if (pair.b.count<ProtocolError>() > 0) ++refused;
  }
  EXPECT_GT(refused, (kSize + 20) * 8 / 3 - 20) << "only a grown length field may wait for more";
}

// --- Random work

// Guarded memory: the model of what each region must hold is kept beside it.
struct Model {
  std::vector<std::byte> target = std::vector<std::byte>(kTarget);
  static constexpr std::size_t kTarget = 4096;
};

void random_session(unsigned seed) {
  std::mt19937 random(seed);
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  Config a = initiator(), b = responder();
  a.mpa.markers = below(2) != 0;
  b.mpa.markers = below(2) != 0;
  a.mpa.crc = b.mpa.crc = below(4) != 0;
  a.emss = static_cast<std::uint32_t>(100 + below(3000));
  b.emss = static_cast<std::uint32_t>(100 + below(3000));
  a.mpa.ord = static_cast<std::uint16_t>(1 + below(4));
  Pair pair(a, b);
  pair.a.memory.lend = pair.b.memory.lend = below(2) != 0;
  pair.chop = [&](std::size_t n) { return 1 + below(n); };
  establish(pair);
  if (testing::Test::HasFatalFailure()) return;
  pair.a.memory.add(10, 8192).octets = pattern(8192, seed);
  pair.a.memory.add(11, 8192);
  // The target lies between two regions to which the peer has no right.
  pair.b.memory.add(19, 64, 0, Access::kRemoteRead);
  pair.b.memory.add(20, Model::kTarget, 0x10000);
  pair.b.memory.add(21, 64, 0, Access::kRemoteRead);
  Model model;
  std::vector<std::vector<std::byte>> sends;
  std::vector<std::pair<std::size_t, std::vector<std::byte>>> reads;  // at the sink's offset
  std::uint64_t cookie = 1;
  for (int i = 0; i < 60; ++i) {
    const std::size_t length = below(3000), from = below(8192 - 3000), to = below(Model::kTarget - 3000);
    const auto first = pair.a.memory.regions()[10].octets.begin() + static_cast<std::ptrdiff_t>(from);
    const std::vector<std::byte> data(first, first + static_cast<std::ptrdiff_t>(length));
    const rdmap::LocalSegment source{from, static_cast<std::uint32_t>(length), 10};
    switch (below(3)) {
      case 0: {
        ASSERT_TRUE(pair.a.engine.post(write_of(cookie, source, 20, 0x10000 + to)));
        std::ranges::copy(data, model.target.begin() + static_cast<std::ptrdiff_t>(to));
        break;
      }
      case 1:
        pair.b.memory.post_receive(1000 + sends.size(), 3000);
        ASSERT_TRUE(pair.a.engine.post(send_of(cookie, source)));
        sends.push_back(data);
        break;
      case 2: {
        const rdmap::LocalSegment sink{0, static_cast<std::uint32_t>(length), 11};
        WorkRequest read = read_of(cookie, sink, 20, 0x10000 + to);
        ASSERT_TRUE(pair.a.engine.post(read));
        pair.run();  // so that what it must have read is known
        const auto at = model.target.begin() + static_cast<std::ptrdiff_t>(to);
        ASSERT_TRUE(
            std::equal(at, at + static_cast<std::ptrdiff_t>(length), pair.a.memory.regions()[11].octets.begin()));
        break;
      }
    }
    ++cookie;
    if (below(3) == 0) pair.run();
  }
  pair.run();
  EXPECT_EQ(pair.a.count<SendCompleted>(), cookie - 1);
  EXPECT_EQ(pair.b.memory.regions()[20].octets, model.target);
  EXPECT_EQ(pair.b.memory.regions()[19].octets, std::vector<std::byte>(64));
  EXPECT_EQ(pair.b.memory.regions()[21].octets, std::vector<std::byte>(64));
  ASSERT_EQ(pair.b.count<Received>(), sends.size());
  for (std::size_t i = 0; i < sends.size(); ++i) {
    EXPECT_TRUE(std::ranges::equal(sends[i], std::span(pair.b.memory.received()[1000 + i]).first(sends[i].size())));
  }
}

TEST(RandomWork, IsDoneRightAndStaysInsideItsMemory) {
  for (unsigned seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    random_session(seed);
    if (HasFailure()) return;
  }
}

// --- Failure at the n-th write or read

void check_clean_end(const End& end, std::size_t posted) {
  EXPECT_EQ(end.count<Closed>(), 1u);
  ASSERT_FALSE(end.events.empty());
  EXPECT_TRUE(std::holds_alternative<Closed>(end.events.back()));
  const auto completions = end.all<SendCompleted>();
  ASSERT_EQ(completions.size(), posted) << "every work request completes";
  for (std::size_t i = 0; i < posted; ++i) EXPECT_EQ(completions[i].cookie, i + 1) << "in order";
}

TEST(FailureAtEveryPoint, EndsCleanly) {
  bool reached_the_end = false;
  for (std::size_t n = 1; !reached_the_end; ++n) {
    ASSERT_LT(n, 1000u);
    SCOPED_TRACE(n);
    Pair pair(initiator(), responder());
    pair.fail_at = n;
    pair.chop = [](std::size_t octets) { return std::min<std::size_t>(octets, 500); };
    ASSERT_TRUE(pair.a.engine.connect({}));
    pair.run();
    static_cast<void>(pair.b.engine.accept({}, {}));
    pair.run();
    pair.a.memory.add(10, 3000);
    pair.b.memory.add(20, 3000);
    pair.b.memory.post_receive(7, 3000);
    const rdmap::LocalSegment all{0, 3000, 10};
    std::size_t posted = 0;
    for (const WorkRequest& work : {write_of(1, all, 20, 0), read_of(2, all, 20, 0), send_of(3, all)}) {
      if (pair.a.engine.post(work)) ++posted;
    }
    pair.run();
    reached_the_end = pair.operations < n;
    pair.a.engine.close(pair.now);
    pair.b.engine.close(pair.now);
    pair.run();
    reached_the_end = pair.operations < n;
    check_clean_end(pair.a, posted);
    check_clean_end(pair.b, 0);
    EXPECT_EQ(pair.a.engine.post({}).error(), PostError::kNotConnected);
  }
}

// --- A source that changes

// However often an octet were read, it would be another one each time: the CRC is of the octets that go out.
TEST(ScribblingApplication, BreaksNoFpdu) {
  for (const bool markers : {false, true}) {
    Config a = initiator(), b = responder();
    a.mpa.markers = b.mpa.markers = markers;
    Pair pair(a, b);
    establish(pair);
    pair.a.memory.scribbles = pair.b.memory.scribbles = true;
    constexpr std::uint32_t kSize = 20007;
    pair.a.memory.add(10, kSize).octets = pattern(kSize);
    pair.b.memory.add(20, kSize).octets = pattern(kSize, 2);
    pair.b.memory.post_receive(1, kSize);
    const rdmap::LocalSegment source{0, kSize, 10};
    ASSERT_TRUE(pair.a.engine.post(send_of(1, source)));
    ASSERT_TRUE(pair.a.engine.post(write_of(2, source, 20, 0)));
    ASSERT_TRUE(pair.a.engine.post(read_of(3, source, 20, 0)));
    pair.run();
    for (std::uint64_t cookie = 1; cookie <= 3; ++cookie) expect_success(pair.a, cookie);
    EXPECT_EQ(pair.b.memory.received()[1], pattern(kSize));  // each octet was read once, too
    EXPECT_EQ(pair.b.count<ProtocolError>() + pair.a.count<ProtocolError>(), 0u);
  }
}

}  // namespace
}  // namespace weft::engine::test
