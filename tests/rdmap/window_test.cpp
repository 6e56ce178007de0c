// SPDX-License-Identifier: Apache-2.0
// What waits for a response, on both sides.
#include <gtest/gtest.h>

#include "rdmap/request_window.hpp"
#include "rdmap/response_queue.hpp"

namespace weft::rdmap {
namespace {

constexpr ddp::Stag kSink{5};

ddp::TaggedHeader response(std::uint64_t offset, bool last, ddp::Stag stag = kSink) {
  return {last, 0x42, stag, {offset}};
}

OutstandingRequest read(std::uint64_t cookie, std::uint64_t offset, std::uint32_t size) {
  return {cookie, ReadExpected{kSink, {offset}, size}};
}

constexpr ErrorCode kBounds = error_code(ddp::TaggedError::kBaseOrBounds);
constexpr ErrorCode kUnsolicited = error_code(OperationError::kUnexpectedOpcode);

TEST(RequestWindow, AnswersComeInTheOrderOfAsking) {
  RequestWindow window(4);
  ASSERT_TRUE(window.start(read(10, 0, 100)));
  ASSERT_TRUE(window.start({11, AtomicExpected{77}}));
  ASSERT_TRUE(window.start(read(12, 500, 8)));
  EXPECT_EQ(window.atomic_response({77, 0}), std::unexpected(kUnsolicited));
  const auto first = window.read_response(response(0, true), 100);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->cookie, 10U);
  EXPECT_TRUE(first->complete);
  EXPECT_EQ(window.read_response(response(500, true), 8), std::unexpected(kUnsolicited));
  EXPECT_EQ(window.atomic_response({77, 0}), 11U);
  EXPECT_EQ(window.read_response(response(500, true), 8)->cookie, 12U);
  EXPECT_EQ(window.outstanding(), 0U);
}

TEST(RequestWindow, PiecesCarryTheirOffsetInTheSink) {
  RequestWindow window(1);
  ASSERT_TRUE(window.start(read(1, 0xfffffffffffffff6, 10)));  // ends exactly at 2^64
  const auto half = window.read_response(response(0xfffffffffffffff6, false), 6);
  ASSERT_TRUE(half);
  EXPECT_EQ(half->offset, 0U);
  EXPECT_FALSE(half->complete);
  const auto rest = window.read_response(response(0xfffffffffffffffc, true), 4);
  ASSERT_TRUE(rest);
  EXPECT_EQ(rest->offset, 6U);
  EXPECT_TRUE(rest->complete);
}

TEST(RequestWindow, EmptyLastSegmentEndsAResponse) {
  RequestWindow window(1);
  ASSERT_TRUE(window.start(read(1, 0, 10)));
  EXPECT_FALSE(window.read_response(response(0, false), 10)->complete);
  EXPECT_TRUE(window.read_response(response(10, true, {0xbad}), 0)->complete);
}

// DDP-5.2-13: neither its STag nor its TO says anything; there is nothing to place.
TEST(RequestWindow, AReadOfNothingIsAnsweredByNothing) {
  RequestWindow window(1);
  ASSERT_TRUE(window.start(read(3, 500, 0)));
  EXPECT_EQ(window.landing(response(7, true, {0xbad}), 0)->offset, 0U);
  const auto piece = window.read_response(response(7, true, {0xbad}), 0);
  ASSERT_TRUE(piece);
  EXPECT_EQ(piece->cookie, 3U);
  EXPECT_EQ(piece->offset, 0U);
  EXPECT_TRUE(piece->complete);
}

// Each Read is counted from its own beginning.
TEST(RequestWindow, AReadOfNothingMayFollowOneOfSomething) {
  RequestWindow window(2);
  ASSERT_TRUE(window.start(read(1, 0, 10)));
  ASSERT_TRUE(window.start(read(2, 0, 0)));
  ASSERT_TRUE(window.read_response(response(0, true), 10));
  const auto nothing = window.read_response(response(0, true), 0);
  ASSERT_TRUE(nothing);
  EXPECT_EQ(nothing->cookie, 2U);
  EXPECT_TRUE(nothing->complete);
}

TEST(RequestWindow, ARefusedSegmentLeavesTheWindowAsItWas) {
  RequestWindow window(1);
  ASSERT_TRUE(window.start(read(1, 0, 10)));
  EXPECT_EQ(window.read_response(response(0, true), 9), std::unexpected(kBounds));
  EXPECT_EQ(window.read_response(response(0, true), 11), std::unexpected(kBounds));
  EXPECT_TRUE(window.read_response(response(0, true), 10)->complete);
}

TEST(RequestWindow, GivesBackTheUnfinishedInOrder) {
  RequestWindow window(2);
  ASSERT_TRUE(window.start(read(1, 0, 10)));
  ASSERT_TRUE(window.start(read(2, 0, 10)));
  EXPECT_FALSE(window.start(read(3, 0, 10)));
  EXPECT_EQ(window.take_unfinished()->cookie, 1U);
  EXPECT_EQ(window.take_unfinished()->cookie, 2U);
  EXPECT_FALSE(window.take_unfinished());
}

TEST(ResponseQueue, IsBoundedAndInOrder) {
  ResponseQueue queue(2);
  EXPECT_TRUE(queue.push({{}, ReadRequest{{}, {}, 1, {}, {}}}));
  EXPECT_TRUE(queue.push({{}, AtomicRequest{}}));
  EXPECT_EQ(queue.push({{}, AtomicRequest{}}), std::unexpected(OperationError::kCatastrophicStream));
  EXPECT_TRUE(std::holds_alternative<ReadRequest>(queue.front().request));
  queue.pop();
  EXPECT_TRUE(std::holds_alternative<AtomicRequest>(queue.front().request));
  queue.clear();
  EXPECT_TRUE(queue.empty());
}

// Before all of a segment is there: only what read_response() would take, and never over what was placed.
TEST(RequestWindow, TellsWhereAResponseWillGo) {
  RequestWindow window(2);
  EXPECT_FALSE(window.landing(response(0, false), 10)) << "nothing was asked";
  ASSERT_TRUE(window.start(read(7, 500, 100)));
  EXPECT_FALSE(window.landing(response(500, false, {6}), 10)) << "another STag";
  EXPECT_FALSE(window.landing(response(510, false), 10)) << "not where the response begins";
  EXPECT_FALSE(window.landing(response(490, false), 10)) << "before the sink";
  EXPECT_FALSE(window.landing(response(500, false), 101)) << "beyond the sink";
  EXPECT_EQ(window.landing(response(500, true), 100)->cookie, 7U);
  ASSERT_TRUE(window.read_response(response(500, false), 60));
  EXPECT_FALSE(window.landing(response(500, false), 60)) << "over octets that were placed";
  const auto rest = window.landing(response(560, true), 40);
  ASSERT_TRUE(rest);
  EXPECT_EQ(rest->offset, 60U);
  EXPECT_EQ(window.outstanding(), 1U) << "nothing changes";
  ASSERT_TRUE(window.read_response(response(560, true), 40));
  ASSERT_TRUE(window.start({8, AtomicExpected{77}}));
  EXPECT_FALSE(window.landing(response(0, true), 8)) << "an atomic is answered otherwise";
}

}  // namespace
}  // namespace weft::rdmap
