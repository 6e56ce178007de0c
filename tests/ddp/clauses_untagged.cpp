// SPDX-License-Identifier: Apache-2.0
// RFC 5041 sections 5.3, 5.4 and 7.1 for the untagged queues: what is checked, placed and delivered, and in which
// order.
#include <catch2/catch.hpp>

#include "ddp/untagged_queues.hpp"
#include "tests/ddp/fake_placement.hpp"

namespace weft::ddp {
namespace {

using test::counting;
using test::FakePlacement;

struct Stream {
  explicit Stream(std::initializer_list<std::size_t> receives = {}, Msn first = kFirstMsn) : queue(first) {
    std::uint64_t cookie = 0;
    for (const std::size_t size : receives) memory.post(cookie++, size);
  }

  auto place(std::uint32_t msn, std::uint32_t offset, std::size_t length, bool last, std::uint8_t rsvd_ulp = 0x43) {
    return queue.place({last, rsvd_ulp, 0xabcd, 0, {msn}, {offset}}, counting(length, offset), memory);
  }
  // The code of a segment that must be refused.
  UntaggedError refused(std::uint32_t msn, std::uint32_t offset, std::size_t length, bool last = true) {
    const auto outcome = place(msn, offset, length, last);
    REQUIRE_FALSE(outcome);
    return std::get<UntaggedError>(outcome.error());
  }
  ReceiveFilled delivered(std::uint32_t msn, std::uint32_t offset, std::size_t length, std::uint8_t rsvd_ulp = 0x43) {
    const auto outcome = place(msn, offset, length, true, rsvd_ulp);
    REQUIRE(outcome);
    REQUIRE(std::holds_alternative<ReceiveFilled>(*outcome));
    return std::get<ReceiveFilled>(*outcome);
  }

