// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>

#include "tests/transport/same_host_pair.hpp"

namespace weft::transport::same_host::test {
namespace {

constexpr std::size_t kRing = SessionPair::kOctets;

TEST(SameHost, OctetsStayInOrderOverManyWraps) {
  SessionPair pair;
  const auto octets = pattern(kRing * 37 + 11);
  std::vector<std::byte> got;
  std::size_t written = 0;
  for (std::size_t step = 1; got.size() < octets.size(); step = step * 7 % 3001) {
    const Bytes rest = Bytes(octets).subspan(written);
    const Bytes first = rest.first(std::min(rest.size(), step));
    const Bytes second = rest.subspan(first.size()).first(std::min(rest.size() - first.size(), step * 2));
    written += pair.a->write(std::array{first, second}).octets;
    std::vector<std::byte> one(step % 1000 + 1), two(step % 777);
    const auto result = pair.b->read(one, two);
    ASSERT_NE(result.status, Status::kLost);
    const std::size_t to_one = std::min(result.octets, one.size());
    got.insert(got.end(), one.begin(), one.begin() + static_cast<std::ptrdiff_t>(to_one));
    got.insert(got.end(), two.begin(), two.begin() + static_cast<std::ptrdiff_t>(result.octets - to_one));
  }
  EXPECT_EQ(got, octets);
  EXPECT_EQ(pair.b->read(MutableBytes(got).first(1), {}).status, Status::kWouldBlock);
}

// Long copies go in parts, each of which the other end may have at once.
TEST(SameHost, LongPiecesStayInOrder) {
  SessionPair pair(256 * 1024);
  const auto octets = pattern(1'000'000);
  std::vector<std::byte> got;
  for (std::size_t written = 0; got.size() < octets.size();) {
    const Bytes rest = Bytes(octets).subspan(written);
    written += put(*pair.a, rest.first(std::min<std::size_t>(rest.size(), 200'001))).octets;
    ASSERT_NE(get(*pair.b, got, 150'001).octets, 0U);
    ASSERT_EQ(pair.a->unread_by_peer(), written - got.size());
  }
  EXPECT_TRUE(got == octets);
}

// Pages cost memory once octets have been in them.
TEST(SameHost, MessagesThatAreReadOneByOneStayInFront) {
  SessionPair pair(1 << 20);
  const auto message = pattern(300);
  for (int n = 0; n < 1000; ++n) {
    std::vector<std::byte> got;
    EXPECT_EQ(put(*pair.a, message).octets, 300U);
    EXPECT_EQ(pair.a->unread_by_peer(), 300U);
    get(*pair.b, got, 1000);
    ASSERT_EQ(got, message);
    EXPECT_EQ(pair.a->unread_by_peer(), 0U);
  }
  const auto ring = pair.pages->ring(Memory::From::kInitiator);
  EXPECT_TRUE(
      std::all_of(ring.data + 9000, ring.data + ring.size, [](std::byte octet) { return octet == std::byte{0}; }));
}

TEST(SameHost, ARingThatStartedOverHoldsAsMuch) {
  SessionPair pair(64 << 10);
  std::vector<std::byte> got;
  put(*pair.a, pattern(9000));
  get(*pair.b, got, 9000);
  const auto much = pattern(70'000);
  EXPECT_EQ(put(*pair.a, much).octets, std::size_t{64} << 10);
  EXPECT_EQ(pair.a->unread_by_peer(), std::size_t{64} << 10);
  EXPECT_FALSE(pair.a->is_writable());
  got.clear();
  get(*pair.b, got, much.size());
  EXPECT_TRUE(std::ranges::equal(got, Bytes(much).first(64 << 10)));
}

// While octets are unread, or further away than the ring is long.
TEST(SameHost, AFrontThatCannotBeIsALoss) {
  for (const bool early : {true, false}) {
    SessionPair pair(64 << 10);
    std::vector<std::byte> got;
    put(*pair.a, pattern(8));
    get(*pair.b, got, early ? 4 : 8);
    auto& header = pair.header(Memory::From::kInitiator);
    header.front = early ? 64U << 10U : 128U << 10U;
    header.written = header.front + 9;
    EXPECT_EQ(get(*pair.b, got, 8).error, std::errc::protocol_error);
  }
}

TEST(SameHost, BothDirectionsAreApart) {
  SessionPair pair;
  std::vector<std::byte> at_a, at_b;
  EXPECT_EQ(put(*pair.a, pattern(100, 1)).octets, 100U);
  EXPECT_EQ(put(*pair.b, pattern(200, 2)).octets, 200U);
  get(*pair.a, at_a, 1000);
  get(*pair.b, at_b, 1000);
  EXPECT_EQ(at_a, pattern(200, 2));
  EXPECT_EQ(at_b, pattern(100, 1));
}

TEST(SameHost, TheMemoryIsGivenBack) {
  const auto mappings = [] {
    std::ifstream maps("/proc/self/maps");
    std::size_t found = 0;
    for (std::string line; std::getline(maps, line);) found += line.find("weft-rings") != std::string::npos ? 1 : 0;
    return found;
  };
  {
    const SessionPair pair;
    EXPECT_EQ(mappings(), 3U) << "that of the test, too";
  }
  EXPECT_EQ(mappings(), 0U);
}

TEST(SameHost, NothingWantedIsNothingMoved) {
  SessionPair pair;
  EXPECT_EQ(pair.a->read({}, {}).status, Status::kMoved) << "as a Socket's";
  const auto result = pair.a->write({});
  EXPECT_EQ(result.status, Status::kMoved);
  EXPECT_EQ(result.octets, 0U);
}

TEST(SameHost, AFullRingTakesNoMore) {
  SessionPair pair;
  const auto octets = pattern(kRing + 1);
  EXPECT_EQ(put(*pair.a, octets).octets, kRing);
  EXPECT_EQ(pair.a->unread_by_peer(), kRing);
  EXPECT_EQ(put(*pair.a, octets).status, Status::kWouldBlock);
  std::vector<std::byte> got;
  EXPECT_EQ(get(*pair.b, got, 10).octets, 10U);
  EXPECT_EQ(pair.a->unread_by_peer(), kRing - 10);
  EXPECT_EQ(put(*pair.a, Bytes(octets).subspan(kRing)).octets, 1U);
}

TEST(SameHost, RoomRingsOnceItIsAQuarter) {
  SessionPair pair;
  const auto octets = pattern(kRing);
  std::vector<std::byte> got;
  put(*pair.a, octets);
  EXPECT_EQ(put(*pair.a, octets).status, Status::kWouldBlock);
  EXPECT_FALSE(pair.a->sleep());
  get(*pair.b, got, kRing / 4 - 1);
  EXPECT_FALSE(has_rung(*pair.a));
  EXPECT_FALSE(pair.a->is_writable()) << "it is not awaited yet";
  get(*pair.b, got, 1);
  EXPECT_TRUE(has_rung(*pair.a));
  EXPECT_TRUE(pair.a->is_writable());
  EXPECT_TRUE(pair.a->sleep()) << "its bell was drained, so it has to be told here";
  EXPECT_FALSE(has_rung(*pair.a));
  EXPECT_FALSE(pair.a->sleep()) << "once";
  get(*pair.b, got, kRing);
  EXPECT_FALSE(has_rung(*pair.a)) << "nobody waits any more";
}

TEST(SameHost, AWriterThatWritesOnWaitsNoMore) {
  SessionPair pair;
  std::vector<std::byte> got;
  EXPECT_EQ(put(*pair.a, pattern(kRing + 1)).octets, kRing);
  get(*pair.b, got, 10);
  EXPECT_EQ(put(*pair.a, pattern(10)).octets, 10U) << "it found the room without a bell";
  get(*pair.b, got, kRing);
  EXPECT_FALSE(has_rung(*pair.a));
}

// Else its peer's doorbell would fill up, and no epoll set report it as writable.
TEST(SameHost, AWriterThatNeverSleepsDrainsItsBell) {
  SessionPair pair;
  std::vector<std::byte> got;
  for (int round = 0; round < 1000; ++round) {
    EXPECT_EQ(put(*pair.a, pattern(kRing + 1)).octets, kRing);
    get(*pair.b, got, kRing);
    ASSERT_EQ(put(*pair.a, pattern(1)).octets, 1U);
    get(*pair.b, got, kRing);
    got.clear();
  }
  pollfd bell{.fd = pair.b->doorbell().descriptor(), .events = POLLOUT, .revents = 0};
  EXPECT_EQ(::poll(&bell, 1, 0), 1);
}

// What wakes an end that is announced as asleep stays.
TEST(SameHost, AWriteLeavesTheBellOfASleeper) {
  SessionPair pair;
  std::vector<std::byte> got;
  EXPECT_EQ(put(*pair.a, pattern(kRing + 1)).octets, kRing);
  EXPECT_FALSE(pair.a->sleep());
  put(*pair.b, pattern(1));
  get(*pair.b, got, kRing);
  put(*pair.a, pattern(1));
  EXPECT_TRUE(has_rung(*pair.a));
}

// A write that leaves octets waits for room as one that takes none.
TEST(SameHost, AWriteThatLeavesOctetsWaits) {
  SessionPair pair;
  EXPECT_EQ(put(*pair.a, pattern(kRing + 1)).octets, kRing);
  std::vector<std::byte> got;
  get(*pair.b, got, kRing);
  EXPECT_TRUE(has_rung(*pair.a));
}

TEST(SameHost, OnlyASleeperIsRung) {
  SessionPair pair;
  std::vector<std::byte> got;
  put(*pair.a, pattern(5));
  EXPECT_FALSE(has_rung(*pair.b)) << "it has not said that it sleeps";
  EXPECT_TRUE(pair.b->sleep()) << "there are octets";
  put(*pair.a, pattern(5));
  EXPECT_FALSE(has_rung(*pair.b)) << "it did not fall asleep";
  get(*pair.b, got, 10);
  EXPECT_FALSE(pair.b->sleep());
  put(*pair.a, pattern(5));
  put(*pair.a, pattern(5));
  EXPECT_TRUE(has_rung(*pair.b));
  std::array<std::byte, 8> bells{};
  Socket bell = Socket::own(::dup(pair.b->doorbell().descriptor()));
  EXPECT_EQ(bell.peek(bells).octets, 1U) << "one bell wakes it";
  pair.b->awake();
  get(*pair.b, got, 10);
  EXPECT_FALSE(pair.b->sleep());
  EXPECT_FALSE(has_rung(*pair.b)) << "drained";
  pair.b->awake();
  put(*pair.a, pattern(5));
  EXPECT_FALSE(has_rung(*pair.b));
}

TEST(SameHost, TheEndComesAfterTheOctets) {
  SessionPair pair;
  std::vector<std::byte> got;
  EXPECT_FALSE(pair.b->sleep());
  put(*pair.a, pattern(700));
  pair.b->awake();
  get(*pair.b, got, 100);
  pair.a->shutdown_write();
  EXPECT_EQ(put(*pair.a, pattern(1)).error, std::errc::broken_pipe);
  pair.a.reset();
  while (got.size() < 700) ASSERT_EQ(get(*pair.b, got, 150).status, Status::kMoved);
  EXPECT_EQ(got, pattern(700));
  EXPECT_EQ(get(*pair.b, got, 1).status, Status::kEndOfStream);
  EXPECT_EQ(get(*pair.b, got, 1).status, Status::kEndOfStream);
}

TEST(SameHost, AnEndWakesASleeperAndIsToldOnce) {
  SessionPair pair;
  std::vector<std::byte> got;
  EXPECT_FALSE(pair.b->sleep());
  pair.a->shutdown_write();
  EXPECT_TRUE(has_rung(*pair.b));
  EXPECT_TRUE(pair.b->sleep());
  EXPECT_EQ(get(*pair.b, got, 1).status, Status::kEndOfStream);
  EXPECT_FALSE(pair.b->sleep()) << "the other direction may go on for long";
  EXPECT_EQ(put(*pair.b, pattern(9)).octets, 9U);
  EXPECT_EQ(get(*pair.a, got, 9).octets, 9U);
}

TEST(SameHost, APeerThatGoesAfterItsEndIsToldOnce) {
  SessionPair pair;
  std::vector<std::byte> got;
  pair.a->shutdown_write();
  EXPECT_EQ(get(*pair.b, got, 1).status, Status::kEndOfStream);
  EXPECT_FALSE(pair.b->sleep()) << "only the bell of that end is drained";
  pair.a.reset();
  EXPECT_TRUE(pair.b->sleep()) << "nobody reads what is written from now on";
  EXPECT_EQ(get(*pair.b, got, 1).status, Status::kEndOfStream);
  EXPECT_EQ(put(*pair.b, pattern(1)).error, std::errc::broken_pipe);
  EXPECT_FALSE(pair.b->sleep());
}

// As the kernel sends a FIN for a process that has read all, and a reset for one that has not.
TEST(SameHost, APeerThatGoesHasEndedIfItHadReadAll) {
  SessionPair pair;
  std::vector<std::byte> got;
  put(*pair.b, pattern(5));
  get(*pair.a, got, 5);
  EXPECT_FALSE(pair.b->sleep());
  pair.a.reset();
  EXPECT_NE(events(*pair.b) & POLLRDHUP, 0);
  EXPECT_TRUE(pair.b->sleep());
  EXPECT_EQ(get(*pair.b, got, 1).status, Status::kEndOfStream);
  EXPECT_FALSE(pair.b->sleep()) << "told once";
  EXPECT_EQ(put(*pair.b, pattern(1)).error, std::errc::broken_pipe);
}

TEST(SameHost, APeerThatGoesWithUnreadOctetsIsALoss) {
  SessionPair pair;
  std::vector<std::byte> got;
  put(*pair.b, pattern(5));
  get(*pair.a, got, 4);
  EXPECT_FALSE(pair.b->sleep());
  pair.a.reset();
  EXPECT_TRUE(pair.b->sleep());
  EXPECT_EQ(get(*pair.b, got, 1).error, std::errc::connection_reset);
  EXPECT_EQ(put(*pair.b, pattern(1)).status, Status::kLost);
  EXPECT_FALSE(pair.b->sleep()) << "told once";
}

TEST(SameHost, AResetIsALossAfterTheOctets) {
  SessionPair pair;
  std::vector<std::byte> got;
  put(*pair.a, pattern(7));
  pair.a->reset();
  EXPECT_EQ(put(*pair.a, pattern(1)).status, Status::kLost);
  pair.a.reset();
  EXPECT_TRUE(pair.b->sleep());
  EXPECT_EQ(get(*pair.b, got, 9).octets, 7U);
  EXPECT_EQ(get(*pair.b, got, 1).error, std::errc::connection_reset);
}

TEST(SameHost, AReaderThatOnlyPollsLearnsThatItsPeerHasGone) {
  SessionPair pair;
  std::vector<std::byte> got;
  pair.a.reset();
  auto result = get(*pair.b, got, 1);
  for (std::uint32_t i = 1; i < Session::kReadsPerLook; ++i) {
    ASSERT_EQ(result.status, Status::kWouldBlock);
    result = get(*pair.b, got, 1);
  }
  EXPECT_EQ(result.status, Status::kEndOfStream);
}

TEST(SameHost, AWriterLearnsOfALossFromTheBell) {
  SessionPair pair;
  EXPECT_FALSE(pair.b->sleep());
  pair.b.reset();
  EXPECT_EQ(put(*pair.a, pattern(1)).status, Status::kMoved) << "it rang in vain";
  EXPECT_EQ(put(*pair.a, pattern(1)).error, std::errc::broken_pipe);
}

TEST(SameHost, ADoorbellThatNobodyDrainsIsNoLoss) {
  SessionPair pair;
  std::vector<std::byte> got;
  for (int i = 0; i < 2000; ++i) {  // more bells than a socket holds
    pair.header(Memory::From::kInitiator).sleeps = 1;
    ASSERT_EQ(put(*pair.a, pattern(1)).octets, 1U);
    ASSERT_EQ(get(*pair.b, got, 1).octets, 1U);
  }
}

// --- Positions that no peer with these rings can have

TEST(SameHost, AnImpossiblePositionOfTheWriterIsALoss) {
  for (const std::uint64_t written : {kRing + 1, std::uint64_t{1} << 62U, RingHeader::kEnd - 1}) {
    SessionPair pair;
    std::vector<std::byte> got;
    EXPECT_FALSE(pair.b->sleep());
    pair.header(Memory::From::kInitiator).written = written;
    EXPECT_TRUE(pair.b->sleep());
    EXPECT_EQ(get(*pair.b, got, 8).error, std::errc::protocol_error) << written;
    EXPECT_EQ(put(*pair.b, pattern(1)).error, std::errc::protocol_error);
    EXPECT_EQ(pair.b->unread_by_peer(), 0U);
  }
}

TEST(SameHost, AWriterThatGoesBackBehindTheReaderIsALoss) {
  SessionPair pair;
  std::vector<std::byte> got;
  put(*pair.a, pattern(100));
  get(*pair.b, got, 100);
  pair.header(Memory::From::kInitiator).written = 99;
  EXPECT_EQ(get(*pair.b, got, 8).error, std::errc::protocol_error);
  EXPECT_EQ(got.size(), 100U);
}

TEST(SameHost, AnImpossiblePositionOfTheReaderIsALoss) {
  for (const std::uint64_t read : {kRing + 1, ~std::uint64_t{0}}) {
    SessionPair pair;
    put(*pair.a, pattern(kRing));
    pair.header(Memory::From::kInitiator).read = read;
    EXPECT_EQ(pair.a->unread_by_peer(), 0U);
    EXPECT_EQ(put(*pair.a, pattern(1)).error, std::errc::protocol_error) << read;
    std::vector<std::byte> got;
    EXPECT_EQ(get(*pair.a, got, 8).error, std::errc::protocol_error);
  }
}

TEST(SameHost, OwnPositionsAreNotReadFromThePages) {
  SessionPair pair;
  std::vector<std::byte> got;
  put(*pair.a, pattern(100));
  pair.header(Memory::From::kInitiator).read = 50;  // as if `b` had read them
  get(*pair.b, got, 100);
  EXPECT_EQ(got, pattern(100));
  pair.header(Memory::From::kInitiator).written = 7;  // `a` puts that right
  put(*pair.a, pattern(100, 1));
  get(*pair.b, got, 100);
  EXPECT_EQ(std::vector(got.begin() + 100, got.end()), pattern(100, 1));
}

}  // namespace
}  // namespace weft::transport::same_host::test
