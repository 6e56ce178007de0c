// SPDX-License-Identifier: Apache-2.0
// RFC 7306 sections 4, 5.2 and 6.3: Atomic Requests and Responses, and Immediate Data.
#include <catch2/catch.hpp>

#include <limits>

#include "tests/conformance/exchange.hpp"

namespace weft::conformance::test::atomics_clauses {
namespace {

constexpr unsigned kFetchAdd = 0, kCmpSwap = 2;

Clauses asked(const Atomic& atomic) {
  return Exchange().initiator(atomic.request()).responder(atomic.response()).found();
}

}  // namespace

TEST_CASE("an Atomic Request has 52 octets", "[rfc7306/4][RDMAPX-4-02]") {
  const Octets request = Atomic{}.request();
  CHECK(Exchange().initiator(request).found() == kNothing);
  for (const Octets& wrong : {first(request, 18 + 51), first(request, 18), request + zeros(1)}) {
    CHECK(Exchange().initiator(wrong).responder(Atomic{}.response()).found() ==
          Clauses{"violation RDMAPX-4-02 initiator 1 octet 18"});
  }
  SECTION("in one segment or in two") {
    const Octets fields(request.begin() + 18, request.end());
    CHECK(Exchange()
              .initiator(untagged(kAtomicRequest, 1, 1, first(fields, 20), 0, false))
              .initiator(untagged(kAtomicRequest, 1, 1, {fields.begin() + 20, fields.end()}, 20))
              .responder(Atomic{}.response())
              .found() == kNothing);
    CHECK(Exchange()
              .initiator(untagged(kAtomicRequest, 1, 1, first(fields, 20), 0, false))
              .initiator(untagged(kAtomicRequest, 1, 1, {fields.begin() + 20, fields.end() - 1}, 20))
              .found() == Clauses{"violation RDMAPX-4-02 initiator 2 octet 18"});
    const Octets unknown = changed(fields, 3, 1);  // AOpCode
    CHECK(Exchange()
              .initiator(untagged(kAtomicRequest, 1, 1, first(unknown, 20), 0, false))
              .initiator(untagged(kAtomicRequest, 1, 1, {unknown.begin() + 20, unknown.end()}, 20))
              .found() == Clauses{"violation RDMAPX-5.2.1-04 initiator 2 octet 18"});
  }
}

TEST_CASE("an Atomic Response has 12 octets", "[rfc7306/4][RDMAPX-4-03]") {
  const Octets response = Atomic{}.response();
  for (const Octets& wrong :
       {first(response, 18 + 11), first(response, 18), response + zeros(1), response + zeros(20)}) {
    CHECK(Exchange().initiator(Atomic{}.request()).responder(wrong).found() ==
          Clauses{"violation RDMAPX-4-03 responder 2 octet 18"});
  }
  CHECK(Exchange().initiator(Atomic{}.request()).responder(response).found() == kNothing);
}

TEST_CASE("the 28 bits in front of AOpCode are zero", "[rfc7306/5.2.1][RDMAPX-5.2.1-02]") {
  CHECK(asked({.operation = kCmpSwap}) == kNothing);
  for (const unsigned reserved : {0x10U, 0x80000000U, 0xfffffff0U}) {
    CHECK(asked({.operation = reserved | kCmpSwap}) == Clauses{"violation RDMAPX-5.2.1-02 initiator 1 octet 18"});
  }
}

TEST_CASE("AOpCode is 0 or 2", "[rfc7306/5.2.1][RDMAPX-5.2.1-04]") {
  for (unsigned operation = 0; operation < 16; ++operation) {
    const bool known = operation == kFetchAdd || operation == kCmpSwap;
    CHECK(asked({.operation = operation}) ==
          (known ? kNothing : Clauses{"violation RDMAPX-5.2.1-04 initiator 1 octet 18"}));
  }
}

TEST_CASE("a FetchAdd compares nothing", "[rfc7306/5.2.1][RDMAPX-5.2.1-12][RDMAPX-5.2.1-13]") {
  constexpr std::uint64_t kAll = std::numeric_limits<std::uint64_t>::max();
  CHECK(asked({.operation = kFetchAdd, .compare = 0, .compare_mask = kAll}) == kNothing);
  CHECK(asked({.operation = kFetchAdd, .compare = 1}) == Clauses{"violation RDMAPX-5.2.1-12 initiator 1 octet 54"});
  for (const std::uint64_t mask : {std::uint64_t{0}, kAll - 1, kAll >> 1}) {
    CHECK(asked({.operation = kFetchAdd, .compare_mask = mask}) ==
          Clauses{"violation RDMAPX-5.2.1-13 initiator 1 octet 62"});
    CHECK(asked({.operation = kCmpSwap, .compare = kAll, .compare_mask = mask}) == kNothing);
  }
}

TEST_CASE("a Response returns the identifier of its Request", "[rfc7306/5.2.2][RDMAPX-5.2.2-02]") {
  for (const unsigned id : {0U, 0xffffffffU}) CHECK(asked({.id = id}) == kNothing);
  CHECK(Exchange().responder(Atomic{}.response()).found() == Clauses{"violation RDMAPX-5.2.2-02 responder 1 octet 18"});
  CHECK(Exchange().initiator(Atomic{}.request()).responder(Atomic{.id = 0x78}.response()).found() ==
        Clauses{"violation RDMAPX-5.2.2-02 responder 2 octet 18"});
  CHECK(Exchange()
            .initiator(Atomic{}.request())
            .responder(Atomic{}.response(1))
            .responder(Atomic{}.response(2))
            .found() == Clauses{"violation RDMAPX-5.2.2-02 responder 3 octet 18"});
  SECTION("and a Read is none") {
    CHECK(Exchange().initiator(Read{}.request()).responder(Atomic{}.response()).found() ==
          Clauses{"violation RDMAPX-5.2.2-02 responder 2 octet 18"});
  }
  SECTION("nor is one of the end that answers") {
    CHECK(Exchange().initiator(Atomic{}.request()).initiator(Atomic{}.response()).found() ==
          Clauses{"violation RDMAPX-5.2.2-02 initiator 2 octet 18"});
  }
  SECTION("in several segments") {
    const auto in_two = [](const Octets& whole) {
      const Octets fields(whole.begin() + 18, whole.end());
      return std::pair(untagged(kAtomicResponse, 3, 1, first(fields, 8), 0, false),
                       untagged(kAtomicResponse, 3, 1, {fields.begin() + 8, fields.end()}, 8));
    };
    const auto [front, end] = in_two(Atomic{}.response());
    CHECK(Exchange().initiator(Atomic{}.request()).responder(front).responder(end).found() == kNothing);
    CHECK(Exchange().responder(front).responder(end).found() ==
          Clauses{"violation RDMAPX-5.2.2-02 responder 2 octet 18"});
    const auto [other, other_end] = in_two(Atomic{.id = 0x78}.response());
    CHECK(Exchange().initiator(Atomic{}.request()).responder(other).responder(other_end).found() ==
          Clauses{"violation RDMAPX-5.2.2-02 responder 3 octet 18"});
    CHECK(Exchange().initiator(Atomic{}.request()).responder(front).responder(end + zeros(1)).found() ==
          Clauses{"violation RDMAPX-4-03 responder 3 octet 18"});
  }
  SECTION("the capture may have lost the Request") {
    CHECK(Exchange()
              .initiator(send(1, pattern(9)))
              .gap(End::kFirst)
              .initiator(send(2, pattern(9)))
              .initiator(send(3, pattern(9)))
              .responder(Atomic{}.response())
              .found() == kNothing);
  }
}

TEST_CASE("the last segment of a message whose first one the capture lost has no size to be judged",
          "[rfc7306/4][rfc5040/4.4][RDMAPX-4-02][RDMAPX-4-03][RDMAP-4.4-01]") {
  const auto found_in = [](End from, unsigned opcode, unsigned queue, const Octets& whole) {
    Exchange exchange;
    const auto say = [&](const Octets& ulpdu) {
      from == End::kFirst ? exchange.initiator(ulpdu) : exchange.responder(ulpdu);
    };
    const Octets fields(whole.begin() + 18, whole.end());
    say(untagged(opcode, queue, 1, first(fields, 8), 0, false));
    exchange.gap(from);
    for (const unsigned msn : {1U, 2U}) say(send(msn, pattern(9)));
    say(untagged(opcode, queue, 1, {fields.begin() + 8, fields.end()}, 8));
    return exchange.found();
  };
  CHECK(found_in(End::kFirst, kAtomicRequest, 1, Atomic{}.request()) == kNothing);
  CHECK(found_in(End::kFirst, kReadRequest, 1, Read{}.request()) == kNothing);
  CHECK(found_in(End::kSecond, kAtomicResponse, 3, Atomic{}.response()) == kNothing);
}

TEST_CASE("Atomic Responses come in the order of their Requests", "[rfc7306/5.2.2][RDMAPX-5.2.2-11]") {
  const Atomic one{.msn = 1, .id = 5};
  const Atomic two{.msn = 2, .id = 4};  // identifiers need no order
  const auto answered = [&](const Octets& a, const Octets& b) {
    return Exchange().initiator(one.request()).initiator(two.request()).responder(a).responder(b).found();
  };
  CHECK(answered(one.response(1), two.response(2)) == kNothing);
  CHECK(answered(two.response(1), one.response(2)) == Clauses{"violation RDMAPX-5.2.2-11 responder 3 octet 18"});
  SECTION("and the identifier may be used again") {
    const Atomic again{.msn = 2, .id = 5};
    CHECK(Exchange()
              .initiator(one.request())
              .initiator(again.request())
              .responder(one.response(1))
              .responder(again.response(2))
              .found() == kNothing);
  }
}

TEST_CASE("a missing L of an Atomic Response is one finding", "[rfc5041/4.1][rfc7306/7][DDP-4.1-05][RDMAPX-7-11]") {
  const auto read = [](unsigned msn) { return Read{.msn = msn, .sink_offset = 0x1000 * msn}; };
  Exchange exchange;
  exchange.initiator(Atomic{}.request()).initiator(read(2).request()).initiator(read(3).request());
  exchange.responder(changed(Atomic{}.response(), 0, 0x01));
  exchange.responder(read(2).response()).responder(read(3).response());
  CHECK(exchange.close(End::kSecond).found() == Clauses{"violation DDP-4.1-05 responder 4 octet 0"});
}

TEST_CASE("Reads and atomics are answered in one order", "[rfc7306/7][RDMAPX-7-11][RDMAPX-7-15]") {
  const Read read{.msn = 1}, later{.msn = 2};
  const Atomic atomic{.msn = 2}, earlier{.msn = 1};
  CHECK(Exchange()
            .initiator(read.request())
            .initiator(atomic.request())
            .responder(read.response())
            .responder(atomic.response())
            .found() == kNothing);
  CHECK(Exchange()
            .initiator(read.request())
            .initiator(atomic.request())
            .responder(atomic.response())
            .responder(read.response())
            .found() == Clauses{"violation RDMAPX-7-15 responder 3 octet 18"});
  CHECK(Exchange()
            .initiator(earlier.request())
            .initiator(later.request())
            .responder(later.response())
            .responder(earlier.response())
            .found() == Clauses{"violation RDMAPX-7-11 responder 3 octet 0"});
  SECTION("of which that of one kind is told first") {
    const Atomic last{.msn = 3, .id = 5};
    CHECK(Exchange()
              .initiator(read.request())
              .initiator(atomic.request())
              .initiator(last.request())
              .responder(last.response(1))
              .responder(read.response())
              .responder(atomic.response(2))
              .found() == Clauses{"violation RDMAPX-5.2.2-11 responder 4 octet 18"});
  }
  SECTION("a Read Response that has begun may go on after an Atomic Response") {
    CHECK(Exchange()
              .initiator(read.request())
              .initiator(atomic.request())
              .responder(read.response(16, 0, false))
              .responder(atomic.response())
              .responder(read.response(8, 16))
              .found() == kNothing);
  }
  SECTION("a Read of no octets counts too") {
    CHECK(Exchange()
              .initiator(earlier.request())
              .initiator(Read{.msn = 2, .size = 0}.request())
              .responder(Read{.size = 0}.response())
              .responder(earlier.response())
              .found() == Clauses{"violation RDMAPX-7-11 responder 3 octet 0"});
  }
  SECTION("each end's requests have an order of their own") {
    CHECK(Exchange()
              .initiator(read.request())
              .responder(earlier.request())
              .initiator(earlier.response())
              .responder(read.response())
              .found() == kNothing);
  }
  SECTION("what the capture lost may have been the older one's response") {
    CHECK(Exchange()
              .responder(send(1, pattern(9)))
              .initiator(read.request())
              .initiator(atomic.request())
              .gap(End::kSecond)
              .responder(send(2, pattern(9)))
              .responder(send(3, pattern(9)))
              .responder(atomic.response())
              .found() == kNothing);
  }
}

TEST_CASE("an Atomic Response that does not acknowledge its Request was sent before",
          "[rfc7306/5.2.2][RDMAPX-5.2.2-02]") {
  const auto answered = [](std::optional<std::size_t> less) {
    return Exchange().initiator(Atomic{}.request()).blind(End::kSecond, Atomic{}.response(), less).found();
  };
  CHECK(answered(0) == kNothing);
  CHECK(answered(std::nullopt) == kNothing);
  CHECK(answered(1) == Clauses{"violation RDMAPX-5.2.2-02 responder 2 octet 18"});
  SECTION("also where the capture shows it before") {
    const auto before = [](std::optional<std::size_t> less) {
      return Exchange()
          .blind(End::kSecond, Atomic{}.response(), less)
          .blind(End::kFirst, Atomic{}.request(), 40)
          .initiator(Atomic{.msn = 2, .id = 5}.request())
          .responder(Atomic{.id = 5}.response(2))
          .found();
    };
    CHECK(before(0) == Clauses{"violation RDMAPX-5.2.2-02 responder 1 octet 18"});
    CHECK(before(std::nullopt) == kNothing);
  }
}

TEST_CASE("an Atomic Response with the identifier of no Request answers the oldest one",
          "[rfc7306/5.2.2][rfc5040/6.1][RDMAPX-5.2.2-02][RDMAP-6.1-08]") {
  CHECK(Exchange(enhanced_conversation(1, 1, 1, 1))
            .initiator(Atomic{}.request())
            .responder(Atomic{.id = 0x78}.response())
            .initiator(Atomic{.msn = 2, .id = 5}.request())
            .found() == Clauses{"violation RDMAPX-5.2.2-02 responder 2 octet 18"});
}

TEST_CASE("an Atomic Response makes room for a request once the requester has heard of it",
          "[rfc5040/6.1][RDMAP-6.1-08]") {
  const auto next = [](std::size_t less) {
    return Exchange(enhanced_conversation(1, 1, 1, 1))
        .initiator(Atomic{}.request())
        .responder(Atomic{}.response())
        .blind(End::kFirst, Atomic{.msn = 2, .id = 5}.request(), less)
        .found();
  };
  CHECK(next(0) == kNothing);
  CHECK(next(1) == Clauses{"violation RDMAP-6.1-08 initiator 3 octet 0"});
}

TEST_CASE("Immediate Data has 8 octets", "[rfc7306/6.3][RDMAPX-6.3-05]") {
  for (const unsigned opcode : {kImmediate, kImmediateSolicited}) {
    for (const std::size_t size : {0U, 4U, 7U, 8U, 9U, 16U}) {
      CHECK(Exchange().responder(untagged(opcode, 0, 1, pattern(size))).found() ==
            (size == 8 ? kNothing : Clauses{"violation RDMAPX-6.3-05 responder 1 octet 18"}));
    }
  }
  SECTION("in one segment or in two") {
    const auto halves = [](std::size_t rest) {
      return Exchange()
          .responder(untagged(kImmediate, 0, 1, pattern(4), 0, false))
          .responder(untagged(kImmediate, 0, 1, pattern(rest), 4))
          .found();
    };
    CHECK(halves(4) == kNothing);
    CHECK(halves(3) == Clauses{"violation RDMAPX-6.3-05 responder 2 octet 18"});
    CHECK(halves(9) == Clauses{"violation RDMAPX-6.3-05 responder 2 octet 18"});
  }
}

}  // namespace weft::conformance::test::atomics_clauses