  FakePlacement memory;
  ReceiveQueue queue;
};

bool waits(const auto& outcome) { return outcome && std::holds_alternative<NoReceivePosted>(*outcome); }
bool goes_on(const auto& outcome) { return outcome && std::holds_alternative<SegmentPlaced>(*outcome); }

TEST_CASE("MSN starts at 1 and rises by one for each message",
          "[DDP-4.3-10][DDP-4.3-11][DDP-5.1.2-01][DDP-5.3-07][RDMAP-5.3-05][RDMAP-5.5-10][RFC5041-4.3]") {
  Stream stream{10, 10, 10};
  CHECK(stream.refused(0, 0, 1) == UntaggedError::kMsnRange);
  for (std::uint32_t msn = 1; msn <= 3; ++msn) CHECK(stream.delivered(msn, 0, 10).buffer.cookie == msn - 1);
}

TEST_CASE("After MSN 0xFFFFFFFF comes 0", "[DDP-4.3-12][RFC5041-4.3]") {
  Stream stream({1, 1, 1}, Msn{0xffffffff});
  stream.delivered(0xffffffff, 0, 1);
  stream.delivered(0, 0, 1);
  stream.delivered(1, 0, 1);
}

TEST_CASE("Another MSN than the next is out of range, be it old or ahead",
          "[DDP-7.1-09][DDP-7.1-10][RDMAP-5.3-07][DDP-7.2-10][DDP-5.3-06][DDP-6.2.2-03][RFC5041-7.1]") {
  Stream stream{10, 10, 10};
  stream.delivered(1, 0, 10);
  for (const std::uint32_t msn : {1U, 3U, 0U, 0x80000002U})
    CHECK(stream.refused(msn, 0, 10) == UntaggedError::kMsnRange);
}

TEST_CASE("A new message before the last segment of the one before is out of range",
          "[DDP-4.1-05][DDP-4.3-13][DDP-5.4-03][RFC5041-5.4]") {
  Stream stream{10, 10};
  CHECK(goes_on(stream.place(1, 0, 5, false)));
  CHECK(stream.refused(2, 0, 5) == UntaggedError::kMsnRange);
}

TEST_CASE("Without a posted receive nothing is placed and the choice is the caller's",
          "[DDP-7.1-02][DDP-7.1-04][DDP-7.1-06][DDP-7.2-09][RFC5041-7.1]") {
  Stream stream;
  CHECK(waits(stream.place(1, 0, 5, true)));
  stream.memory.post(9, 5);
  CHECK(stream.delivered(1, 0, 5).buffer.cookie == 9);
}

TEST_CASE("A message without octets needs a receive and uses it up",
          "[DDP-7.1-11][RDMAP-5.3-10][RDMAP-5.3-11][DDP-5.2-11][RFC5041-7.1]") {
  Stream stream;
  CHECK(waits(stream.place(1, 0, 0, true)));
  stream.memory.post(9, 5);
  CHECK(stream.delivered(1, 0, 0).length == 0);
  CHECK(stream.memory.posted.empty());
}

TEST_CASE("An offset beyond the buffer is an invalid MO",
          "[DDP-7.1-07][DDP-7.2-11][RDMAP-5.3-07][DDP-6.2.2-03][RFC5041-7.1]") {
  for (const std::uint32_t offset : {101U, 4000U, 0xffffffffU}) {
    Stream stream{100};
    CHECK(stream.refused(1, offset, 1) == UntaggedError::kInvalidOffset);
    CHECK(stream.memory.receives[0] == test::Octets(100));
  }
}

TEST_CASE("A message of one octet more than the buffer is too long",
          "[DDP-7.1-08][DDP-7.2-12][DDP-1.2-03][DDP-7.1-17][RDMAP-5.3-04][RFC5041-7.1]") {
  Stream whole{100};
  CHECK(whole.refused(1, 0, 101) == UntaggedError::kTooLong);
  CHECK(whole.memory.receives[0] == test::Octets(100));
  Stream split{100};
  CHECK(goes_on(split.place(1, 0, 60, false)));
  CHECK(split.refused(1, 60, 41) == UntaggedError::kTooLong);
}

TEST_CASE("The checks come in the order of section 7.1: MSN, then MO, then length", "[DDP-7.2-01][RFC5041-7.1]") {
  Stream stream{100};
  CHECK(stream.refused(7, 101, 1000) == UntaggedError::kMsnRange);
  CHECK(stream.refused(1, 101, 1000) == UntaggedError::kInvalidOffset);
  CHECK(stream.refused(1, 100, 1000) == UntaggedError::kTooLong);
}

TEST_CASE("Octets missing before the last segment are found out", "[DDP-5.2-04][DDP-5.2-07][DDP-5.4-03][RFC5041-5.2]") {
  Stream first{100};
  CHECK(first.refused(1, 10, 10) == UntaggedError::kInvalidOffset);
  Stream middle{100};
  CHECK(goes_on(middle.place(1, 0, 10, false)));
  CHECK(middle.refused(1, 20, 10) == UntaggedError::kInvalidOffset);
}

TEST_CASE("The last segment has the largest offset", "[DDP-4.1-07][DDP-4.1-08][RFC5041-4.1]") {
  Stream stream{100};
  CHECK(goes_on(stream.place(1, 20, 10, false)));
  CHECK(stream.refused(1, 0, 30) == UntaggedError::kInvalidOffset);
  Stream as_many_octets{100};
  CHECK(goes_on(as_many_octets.place(1, 20, 10, false)));
  CHECK(as_many_octets.refused(1, 10, 10) == UntaggedError::kInvalidOffset);
}

TEST_CASE("Rising offsets are only recommended: another order is placed all the same",
          "[DDP-5.3-02][DDP-5.3-04][DDP-5.2-05][RFC5041-5.3]") {
  Stream stream{100};
  CHECK(goes_on(stream.place(1, 10, 10, false)));
  CHECK(goes_on(stream.place(1, 0, 10, false)));
  CHECK(stream.delivered(1, 20, 10).length == 30);
  CHECK(test::copy(Bytes(stream.memory.receives[0]).first(30)) == counting(30));
}

TEST_CASE("A message is delivered once, with its last segment and not before",
          "[DDP-4.1-06][DDP-4.1-09][DDP-4.1-10][DDP-5.3-06][DDP-5.4-02][DDP-5.4-03][RDMAP-5.5-20][RFC5041-5.4]") {
  Stream stream{100, 100};
  CHECK(goes_on(stream.place(1, 0, 10, false)));
  CHECK(goes_on(stream.place(1, 10, 10, false)));
  CHECK(stream.delivered(1, 20, 10).length == 30);
  CHECK(stream.refused(1, 20, 10) == UntaggedError::kMsnRange);
}

TEST_CASE("Delivery reports the length: offset plus payload of the last segment",
          "[DDP-5.4-04][DDP-5.4-05][DDP-1.2-02][RDMAP-3.1-05][RDMAP-4.1-26][RDMAP-5.3-03][RFC5041-5.4]") {
  Stream stream{100};
  CHECK(goes_on(stream.place(1, 0, 17, false)));
  const ReceiveFilled filled = stream.delivered(1, 17, 4);
  CHECK(filled.length == 21);
  CHECK(filled.buffer.capacity == 100);
}

TEST_CASE("Delivery hands up RsvdULP, that of any one segment",
          "[DDP-4.3-05][DDP-4.3-07][DDP-4.3-08][DDP-5.4-06][RDMAP-3.1-07][RFC5041-4.3]") {
  Stream stream{100};
  CHECK(goes_on(stream.place(1, 0, 1, false)));
  const ReceiveFilled filled = stream.delivered(1, 1, 1, 0x45);
  CHECK(filled.rsvd_ulp == 0x45);
  CHECK(filled.rsvd_ulp_word == 0xabcd);
}

TEST_CASE("Each message takes one receive, however small", "[DDP-1.2-02][RDMAP-5.3-02][RDMAPX-6.3-02][RFC5041-1.2]") {
  Stream stream{100, 100, 100};
  stream.delivered(1, 0, 1);
  stream.delivered(2, 0, 0);
  CHECK(stream.memory.posted.size() == 1);
}

TEST_CASE("An untagged message begins at offset 0 of its buffer", "[DDP-1.2-04][DDP-4.3-15][RFC5041-1.2]") {
  Stream stream{4, 4};
  stream.delivered(1, 0, 2);
  stream.delivered(2, 0, 2);
  CHECK(stream.memory.receives[1] == test::octets("00 01 00 00"));
}

TEST_CASE("Queue 1 takes IRD requests and refuses one more",
          "[RDMAP-5.2.1-02][RDMAP-5.2.2-03][RDMAP-6.1-05][RDMAP-6.1-09][RDMAPX-5.2.1-15][RDMAPX-5.2.2-07]"
          "[RFC5040-6.1]") {
  UntaggedQueues queues(3);
  const auto request = [&](std::uint32_t msn) {
    return queues.requests.place({true, 0x41, 0, 1, {msn}, {}}, counting(28));
  };
  for (std::uint32_t msn = 1; msn <= 3; ++msn) CHECK(request(msn));
  CHECK(request(4).error() == UntaggedError::kNoBuffer);
  queues.requests.post_buffers(1);
  CHECK(request(4));
}

TEST_CASE("Queue 2 has room for exactly one Terminate, without any receive posted",
          "[RDMAP-5.4-03][RDMAP-5.4-04][RDMAP-5.4-08][RFC5040-5.4]") {
  UntaggedQueues queues(0);
  const auto octets = counting(52);
  const auto terminate = [&](std::uint32_t msn) {
    return queues.terminate.place({true, 0x47, 0, 2, {msn}, {}}, octets);
  };
  CHECK(terminate(2).error() == UntaggedError::kMsnRange);
  const auto first = terminate(1);
  REQUIRE(first);
  REQUIRE(*first);
  CHECK(test::copy((*first)->payload) == octets);
  CHECK(terminate(2).error() == UntaggedError::kNoBuffer);
}

TEST_CASE("Queue 3 takes as many Atomic Responses as were asked for",
          "[RDMAPX-5.2.2-08][RDMAPX-5.2.2-10][RDMAPX-5-08][RFC7306-5.2.2]") {
  UntaggedQueues queues(0);
  const auto response = [&](std::uint32_t msn) {
    return queues.atomic_responses.place({true, 0x4b, 0, 3, {msn}, {}}, counting(12));
  };
  CHECK(response(1).error() == UntaggedError::kNoBuffer);
  queues.atomic_responses.post_buffers(2);
  CHECK(response(1));
  CHECK(response(2));
  CHECK(response(3).error() == UntaggedError::kNoBuffer);
}

TEST_CASE("A request may come in several segments", "[DDP-5.2-05][DDP-5.4-02][RFC5041-5.2]") {
  UntaggedQueues queues(1);
  const auto half = queues.requests.place({false, 0x41, 0, 1, {1}, {0}}, counting(14));
  REQUIRE(half);
  CHECK_FALSE(half->has_value());
  const auto whole = queues.requests.place({true, 0x41, 0, 1, {1}, {14}}, counting(14, 14));
  REQUIRE(whole);
  REQUIRE(*whole);
  CHECK(test::copy((*whole)->payload) == counting(28));
}

TEST_CASE("Sends and Immediate Data share one sequence and are delivered in it",
          "[RDMAPX-6.3-03][RDMAPX-6.4-01][RDMAP-5.3-05][RDMAPX-7-01][RDMAPX-7-05][RFC7306-6.3]") {
  Stream stream{10, 10, 10};
  const auto immediate = [&](std::uint32_t msn) {
    return stream.queue.place({true, 0x48, 0, 0, {msn}, {}}, counting(8), stream.memory, ReceiveQueue::Where::kAside);
  };
  stream.delivered(1, 0, 5);
  const auto refused = immediate(3);
  REQUIRE_FALSE(refused);
  const auto outcome = immediate(2);
  REQUIRE(outcome);
  CHECK(std::get<ReceiveFilled>(*outcome).buffer.cookie == 1);
  CHECK(stream.delivered(3, 0, 5).buffer.cookie == 2);
}

TEST_CASE("The first segment says where a message is kept, and all of it is kept there", "[DDP-5.2-05][RFC5041-5.2]") {
  using Where = ReceiveQueue::Where;
  Stream stream{10};
  CHECK_FALSE(stream.queue.under_way());
  REQUIRE(stream.queue.place({false, 0x48, 0, 0, {1}, {0}}, counting(4), stream.memory, Where::kAside));
  CHECK(stream.queue.under_way() == Where::kAside);
  const auto whole = stream.queue.place({true, 0x43, 0, 0, {1}, {4}}, counting(4, 4), stream.memory, Where::kBuffer);
  REQUIRE(whole);
  CHECK(test::copy(std::get<ReceiveFilled>(*whole).aside) == counting(8));
  CHECK_FALSE(stream.queue.under_way());
}

TEST_CASE("Messages for RDMAP itself are checked as all others",
          "[RDMAP-7.2-01][RDMAP-7.2-04][RDMAPX-8.2-01][RDMAP-5.4-08][RFC5040-7.2]") {
  const auto check = [](auto queue, std::size_t longest) {
    CHECK(queue.place({true, 0x41, 0, 1, {2}, {0}}, counting(1)).error() == UntaggedError::kMsnRange);
    const auto beyond = static_cast<std::uint32_t>(longest + 1);
    CHECK(queue.place({true, 0x41, 0, 1, {1}, {beyond}}, counting(1)).error() == UntaggedError::kInvalidOffset);
    CHECK(queue.place({true, 0x41, 0, 1, {1}, {0}}, counting(longest + 1)).error() == UntaggedError::kTooLong);
    CHECK(queue.place({true, 0x41, 0, 1, {1}, {1}}, counting(1)).error() == UntaggedError::kInvalidOffset);
  };
  check(MessageQueue<UntaggedQueues::kLongestRequest>(1), UntaggedQueues::kLongestRequest);
  check(MessageQueue<UntaggedQueues::kLongestTerminate>(1), UntaggedQueues::kLongestTerminate);
  check(MessageQueue<UntaggedQueues::kLongestAtomicResponse>(1), UntaggedQueues::kLongestAtomicResponse);
}

TEST_CASE("Each queue counts its own MSN", "[DDP-4.3-11][DDP-5.2-06][RDMAPX-5-08][RFC5041-4.3]") {
  UntaggedQueues queues(2);
  queues.atomic_responses.post_buffers(1);
  CHECK(queues.requests.place({true, 0x41, 0, 1, {1}, {}}, counting(28)));
  CHECK(queues.requests.place({true, 0x4a, 0, 1, {2}, {}}, counting(52)));
  CHECK(queues.atomic_responses.place({true, 0x4b, 0, 3, {1}, {}}, counting(12)));
  CHECK(queues.terminate.place({true, 0x47, 0, 2, {1}, {}}, counting(4)));
}

}  // namespace
}  // namespace weft::ddp
