// SPDX-License-Identifier: Apache-2.0
// RFC 5040 sections 4.4, 5.2 and 6.1: Read Requests and their Read Responses.
#include <catch2/catch.hpp>

#include "tests/conformance/exchange.hpp"

namespace weft::conformance::test::reads_clauses {
namespace {

const Read kRead{};
const Read kSecond{.msn = 2, .sink = 0x77, .sink_offset = 0x4000, .size = 8};

// The Responder's answers to these requests.
Clauses answered(const std::vector<Octets>& requests, const std::vector<Octets>& responses) {
  Exchange exchange;
  for (const Octets& request : requests) exchange.initiator(request);
  for (const Octets& response : responses) exchange.responder(response);
  return exchange.found();
}

}  // namespace

TEST_CASE("a Read Request has 28 octets", "[rfc5040/4.4][RDMAP-4.4-01]") {
  CHECK(answered({kRead.request()}, {kRead.response()}) == kNothing);
  CHECK(answered({first(kRead.request(), 18 + 27)}, {}) == Clauses{"violation RDMAP-4.4-01 initiator 1 octet 18"});
  CHECK(answered({first(kRead.request(), 18)}, {}) == Clauses{"violation RDMAP-4.4-01 initiator 1 octet 18"});
  CHECK(answered({kRead.request() + zeros(1)}, {}) == Clauses{"violation RDMAP-4.4-01 initiator 1 octet 18"});
  SECTION("whatever answers one that nobody can read is not judged") {
    CHECK(answered({kRead.request() + zeros(4)}, {kRead.response()}) ==
          Clauses{"violation RDMAP-4.4-01 initiator 1 octet 18"});
  }
  SECTION("in one segment or in two") {
    const Octets whole = kRead.request();
    const Octets fields(whole.begin() + 18, whole.end());
    const Octets begin = untagged(kReadRequest, 1, 1, {fields.begin(), fields.begin() + 20}, 0, false);
    const Octets end = untagged(kReadRequest, 1, 1, {fields.begin() + 20, fields.end()}, 20);
    CHECK(answered({begin, end}, {kRead.response()}) == kNothing);
    CHECK(answered({begin}, {kRead.response()}) == kNothing);
    CHECK(answered({begin, kSecond.request()}, {kRead.response(), kSecond.response()}) ==
          Clauses{"violation DDP-4.1-05 initiator 2 octet 0"});
    CHECK(answered({begin, end + zeros(1)}, {}) == Clauses{"violation RDMAP-4.4-01 initiator 2 octet 18"});
    CHECK(answered({begin, first(end, 18 + 7)}, {}) == Clauses{"violation RDMAP-4.4-01 initiator 2 octet 18"});
    CHECK(answered({begin, end}, {kRead.response(25)}) == Clauses{"violation RDMAP-4.4-07 responder 3 octet 0"});
    CHECK(answered({begin, end}, {kRead.response(), kRead.response()}) ==
          Clauses{"violation RDMAP-5.2-01 responder 4 octet 0"});
  }
}

TEST_CASE("a Read is one Request and one Response", "[rfc5040/5.2][RDMAP-5.2-01]") {
  CHECK(answered({}, {kRead.response()}) == Clauses{"violation RDMAP-5.2-01 responder 1 octet 0"});
  CHECK(answered({kRead.request()}, {kRead.response(), kRead.response()}) ==
        Clauses{"violation RDMAP-5.2-01 responder 3 octet 0"});
  SECTION("of the other end") {
    CHECK(Exchange().initiator(kRead.request()).initiator(kRead.response()).found() ==
          Clauses{"violation RDMAP-5.2-01 initiator 2 octet 0"});
  }
  SECTION("of no octets, which fits any request") {
    CHECK(answered({}, {Read{.size = 0}.response()}) == Clauses{"violation RDMAP-5.2-01 responder 1 octet 0"});
  }
  SECTION("and no atomic") {
    CHECK(Exchange().initiator(Atomic{}.request()).responder(kRead.response()).found() ==
          Clauses{"violation RDMAP-5.2-01 responder 2 octet 0"});
  }
  SECTION("which may never come: the capture ended, or the stream") {
    CHECK(answered({kRead.request()}, {}) == kNothing);
    CHECK(answered({kRead.request()}, {terminate_message()}) == kNothing);
  }
  SECTION("the capture may have lost the Request") {
    CHECK(Exchange()
              .initiator(send(1, pattern(9)))
              .gap(End::kFirst)
              .initiator(send(2, pattern(9)))
              .initiator(send(3, pattern(9)))
              .responder(kRead.response())
              .found() == kNothing);
  }
}

TEST_CASE("a Response that does not acknowledge its Request was sent before", "[rfc5040/5.2][RDMAP-5.2-01]") {
  const auto answered_blindly = [](std::optional<std::size_t> less) {
    return Exchange().initiator(kRead.request()).blind(End::kSecond, kRead.response(), less).found();
  };
  CHECK(answered_blindly(0) == kNothing);
  CHECK(answered_blindly(std::nullopt) == kNothing);
  for (const std::size_t less : {1U, 30U, 52U}) {  // at most all of the Request's FPDU
    CAPTURE(less);
    CHECK(answered_blindly(less) == Clauses{"violation RDMAP-5.2-01 responder 2 octet 0"});
  }
  SECTION("and is one finding where the capture shows it before the Request") {
    const auto before = [](std::optional<std::size_t> less, std::optional<std::size_t> request_less) {
      return Exchange()
          .blind(End::kSecond, kRead.response(), less)
          .blind(End::kFirst, kRead.request(), request_less)
          .initiator(kSecond.request())
          .responder(kSecond.response())
          .initiator(send(1, pattern(9)))
          .found();
    };
    const std::size_t whole = 4 + 14 + 24 + 4;  // no octet of the Response had arrived
    CHECK(before(0, whole) == Clauses{"violation RDMAP-5.2-01 responder 1 octet 0"});
    CHECK(before(std::nullopt, whole) == kNothing);
  }
  SECTION("one that was answered before stays unanswered") {
    CHECK(Exchange()
              .responder(kRead.response())
              .initiator(kRead.request())
              .responder(kRead.response())
              .initiator(send(1, pattern(9)))
              .found() == Clauses{"violation RDMAP-5.2-01 responder 1 octet 0"});
  }
}

TEST_CASE("what the capture does not show of a Request is not blamed on the Response",
          "[rfc5040/5.2][rfc5044/7.2][RDMAP-5.2-01][MPA-7.2-01]") {
  const auto ended_in = [](std::size_t octets, Closing how) {
    Conversation conversation;
    Script script = conversation.startup();
    script.send(End::kFirst, conversation.initiator.add(write({})));
    script.send(End::kSecond, conversation.responder.add(kRead.response()));
    const Octets next = conversation.initiator.add(send(1, pattern(9)));
    script.send(End::kFirst, first(next, octets));
    script.close(End::kFirst, how);
    return violations(script.audit());
  };
  CHECK(ended_in(0, Closing::kReset) == Clauses{"RDMAP-5.2-01"});
  CHECK(ended_in(20, Closing::kReset) == Clauses{});
  CHECK(ended_in(20, Closing::kFin) == Clauses{"MPA-7.2-01"});
}

TEST_CASE("a Response that acknowledges what is not seen yet may have its Request there",
          "[rfc5040/5.2][rfc7306/5.2.2][RDMAP-5.2-01][RDMAPX-5.2.2-02]") {
  const auto shown_late = [](const Octets& request, const Octets& response, bool lost,
                             std::optional<std::uint64_t> acknowledged) {
    Conversation conversation;
    Script script = conversation.startup();
    script.send(End::kFirst, conversation.initiator.add(write({})));
    const Octets late = conversation.initiator.add(request);
    script.send(End::kSecond, conversation.responder.add(response), script.sent(End::kFirst) + late.size());
    if (lost) script.gap(End::kSecond, conversation.responder.add(send(1, pattern(9))).size());
    script.send(End::kFirst, late, acknowledged);
    script.send(End::kFirst, conversation.initiator.add(send(1, pattern(9))));
    return violations(script.audit());
  };
  for (const bool lost : {false, true}) {
    for (const std::optional<std::uint64_t> acknowledged : {std::optional<std::uint64_t>(20), {}}) {
      CHECK(shown_late(kRead.request(), kRead.response(), lost, acknowledged) == Clauses{});
      CHECK(shown_late(Atomic{}.request(), Atomic{}.response(), lost, acknowledged) == Clauses{});
    }
  }
}

TEST_CASE("a Request whose FPDU is broken may have been one", "[rfc5040/5.2][rfc5044/4.1][RDMAP-5.2-01][MPA-4.1-02]") {
  const auto answered_behind = [](const FpduStream::Wrong& wrong) {
    return Exchange()
        .initiator(kRead.request(), wrong)
        .responder(kRead.response())
        .initiator(send(1, pattern(9)))
        .initiator(send(2, pattern(9)))
        .close(End::kFirst)
        .close(End::kSecond)
        .found();
  };
  CHECK(answered_behind({}) == kNothing);
  CHECK(answered_behind({.length = 4000}) == Clauses{"violation MPA-4.1-02 initiator 1 octet -2"});
  CHECK(answered_behind({.crc_flip = 1}) == Clauses{"violation MPA-4.4-13 initiator 1 octet 46"});
}

TEST_CASE("Responses come in the order of their Requests", "[rfc5040/5.2.2][RDMAP-5.2.2-07]") {
  CHECK(answered({kRead.request(), kSecond.request()}, {kRead.response(), kSecond.response()}) == kNothing);
  CHECK(answered({kRead.request(), kSecond.request()}, {kSecond.response(), kRead.response()}) ==
        Clauses{"violation RDMAP-5.2.2-07 responder 3 octet 0"});
  SECTION("those of the other end have an order of their own") {
    CHECK(Exchange()
              .initiator(kRead.request())
              .responder(kRead.request())
              .initiator(kRead.response())
              .responder(kRead.response())
              .found() == kNothing);
  }
}

TEST_CASE("a Response goes to the SinkSTag", "[rfc5040/4.4][RDMAP-4.4-03]") {
  CHECK(answered({kRead.request()}, {Read{.sink = 0x56}.response()}) ==
        Clauses{"violation RDMAP-4.4-03 responder 2 octet 2"});
  SECTION("in all of its segments, which is DDP's matter") {
    CHECK(answered({kRead.request()}, {kRead.response(16, 0, false), changed(kRead.response(8, 16), 2, 0x56, 4)}) ==
          Clauses{"violation DDP-4.2-10 responder 3 octet 2"});
  }
  SECTION("unless it has no octets") {
    const Read nothing{.size = 0};
    CHECK(answered({nothing.request()}, {Read{.sink = 0, .sink_offset = 0, .size = 0}.response()}) == kNothing);
  }
}

TEST_CASE("a Response begins at the SinkTO", "[rfc5040/4.4][RDMAP-4.4-04]") {
  for (const std::uint64_t offset : {0x1fffU, 0x2001U}) {
    CHECK(answered({kRead.request()}, {Read{.sink_offset = offset}.response()}) ==
          Clauses{"violation RDMAP-4.4-04 responder 2 octet 6"});
  }
  const Read far{.sink_offset = 0xffffffffffffffe8};
  CHECK(answered({far.request()}, {far.response(16, 0, false), far.response(8, 16)}) == kNothing);
}

TEST_CASE("the segments of a Response may come in any order of TO, which is a SHOULD",
          "[rfc5040/4.4][rfc5041/5.3][RDMAP-4.4-04][DDP-5.3-03]") {
  const Clauses warned{"warning DDP-5.3-03 responder 4 octet 6"};
  const std::vector<Octets> requests{kRead.request(), kSecond.request()};
  const auto responded = [&](std::vector<Octets> responses) {
    responses.push_back(kSecond.response());
    return answered(requests, responses);
  };
  CHECK(responded({kRead.response(8, 16, false), kRead.response(16)}) == warned);
  CHECK(responded({kRead.response(8, 8, false), kRead.response(8, 0, false), kRead.response(8, 16)}) == warned);
  CHECK(responded({kRead.response(8, 8, false), kRead.response(8, 16, false), kRead.response(8)}) ==
        Clauses{"warning DDP-5.3-03 responder 5 octet 6"});
  SECTION("but one that never begins at the SinkTO goes elsewhere, and that is one finding") {
    const Clauses told{"violation RDMAP-4.4-04 responder 3 octet 6"};
    CHECK(responded({kRead.response(8, 1, false), kRead.response(16, 9)}) == told);
    CHECK(responded({kRead.response(8, 8, false), kRead.response(8, 8, false), kRead.response(8, 16)}) == told);
    CHECK(responded({kRead.response(8, 16, false), kRead.response(16, 8)}) == told);
    CHECK(responded({kRead.response(16, 0x1000, false), kRead.response(8, 0x1010)}) == told);
  }
  SECTION("also where the octets of another request lie within") {
    const Read inner{.msn = 2, .sink_offset = 0x2010, .size = 8};
    CHECK(answered({kRead.request(), inner.request()},
                   {kRead.response(8, 16, false), kRead.response(16), inner.response()}) == warned);
  }
  SECTION("after which the next ones are judged, also when the capture lost one") {
    const Read third{.msn = 3, .sink_offset = 0x6000};
    CHECK(Exchange()
              .initiator(kRead.request())
              .initiator(kSecond.request())
              .initiator(third.request())
              .lose(End::kSecond, kRead.response())
              .responder(kSecond.response(4, 4, false))
              .responder(kSecond.response(4))
              .responder(third.response(23))
              .found() == Clauses{"violation RDMAP-4.4-07 responder 7 octet 0"});
  }
}

TEST_CASE("a Response has the octets that were asked for", "[rfc5040/4.4][RDMAP-4.4-07]") {
  CHECK(answered({kRead.request()}, {kRead.response(24)}) == kNothing);
  CHECK(answered({kRead.request()}, {kRead.response(23)}) == Clauses{"violation RDMAP-4.4-07 responder 2 octet 0"});
  CHECK(answered({kRead.request()}, {kRead.response(25)}) == Clauses{"violation RDMAP-4.4-07 responder 2 octet 0"});
  CHECK(answered({kRead.request()}, {kRead.response(0)}) == Clauses{"violation RDMAP-4.4-07 responder 2 octet 0"});
  SECTION("in as many segments as the Responder likes") {
    CHECK(answered({kRead.request()},
                   {kRead.response(1, 0, false), kRead.response(22, 1, false), kRead.response(1, 23)}) == kNothing);
    CHECK(answered({kRead.request()}, {kRead.response(16, 0, false), kRead.response(7, 16)}) ==
          Clauses{"violation RDMAP-4.4-07 responder 3 octet 0"});
    CHECK(answered({kRead.request()}, {kRead.response(16, 0, false), kRead.response(9, 16, false)}) ==
          Clauses{"violation RDMAP-4.4-07 responder 3 octet 0"});
    CHECK(answered({kRead.request()},
                   {kRead.response(16, 0, false), kRead.response(9, 16, false), kRead.response(5, 25, false)}) ==
          Clauses{"violation RDMAP-4.4-07 responder 3 octet 0"});
  }
}

TEST_CASE("an L that came too early is one finding, whatever comes after it", "[rfc5040/4.4][RDMAP-4.4-07]") {
  const Clauses early{"violation RDMAP-4.4-07 responder 2 octet 0"};
  CHECK(answered({kRead.request()}, {kRead.response(16), kRead.response(8, 16)}) == early);
  CHECK(answered({kRead.request()}, {kRead.response(8), kRead.response(8, 8), kRead.response(8, 16)}) == early);
  SECTION("after a whole Response comes another, without a request") {
    CHECK(answered({kRead.request()}, {kRead.response(), kRead.response(8, 24)}) ==
          Clauses{"violation RDMAP-5.2-01 responder 3 octet 0"});
  }
  SECTION("after another Response there may be one for the rest, which was asked for") {
    const Read rest{.msn = 3, .sink_offset = 0x2010, .size = 8}, last{.msn = 4, .sink = 0x99};
    CHECK(answered({kRead.request(), kSecond.request(), rest.request(), last.request()},
                   {kRead.response(16), kSecond.response(), rest.response(), last.response()}) ==
          Clauses{"violation RDMAP-4.4-07 responder 5 octet 0"});
  }
}

TEST_CASE("a Response that has all of its octets has L", "[rfc5041/4.1][DDP-4.1-05]") {
  const Octets whole = kRead.response(24, 0, false);
  const auto closed = [](const std::vector<Octets>& responses, Closing how = Closing::kFin) {
    Exchange exchange;
    exchange.initiator(kRead.request()).initiator(kSecond.request());
    for (const Octets& response : responses) exchange.responder(response);
    return exchange.close(End::kSecond, how).found();
  };
  CHECK(closed({kRead.response(), kSecond.response()}) == kNothing);
  CHECK(closed({whole}) == Clauses{"violation DDP-4.1-05 responder 3 octet 0"});
  CHECK(closed({kRead.response(16, 0, false), kRead.response(8, 16, false)}) ==
        Clauses{"violation DDP-4.1-05 responder 4 octet 0"});
  SECTION("which the next one shows, and is judged by itself") {
    CHECK(closed({whole, kSecond.response()}) == Clauses{"violation DDP-4.1-05 responder 3 octet 0"});
    CHECK(closed({whole, kSecond.response(8, 0, false)}) ==
          Clauses{"violation DDP-4.1-05 responder 3 octet 0", "violation DDP-4.1-05 responder 4 octet 0"});
    CHECK(closed({whole, changed(kSecond.response(), 2, 0x78, 4)}) ==
          Clauses{"violation DDP-4.1-05 responder 4 octet 0", "violation RDMAP-4.4-03 responder 4 octet 2"});
  }
  SECTION("one that the end cuts short may have been abandoned") {
    CHECK(closed({kRead.response(16, 0, false)}) == kNothing);
    CHECK(closed({whole}, Closing::kReset) == kNothing);
    CHECK(answered({kRead.request()}, {whole}) == kNothing);
  }
}

TEST_CASE("a missing L of a Response is one finding, wherever the others go",
          "[rfc5041/4.1][rfc5040/6.1][DDP-4.1-05][RDMAP-6.1-08]") {
  const Octets whole = kRead.response(24, 0, false);
  const Clauses told{"violation DDP-4.1-05 responder 4 octet 0"};
  SECTION("to the same STag") {
    for (const std::uint64_t offset : {0x2000U, 0x2018U, 0x3000U}) {  // the same octets, the next ones, others
      const Read next{.msn = 2, .sink_offset = offset, .size = 32}, last{.msn = 3, .sink_offset = 0x4000, .size = 8};
      CHECK(answered({kRead.request(), next.request(), last.request()}, {whole, next.response(), last.response()}) ==
            told);
      CHECK(answered({kRead.request(), next.request(), last.request()},
                     {whole, next.response(20, 0, false), next.response(12, 20), last.response()}) == told);
    }
  }
  SECTION("or have no octets") {
    const Read nothing{.msn = 2, .sink = 0, .sink_offset = 0, .size = 0}, last{.msn = 3, .sink_offset = 0x4000};
    CHECK(answered({kRead.request(), nothing.request(), last.request()},
                   {whole, nothing.response(), last.response()}) == told);
    CHECK(answered({kRead.request(), kSecond.request(), last.request()},
                   {whole, nothing.response(), kSecond.response(), last.response()}) ==
          Clauses{"violation DDP-5.2-11 responder 5 octet 0"});
  }
  SECTION("and no fault of a requester that asks for more") {
    const auto next_to = [&](std::size_t less, unsigned sink) {
      const Read next{.msn = 2, .sink = sink, .sink_offset = 0x4000};
      return Exchange(enhanced_conversation(1, 1, 1, 1))
          .initiator(kRead.request())
          .responder(whole)
          .blind(End::kFirst, next.request(), less)
          .responder(next.response())
          .found();
    };
    for (const unsigned sink : {0x55U, 0x77U}) {
      CHECK(next_to(0, sink) == Clauses{"violation DDP-4.1-05 responder 2 octet 0"});
      CHECK(next_to(1, sink) ==
            Clauses{"violation RDMAP-6.1-08 initiator 3 octet 0", "violation DDP-4.1-05 responder 2 octet 0"});
    }
  }
}

TEST_CASE("a Request that has all of its octets has L", "[rfc5041/4.1][DDP-4.1-05]") {
  const Octets whole = kRead.request();
  const auto part = [&](std::uint32_t size, std::uint32_t at) {
    const auto begin = whole.begin() + 18 + at;
    return untagged(kReadRequest, 1, 1, {begin, begin + size}, at, false);
  };
  const auto closed = [](const std::vector<Octets>& requests, Closing how = Closing::kFin) {
    Exchange exchange;
    for (const Octets& request : requests) exchange.initiator(request);
    return exchange.responder(kRead.response()).close(End::kFirst, how).found();
  };
  CHECK(closed({kRead.request()}) == kNothing);
  CHECK(closed({part(28, 0)}) == Clauses{"violation DDP-4.1-05 initiator 1 octet 0"});
  CHECK(closed({part(20, 0), part(8, 20)}) == Clauses{"violation DDP-4.1-05 initiator 2 octet 0"});
  CHECK(closed({part(28, 0), send(1, pattern(9))}) == Clauses{"violation DDP-4.1-05 initiator 1 octet 0"});
  SECTION("which the next one shows, and is judged by itself") {
    CHECK(closed({part(28, 0), kSecond.request()}) == Clauses{"violation DDP-4.1-05 initiator 2 octet 0"});
  }
  SECTION("one that the end cuts short may have been abandoned") {
    CHECK(closed({part(27, 0)}) == kNothing);
    CHECK(closed({part(28, 0)}, Closing::kReset) == kNothing);
  }
}

TEST_CASE("a Response without octets and without L is one finding", "[rfc5041/5.2][DDP-5.2-11]") {
  const Octets empty = tagged(kReadResponse, 0, 0, {}, false);
  const Clauses told{"violation DDP-5.2-11 responder 2 octet 0"};
  CHECK(answered({kRead.request()}, {empty}) == told);
  CHECK(answered({kRead.request()}, {empty, kRead.response()}) == told);
  CHECK(answered({Read{.size = 0}.request()}, {empty}) == told);
  CHECK(answered({}, {empty}) == Clauses{"violation DDP-5.2-11 responder 1 octet 0"});
  CHECK(answered({kRead.request()}, {kRead.response(16, 0, false), empty, kRead.response(8, 16)}) ==
        Clauses{"violation DDP-5.2-11 responder 3 octet 0"});
  SECTION("and answers a Read of nothing") {
    const Read nothing{.size = 0}, next{.msn = 2, .size = 0}, last{.msn = 3, .sink = 0x77, .sink_offset = 0x4000};
    CHECK(Exchange(enhanced_conversation(2, 2, 2, 2))
              .initiator(nothing.request())
              .initiator(next.request())
              .responder(empty)
              .responder(next.response())
              .initiator(last.request())
              .initiator(Atomic{.msn = 4}.request())
              .responder(last.response())
              .responder(Atomic{}.response())
              .found() == Clauses{"violation DDP-5.2-11 responder 3 octet 0"});
    CHECK(answered({kRead.request(), next.request(), last.request()},
                   {kRead.response(24, 0, false), empty, last.response()}) ==
          Clauses{"violation DDP-4.1-05 responder 4 octet 0", "violation DDP-5.2-11 responder 5 octet 0"});
  }
}

TEST_CASE("a hole in a Response is one finding", "[rfc5040/4.4][rfc5041/5.2][RDMAP-4.4-07][DDP-5.2-10]") {
  for (const std::size_t from : {14U, 18U}) {  // twice, left out
    CHECK(answered({kRead.request()}, {kRead.response(16, 0, false), kRead.response(24 - from, from)}) ==
          Clauses{"violation DDP-5.2-10 responder 3 octet 6"});
  }
}

TEST_CASE("a Read of nothing is answered with nothing", "[rfc5040/5.2.1][RDMAP-5.2.1-15]") {
  const Read nothing{.size = 0};
  CHECK(answered({nothing.request()}, {nothing.response()}) == kNothing);
  CHECK(answered({nothing.request()}, {nothing.response(1)}) ==
        Clauses{"violation RDMAP-5.2.1-15 responder 2 octet 0"});
}

TEST_CASE("no more requests are outstanding than the peer's IRD", "[rfc5040/6.1][RDMAP-6.1-08]") {
  const Exchange negotiated(enhanced_conversation(1, 2, 2, 1));  // the Initiator may have 2, the Responder 1
  const auto read = [](unsigned msn) { return Read{.msn = msn}.request(); };
  SECTION("of Reads and atomics together") {
    CHECK(Exchange(negotiated).initiator(read(1)).initiator(Atomic{.msn = 2}.request()).found() == kNothing);
    CHECK(Exchange(negotiated).initiator(read(1)).initiator(Atomic{.msn = 2}.request()).initiator(read(3)).found() ==
          Clauses{"violation RDMAP-6.1-08 initiator 3 octet 0"});
    CHECK(Exchange(negotiated).responder(read(1)).found() == kNothing);
    CHECK(Exchange(negotiated).responder(read(1)).responder(read(2)).responder(read(3)).found() ==
          Clauses{"violation RDMAP-6.1-08 responder 2 octet 0"});
  }
  SECTION("a Response makes room for one") {
    CHECK(Exchange(negotiated)
              .initiator(read(1))
              .initiator(read(2))
              .responder(kRead.response())
              .initiator(read(3))
              .found() == kNothing);
  }
  SECTION("as the requester knew when it sent the next") {
    const auto next = [&](std::optional<std::size_t> less) {
      return Exchange(negotiated)
          .initiator(read(1))
          .initiator(read(2))
          .responder(kRead.response())
          .blind(End::kFirst, read(3), less)
          .found();
    };
    CHECK(next(0) == kNothing);
    CHECK(next(std::nullopt) == kNothing);
    CHECK(next(1) == Clauses{"violation RDMAP-6.1-08 initiator 4 octet 0"});
    CHECK(Exchange(negotiated)
              .initiator(read(1))
              .initiator(read(2))
              .responder(kRead.response(16, 0, false))
              .initiator(read(3))
              .found() == Clauses{"violation RDMAP-6.1-08 initiator 4 octet 0"});
  }
  SECTION("and is told again when it happens again") {
    CHECK(Exchange(negotiated)
              .responder(read(1))
              .responder(read(2))
              .responder(read(3))
              .initiator(kRead.response())
              .initiator(kRead.response())
              .initiator(kRead.response())
              .responder(read(4))
              .responder(read(5))
              .found() ==
          Clauses{"violation RDMAP-6.1-08 responder 2 octet 0", "violation RDMAP-6.1-08 responder 8 octet 0"});
  }
  SECTION("without RFC 6581 nothing was negotiated") {
    Exchange exchange;
    for (unsigned msn = 1; msn < 40; ++msn) exchange.initiator(read(msn));
    CHECK(exchange.found() == kNothing);
  }
  SECTION("0x3fff leaves it to the ULP") {
    Exchange exchange(enhanced_conversation(0x3fff, 0x3fff, 0x3fff, 0x3fff));
    for (unsigned msn = 1; msn < 40; ++msn) exchange.initiator(read(msn));
    CHECK(exchange.found() == kNothing);
  }
  SECTION("what the capture lost may have been a Response") {
    CHECK(Exchange(negotiated)
              .initiator(read(1))
              .initiator(read(2))
              .responder(send(1, pattern(9)))
              .gap(End::kSecond)
              .responder(send(2, pattern(9)))
              .responder(send(3, pattern(9)))
              .initiator(read(3))
              .found() == kNothing);
  }
}

}  // namespace weft::conformance::test::reads_clauses
