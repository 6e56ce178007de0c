// SPDX-License-Identifier: Apache-2.0
// RFC 5040 sections 5.2, 5.5 and 6, RFC 7306 section 5: how many requests are outstanding, and in what order things go.
#include <catch2/catch.hpp>

#include <vector>

#include "rdmap/request_window.hpp"
#include "rdmap/response_queue.hpp"
#include "rdmap/send_order.hpp"
#include "rdmap/stream_state.hpp"

namespace weft::rdmap {
namespace {

constexpr ErrorCode kUnsolicited = error_code(OperationError::kUnexpectedOpcode);
constexpr ErrorCode kBounds = error_code(ddp::TaggedError::kBaseOrBounds);
constexpr ddp::Stag kSink{5};

OutstandingRequest read(std::uint64_t cookie, std::uint64_t offset, std::uint32_t size) {
  return {cookie, ReadExpected{kSink, {offset}, size}};
}
ddp::TaggedHeader segment(std::uint64_t offset, bool last, ddp::Stag stag = kSink) {
  return {last, 0x42, stag, {offset}};
}

TEST_CASE("ORD requests may be outstanding, Reads and atomics together",
          "[RDMAP-6.1-03][RDMAP-6.1-06][RDMAP-6.1-08][RDMAP-8.1.1-12][RDMAPX-5.2-03][RFC5040-6.1]") {
  RequestWindow window(2);
  CHECK(window.start(read(1, 0, 10)));
  CHECK(window.start({2, AtomicExpected{1}}));
  CHECK_FALSE(window.start(read(3, 0, 10)));
  CHECK(may_start({true, false}, window.outstanding(), window.ord()) == Start::kAwaitsCredit);
  REQUIRE(window.read_response(segment(0, true), 10));
  CHECK(may_start({true, false}, window.outstanding(), window.ord()) == Start::kNow);
}

TEST_CASE("ORD 0 means that no Read can ever start", "[RDMAP-6.1-08][RFC5040-6.1]") {
  CHECK(may_start({true, false}, 0, 0) == Start::kAwaitsCredit);
  CHECK_FALSE(RequestWindow(0).start(read(1, 0, 1)));
}

TEST_CASE("IRD requests are taken, one more is refused",
          "[RDMAP-6.1-03][RDMAP-6.1-05][RDMAP-6.1-09][RDMAP-8.1.1-12][RDMAPX-5.2-03][RFC5040-6.1]") {
  ResponseQueue queue(2);
  CHECK(queue.push({{}, ReadRequest{}}));
  CHECK(queue.push({{}, AtomicRequest{}}));
  CHECK_FALSE(queue.push({{}, ReadRequest{}}));
  queue.pop();
  CHECK(queue.push({{}, ReadRequest{}}));
}

TEST_CASE("Requests are answered in the order of arrival, Reads and atomics in one line",
          "[RDMAP-5.2.1-08][RDMAP-5.2.2-07][RDMAP-5.5-24][RDMAPX-5.2.1-21][RDMAPX-5.2.2-11][RDMAPX-5.4-09]"
          "[RDMAPX-5.4-10][RDMAPX-7-11][RDMAPX-7-12][RDMAPX-7-15][RDMAP-B-09][RFC5040-5.2.2]") {
  ResponseQueue queue(4);
  for (std::uint64_t at = 1; at <= 4; ++at) {
    if (at % 2 != 0) REQUIRE(queue.push({{}, ReadRequest{}, at}));
    if (at % 2 == 0) REQUIRE(queue.push({{}, AtomicRequest{}, at}));
  }
  for (std::uint64_t at = 1; at <= 4; ++at) {
    CHECK(queue.front().stream_offset == at);
    queue.pop();
  }
}

TEST_CASE("A Read Response is compared with the request: STag, offset, length",
          "[RDMAP-5.2.2-05][RDMAP-5.2.2-08][RDMAP-4.4-03][RDMAP-4.4-07][RFC5040-5.2.2]") {
  RequestWindow window(1);
  REQUIRE(window.start(read(1, 1000, 100)));
  CHECK(window.read_response(segment(1000, false, {6}), 10) ==
        std::unexpected(error_code(ddp::TaggedError::kInvalidStag)));
  CHECK(window.read_response(segment(999, false), 10) == std::unexpected(kBounds));
  CHECK(window.read_response(segment(1000, false), 101) == std::unexpected(kBounds));
  CHECK(window.read_response(segment(1100, false), 1) == std::unexpected(kBounds));
  CHECK(window.read_response(segment(1000, true), 99) == std::unexpected(kBounds));
  CHECK(window.read_response(segment(1000, true), 100));
}

TEST_CASE("A Read Response without a request is unexpected",
          "[RDMAP-5.2.2-05][RDMAP-5.2-01][RDMAP-4.8-32][RFC5040-5.2.2]") {
  RequestWindow window(2);
  CHECK(window.read_response(segment(0, true), 10) == std::unexpected(kUnsolicited));
  REQUIRE(window.start(read(1, 0, 10)));
  REQUIRE(window.read_response(segment(0, true), 10));
  CHECK(window.read_response(segment(0, true), 10) == std::unexpected(kUnsolicited));
}

TEST_CASE("A Read completes with the last segment of its Response and not before",
          "[RDMAP-5.5-12][RDMAP-5.5-23][RDMAP-5.5-26][RDMAP-5.2.2-04][RFC5040-5.5]") {
  RequestWindow window(1);
  REQUIRE(window.start(read(1, 0, 100)));
  CHECK_FALSE(window.read_response(segment(0, false), 60)->complete);
  CHECK_FALSE(window.read_response(segment(60, false), 40)->complete);
  CHECK(window.outstanding() == 1);
  CHECK(window.read_response(segment(100, true), 0)->complete);
  CHECK(window.outstanding() == 0);
}

TEST_CASE("A Read Response does not hide behind octets sent twice that others never came", "[RDMAP-5.2.2-08]") {
  RequestWindow window(1);
  REQUIRE(window.start({1, ReadExpected{{5}, {0}, 100}}));
  SECTION("from the start on") {
    CHECK(window.read_response(segment(0, false), 50));
    CHECK(window.read_response(segment(0, true), 50) == std::unexpected(kBounds));
  }
  SECTION("in the middle") {
    CHECK(window.read_response(segment(0, false), 50));
    CHECK(window.read_response(segment(40, false), 20) == std::unexpected(kBounds));
  }
  SECTION("beside a hole, so that the end is missing") {
    CHECK(window.read_response(segment(40, false), 40));
    CHECK(window.read_response(segment(0, false), 20));
    CHECK(window.read_response(segment(40, true), 40) == std::unexpected(kBounds));
  }
}

TEST_CASE("Segments of a Read Response may come in any order of offsets", "[DDP-5.3-03][DDP-5.3-04][RFC5041-5.3]") {
  RequestWindow window(1);
  REQUIRE(window.start(read(1, 0, 100)));
  CHECK(window.read_response(segment(60, false), 40)->offset == 60);
  CHECK(window.read_response(segment(0, true), 60)->complete);
}

TEST_CASE("The response to a Read of nothing may name any STag and offset",
          "[DDP-5.2-13][RDMAP-5.2.1-12][RDMAP-5.2.1-15][RFC5040-5.2.1]") {
  RequestWindow window(1);
  REQUIRE(window.start(read(1, 1000, 0)));
  const auto piece = window.read_response(segment(0xffffffffffffffff, true, {0xbad}), 0);
  REQUIRE(piece);
  CHECK(piece->complete);
}

TEST_CASE("A sink that passes 2^64 is found out when the response arrives", "[RDMAP-4.4-06][DDP-7.1-16][RFC5040-4.4]") {
  RequestWindow window(1);
  REQUIRE(window.start(read(1, 0xfffffffffffffffe, 4)));
  CHECK(window.read_response(segment(0xfffffffffffffffe, true), 4) ==
        std::unexpected(error_code(ddp::TaggedError::kOffsetWrap)));
}

TEST_CASE("An Atomic Response must carry the identifier of the oldest request",
          "[RDMAPX-5.2.2-02][RDMAPX-5.2.2-04][RDMAPX-5.2.2-10][RDMAPX-5.4-08][RFC7306-5.2.2]") {
  RequestWindow window(2);
  CHECK(window.atomic_response({1, 0}) == std::unexpected(kUnsolicited));
  REQUIRE(window.start({7, AtomicExpected{1}}));
  REQUIRE(window.start({8, AtomicExpected{2}}));
  CHECK(window.atomic_response({2, 0}) == std::unexpected(kUnsolicited));
  CHECK(window.atomic_response({1, 0}) == 7);
  CHECK(window.atomic_response({2, 0}) == 8);
}

TEST_CASE("A fence waits for all earlier Reads and atomics, and for nothing else", "[RDMAP-5.5-16][RFC5040-5.5]") {
  CHECK(may_start({false, true}, 1, 8) == Start::kAwaitsFence);
  CHECK(may_start({true, true}, 1, 8) == Start::kAwaitsFence);
  CHECK(may_start({false, true}, 0, 8) == Start::kNow);
  CHECK(may_start({false, false}, 8, 8) == Start::kNow);
}

TEST_CASE("Work and responses take turns, message by message", "[RFC5040-5.2]") {
  using enum Turns::Turn;
  Turns turns;
  CHECK(turns.next(false, false) == kNobody);
  std::vector<Turns::Turn> order;
  for (int i = 0; i < 4; ++i) order.push_back(turns.next(true, true));
  CHECK(order == std::vector{kResponse, kWork, kResponse, kWork});
  CHECK(turns.next(false, true) == kResponse);
  CHECK(turns.next(false, true) == kResponse);
  CHECK(turns.next(true, false) == kWork);
}

TEST_CASE("RDMA mode begins when the startup is over", "[RDMAP-6.1-01][DDP-6.1-01][RFC5040-6.1]") {
  CHECK_FALSE(may_post(StreamState::kStartup));
  CHECK_FALSE(takes_segments(StreamState::kStartup));
  CHECK(next(StreamState::kStartup, StreamEvent::kCloseRequested) == StreamState::kClosed);
  CHECK(next(StreamState::kStartup, StreamEvent::kEstablished) == StreamState::kOperational);
  CHECK(may_post(StreamState::kOperational));
  CHECK(takes_segments(StreamState::kOperational));
}

TEST_CASE("After an error segments are dropped and no message but the Terminate goes out",
          "[DDP-7.1-20][RDMAP-5.4-10][RDMAP-6.2.1-01][RDMAP-7-01][RDMAP-7-03][RFC5040-7]") {
  for (const StreamState from : {StreamState::kOperational, StreamState::kHalfClosed, StreamState::kClosing}) {
    CHECK(next(from, StreamEvent::kErrorFound) == StreamState::kTerminating);
  }
  CHECK_FALSE(takes_segments(StreamState::kTerminating));
  CHECK_FALSE(may_send(StreamState::kTerminating));
  CHECK_FALSE(may_post(StreamState::kTerminating));
}

TEST_CASE("The first error stands; a Terminate is not answered by a Terminate",
          "[RDMAP-7.1-05][RDMAP-5.4-11][RDMAP-6.2.1-04][RFC5040-7.1]") {
  CHECK(next(StreamState::kTerminating, StreamEvent::kErrorFound) == StreamState::kTerminating);
  CHECK(next(StreamState::kOperational, StreamEvent::kTerminateReceived) == StreamState::kTerminating);
  CHECK_FALSE(may_send(*next(StreamState::kOperational, StreamEvent::kTerminateReceived)));
}

TEST_CASE("A graceful close sends what was posted and takes what arrives, but takes no new work",
          "[DDP-6.2.1-02][DDP-6.2.1-03][DDP-6.2.1-08][RDMAP-6.2-02][RFC5041-6.2.1]") {
  CHECK(next(StreamState::kOperational, StreamEvent::kCloseRequested) == StreamState::kClosing);
  CHECK_FALSE(may_post(StreamState::kClosing));
  CHECK(may_send(StreamState::kClosing));
  CHECK(takes_segments(StreamState::kClosing));
}

TEST_CASE("A peer that has finished can still be sent to",
          "[DDP-6.2.1-05][DDP-6.2.1-06][DDP-6.2.1-07][RFC5041-6.2.1]") {
  CHECK(next(StreamState::kOperational, StreamEvent::kPeerFinished) == StreamState::kHalfClosed);
  CHECK(may_post(StreamState::kHalfClosed));
  CHECK(may_send(StreamState::kHalfClosed));
  CHECK_FALSE(takes_segments(StreamState::kHalfClosed));
  CHECK(next(StreamState::kHalfClosed, StreamEvent::kCloseRequested) == StreamState::kClosing);
}

TEST_CASE("A stream ends gracefully, by Terminate, or with its connection",
          "[RDMAP-6.2-01][RDMAP-6.2-03][RDMAP-6.2.1-05][RFC5040-6.2]") {
  CHECK(next(StreamState::kClosing, StreamEvent::kLlpClosed) == StreamState::kClosed);
  CHECK(next(StreamState::kTerminating, StreamEvent::kLlpClosed) == StreamState::kClosed);
  CHECK(next(StreamState::kOperational, StreamEvent::kConnectionLost) == StreamState::kClosed);
}

}  // namespace
}  // namespace weft::rdmap
