// SPDX-License-Identifier: Apache-2.0
// RFC 5040 section 4.4: what Read Responses say where the capture does not show all Requests.
#include <catch2/catch.hpp>

#include <algorithm>

#include "tests/conformance/exchange.hpp"

namespace weft::conformance::test::unknown_reads_clauses {
namespace {

const Read kRead{.msn = 4};

// The capture lost what may have been Requests, and shows no more of them than these. As their MSNs say, three are lost. Of the Responses the first one may be the rest
// of one that began before.
Clauses after_a_gap(const std::vector<Octets>& requests, const std::vector<Octets>& responses) {
  Exchange exchange;
  exchange.initiator(send(1, pattern(9))).gap(End::kFirst);
  for (const unsigned msn : {2U, 3U}) exchange.initiator(send(msn, pattern(9)));
  for (const Octets& request : requests) exchange.initiator(request);
  for (const Octets& response : responses) exchange.responder(response);
  return exchange.initiator(send(4, pattern(9))).found();
}

std::ptrdiff_t mismatches(const Clauses& found) {
  return std::ranges::count_if(found,
                               [](const std::string& one) { return one.find("RDMAP-4.4-07") != std::string::npos; });
}

}  // namespace

TEST_CASE("which of two Reads into one buffer is answered after a gap is not known", "[rfc5040/4.4][RDMAP-4.4-07]") {
  const Read shorter{.msn = 2, .size = 8};
  CHECK(Exchange()
            .responder(send(1, pattern(9)))
            .initiator(Read{}.request())
            .initiator(shorter.request())
            .gap(End::kSecond)
            .responder(send(2, pattern(9)))
            .responder(send(3, pattern(9)))
            .responder(shorter.response())
            .found() == kNothing);
}

TEST_CASE("a Response after a gap may answer a Request that is not known", "[rfc5040/4.4][RDMAP-4.4-07]") {
  const Read earlier{.msn = 1, .size = 8}, empty{.msn = 1, .size = 0}, later{.msn = 3}, last{.msn = 4, .sink = 0x77};
  auto unreadable = Read{.msn = 2}.request();
  unreadable[1] = std::byte{0x4C};  // an opcode that does not exist: what it was is not known
  const auto asked = [&](const Read& first) {
    return Exchange()
        .initiator(first.request())
        .initiator(unreadable)
        .initiator(later.request())
        .initiator(last.request());
  };
  CHECK(mismatches(asked(earlier).responder(kRead.response()).responder(earlier.response()).found()) == 0);
  CHECK(mismatches(asked(empty).responder(kRead.response()).responder(empty.response()).found()) == 0);
}

// A program may have many outstanding Reads into one buffer.
TEST_CASE("a Response that fits a known Request in all may answer one that is not known",
          "[rfc5040/5.2][RDMAP-5.2-01]") {
  const Read first{.msn = 4}, second{.msn = 5};
  CHECK(after_a_gap({first.request()}, {kRead.response(), first.response()}) == kNothing);
  CHECK(after_a_gap({first.request(), second.request()},
                    {kRead.response(), kRead.response(), first.response(), second.response()}) == kNothing);
}

TEST_CASE("no Response is unasked for where a Request may be missing", "[rfc5040/5.2][RDMAP-5.2-01]") {
  CHECK(after_a_gap({}, {kRead.response(), kRead.response()}) == kNothing);
}

TEST_CASE("a Response that fits no known Request may answer another", "[rfc5040/4.4][RDMAP-4.4-03][RDMAP-4.4-04]") {
  CHECK(after_a_gap({kRead.request()}, {kRead.response(), Read{.sink = 0x77}.response()}) == kNothing);
  CHECK(after_a_gap({kRead.request()}, {kRead.response(), Read{.sink_offset = 0x9000}.response()}) == kNothing);
}

TEST_CASE("of two Requests that a Response fits, neither is taken for the one that it answers",
          "[rfc5040/5.2][RDMAP-5.2-01]") {
  const Octets response = kRead.response();
  CHECK(after_a_gap({kRead.request(), Read{.msn = 5}.request()}, {response, response, response, response}) == kNothing);
}

TEST_CASE("what is older than the Request that a Response answers was answered before",
          "[rfc5040/5.2.2][RDMAP-5.2.2-07]") {
  const Read older{.msn = 4, .sink = 0x77}, answered{.msn = 5}, next{.msn = 6, .sink = 0x99};
  CHECK(after_a_gap({older.request(), answered.request(), next.request()},
                    {kRead.response(), answered.response(), next.response()}) == kNothing);
}

TEST_CASE("a Response with fewer octets than the known Request asked for answers another",
          "[rfc5040/4.4][RDMAP-4.4-03]") {
  const Read later{.msn = 4}, last{.msn = 5, .sink = 0x77};
  CHECK(after_a_gap({later.request(), last.request()}, {kRead.response(), kRead.response(), kRead.response(8),
                                                        later.response(), last.response()}) == kNothing);
}

}  // namespace weft::conformance::test::unknown_reads_clauses
