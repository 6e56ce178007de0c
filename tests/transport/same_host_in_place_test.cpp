// SPDX-License-Identifier: Apache-2.0
// Octets that are written, and read, where they are in the ring.
#include <algorithm>

#include "tests/transport/same_host_pair.hpp"

namespace weft::transport::same_host::test {
namespace {

void number(MutableBytes octets, unsigned first) {
  for (std::size_t i = 0; i < octets.size(); ++i) octets[i] = static_cast<std::byte>(first + i * 5 / 3);
}

std::vector<std::byte> numbered(std::size_t octets, unsigned first) {
  std::vector<std::byte> made(octets);
  number(made, first);
  return made;
}

TEST(SameHostInPlace, WhatIsLentIsReadOnce) {
  SessionPair pair;
  const auto octets = numbered(3000, 1);
  put(*pair.a, octets);
  EXPECT_TRUE(pair.b->lend(3001).empty()) << "not all are there";
  EXPECT_TRUE(std::ranges::equal(pair.b->lend(2000), Bytes(octets).first(2000)));
  pair.b->take_back(2000);
  std::vector<std::byte> rest;
  get(*pair.b, rest, 4096);
  EXPECT_TRUE(std::ranges::equal(rest, Bytes(octets).subspan(2000)));
}

TEST(SameHostInPlace, WhatWrapsIsNotLent) {
  SessionPair pair;
  std::vector<std::byte> all;
  put(*pair.a, numbered(3000, 1));
  get(*pair.b, all, 2999);
  put(*pair.a, numbered(2000, 2));
  pair.b->take_back(pair.b->lend(1).size());
  EXPECT_TRUE(pair.b->lend(2000).empty());
  EXPECT_EQ(pair.b->lend(1096).size(), 1096U);
  std::vector<std::byte> rest;
  get(*pair.b, rest, 4096);
  EXPECT_EQ(rest, numbered(2000, 2));
}

// A ring that was full tells its writer of the room that taking back makes.
TEST(SameHostInPlace, TakingBackRings) {
  SessionPair pair;
  EXPECT_LT(put(*pair.a, numbered(5000, 1)).octets, 5000U);
  pair.b->take_back(pair.b->lend(4096).size());
  EXPECT_TRUE(has_rung(*pair.a));
}

TEST(SameHostInPlace, AnImpossiblePositionLendsNothing) {
  SessionPair pair;
  pair.header(Memory::From::kInitiator).written = 5000;
  EXPECT_TRUE(pair.b->lend(16).empty());
  std::vector<std::byte> none;
  EXPECT_EQ(get(*pair.b, none, 16).status, Status::kLost);
  EXPECT_TRUE(pair.b->lend(16).empty());
  EXPECT_TRUE(pair.b->room_in_place().empty());
}

TEST(SameHostInPlace, WhatIsInTheRingAlreadyIsWritten) {
  SessionPair pair(Session::kRingOctets);
  std::vector<std::byte> all;
  for (unsigned round = 0; round < 9; ++round) {
    const MutableBytes room = pair.a->room_in_place().first(100'000);
    number(room, round);
    EXPECT_EQ(put(*pair.a, room).octets, room.size());
    all.clear();
    get(*pair.b, all, Session::kRingOctets);
    EXPECT_EQ(all, numbered(100'000, round));
  }
}

// It does not go on at the front of the ring, although the peer has read all meanwhile.
TEST(SameHostInPlace, AReaderThatCatchesUpMovesNothing) {
  SessionPair pair(Session::kRingOctets);
  std::vector<std::byte> all;
  put(*pair.a, numbered(50'000, 1));
  const MutableBytes room = pair.a->room_in_place();
  ASSERT_EQ(room.size(), Session::kMostInPlace);
  number(room, 2);
  get(*pair.b, all, Session::kRingOctets);
  put(*pair.a, room);
  all.clear();
  get(*pair.b, all, Session::kRingOctets);
  EXPECT_EQ(all, numbered(Session::kMostInPlace, 2));
}

// A part that the ring has not is copied after what is in place.
TEST(SameHostInPlace, OtherPiecesMayFollow) {
  SessionPair pair(Session::kRingOctets);
  const MutableBytes room = pair.a->room_in_place().first(10);
  number(room, 3);
  const auto more = numbered(20, 4);
  const std::array<Bytes, 2> pieces{room, more};
  EXPECT_EQ(pair.a->write(pieces).octets, 30U);
  std::vector<std::byte> all;
  get(*pair.b, all, 100);
  EXPECT_TRUE(std::ranges::equal(Bytes(all).first(10), numbered(10, 3)));
  EXPECT_TRUE(std::ranges::equal(Bytes(all).subspan(10), more));
}

TEST(SameHostInPlace, LittleRoomIsNone) {
  SessionPair pair(Session::kRingOctets);
  put(*pair.a, numbered(Session::kRingOctets - Session::kMostInPlace / 2 + 1, 1));
  EXPECT_TRUE(pair.a->room_in_place().empty());
  pair.b->take_back(pair.b->lend(1).size());
  EXPECT_TRUE(pair.a->room_in_place().empty()) << "it is in two pieces";
  EXPECT_TRUE(SessionPair().a->room_in_place().empty());
}

}  // namespace
}  // namespace weft::transport::same_host::test
