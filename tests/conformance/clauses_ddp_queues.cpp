// SPDX-License-Identifier: Apache-2.0
// RFC 5041 section 4.3: how the messages of an untagged queue are numbered.
#include <catch2/catch.hpp>

#include "tests/conformance/exchange.hpp"

namespace weft::conformance::test::ddp_queues_clauses {
namespace {

// Sends of the Initiator with these MSNs.
Clauses numbered(std::initializer_list<unsigned> msns) {
  Exchange exchange;
  for (const unsigned msn : msns) exchange.initiator(send(msn, pattern(9)));
  return exchange.found();
}

// The same where the capture lost what was before them.
Clauses numbered_behind_a_gap(std::initializer_list<unsigned> msns) {
  Exchange exchange;
  exchange.initiator(send(1, pattern(9))).gap(End::kFirst);
  for (const unsigned msn : msns) exchange.initiator(send(msn, pattern(9)));
  return exchange.found();
}

}  // namespace

TEST_CASE("the first MSN of each queue is 1", "[rfc5041/4.3][DDP-4.3-11]") {
  SECTION("in each direction") {
    CHECK(Exchange()
              .initiator(send(1, pattern(9)))
              .responder(send(1, pattern(9)))
              .initiator(Read{}.request())
              .responder(Atomic{.msn = 1}.request())
              .initiator(Atomic{}.response(1))
              .initiator(terminate_message())
              .found() == kNothing);
  }
  for (const unsigned msn : {0U, 2U, 0xffffffffU}) {
    CHECK(numbered({msn}) == Clauses{"violation DDP-4.3-11 initiator 1 octet 10"});
    CHECK(Exchange().responder(Read{.msn = msn}.request()).found() ==
          Clauses{"violation DDP-4.3-11 responder 1 octet 10"});
    CHECK(Exchange().initiator(Atomic{}.request()).responder(Atomic{}.response(msn)).found() ==
          Clauses{"violation DDP-4.3-11 responder 2 octet 10"});
    CHECK(Exchange().responder(changed(terminate_message(), 10, msn, 4)).found() ==
          Clauses{"violation DDP-4.3-11 responder 1 octet 10"});
  }
  SECTION("whoever counts from 0 is told once") {
    CHECK(numbered({0, 1, 2}) == Clauses{"violation DDP-4.3-11 initiator 1 octet 10"});
  }
}

TEST_CASE("the MSN rises by one", "[rfc5041/4.3][DDP-4.3-10]") {
  CHECK(numbered({1, 2, 3}) == kNothing);
  SECTION("Read and Atomic Requests share a queue, and the Sends have one of their own") {
    CHECK(Exchange()
              .initiator(Read{.msn = 1}.request())
              .initiator(send(1, pattern(9)))
              .initiator(Atomic{.msn = 2}.request())
              .initiator(send(2, pattern(9)))
              .initiator(Read{.msn = 3}.request())
              .found() == kNothing);
    CHECK(Exchange().initiator(Read{.msn = 1}.request()).initiator(Atomic{.msn = 1}.request()).found() ==
          Clauses{"violation DDP-4.3-10 initiator 2 octet 10"});
  }
  SECTION("not by none, by two or backwards") {
    for (const unsigned msn : {1U, 3U, 0U}) {
      CHECK(numbered({1, msn}) == Clauses{"violation DDP-4.3-10 initiator 2 octet 10"});
    }
  }
  SECTION("who counted wrong once may go on from there, or from where it should be") {
    CHECK(numbered({1, 3, 4, 5}) == Clauses{"violation DDP-4.3-10 initiator 2 octet 10"});
    CHECK(numbered({1, 3, 3, 4}) == Clauses{"violation DDP-4.3-10 initiator 2 octet 10"});
  }
}

TEST_CASE("the MSN goes around", "[rfc5041/4.3][DDP-4.3-10][DDP-4.3-11]") {
  SECTION("where the capture lost some, any MSN may come, and then the one after it") {
    CHECK(numbered_behind_a_gap({0xfffffffe, 0xffffffff, 0, 1}) == kNothing);
  }
  SECTION("0 is left out by nobody") {
    CHECK(numbered_behind_a_gap({0xfffffffe, 0xffffffff, 1, 2}) ==
          Clauses{"violation DDP-4.3-10 initiator 5 octet 10"});
  }
}

TEST_CASE("all segments of a message have one MSN", "[rfc5041/4.3][DDP-4.3-13]") {
  const auto message = [](unsigned second, unsigned third) {
    return Exchange()
        .responder(untagged(kSend, 0, 1, pattern(16), 0, false))
        .responder(untagged(kSend, 0, second, pattern(16), 16, false))
        .responder(untagged(kSend, 0, third, pattern(16), 32))
        .found();
  };
  CHECK(message(1, 1) == kNothing);
  CHECK(message(1, 2) == Clauses{"violation DDP-4.3-13 responder 3 octet 10"});
  CHECK(message(2, 1) == Clauses{"violation DDP-4.3-13 responder 2 octet 10"});  // and back is no news
  CHECK(message(2, 2) == Clauses{"violation DDP-4.3-13 responder 2 octet 10"});
  SECTION("also after a first one of one octet") {
    CHECK(Exchange()
              .responder(untagged(kSend, 0, 1, pattern(1), 0, false))
              .responder(untagged(kSend, 0, 2, pattern(16), 1))
              .found() == Clauses{"violation DDP-4.3-13 responder 2 octet 10"});
  }
}

}  // namespace weft::conformance::test::ddp_queues_clauses
