// SPDX-License-Identifier: Apache-2.0
// RFC 5041 sections 4.1, 4.3 and 5: the segments of one untagged message.
#include <catch2/catch.hpp>

#include "tests/conformance/exchange.hpp"

namespace weft::conformance::test::ddp_messages_clauses {
namespace {

// A segment of 16 octets of a Send.
Octets part(unsigned offset, bool last = false, unsigned msn = 1, unsigned opcode = kSend) {
  return untagged(opcode, 0, msn, pattern(16), offset, last);
}
constexpr bool kLast = true;

Clauses sent(const std::vector<Octets>& ulpdus) {
  Exchange exchange;
  for (const Octets& ulpdu : ulpdus) exchange.initiator(ulpdu);
  return exchange.found();
}

}  // namespace

TEST_CASE("L ends a message", "[rfc5041/4.1][DDP-4.1-05]") {
  CHECK(sent({part(0), part(16, kLast), part(0, kLast, 2)}) == kNothing);
  CHECK(sent({part(0), part(16), part(0, kLast, 2)}) == Clauses{"violation DDP-4.1-05 initiator 3 octet 0"});
  CHECK(sent({part(0), part(0, kLast, 2)}) == Clauses{"violation DDP-4.1-05 initiator 2 octet 0"});
  SECTION("another queue, a Write and the other end may come in between") {
    CHECK(Exchange()
              .initiator(part(0))
              .initiator(Read{}.request())
              .initiator(write(pattern(9)))
              .responder(send(1, pattern(9)))
              .initiator(part(16, kLast))
              .found() == kNothing);
  }
  SECTION("that it has not come by the end proves nothing") {
    CHECK(sent({part(0), part(16)}) == kNothing);
    CHECK(Exchange().initiator(part(0)).close(End::kFirst).close(End::kSecond).found() == kNothing);
    CHECK(Exchange().initiator(part(0)).initiator(terminate_message()).close(End::kFirst).found() == kNothing);
  }
  SECTION("unless a later message came before the end") {
    const auto ended = [](const std::vector<Octets>& ulpdus, Closing how = Closing::kFin) {
      Exchange exchange;
      for (const Octets& ulpdu : ulpdus) exchange.initiator(ulpdu);
      return exchange.close(End::kFirst, how).found();
    };
    const Octets opening = tagged(kWrite, 0x1234, 0x1000, pattern(16), false);
    const Octets rest = tagged(kWrite, 0x1234, 0x1010, pattern(16));
    CHECK(ended({opening, part(0, kLast), part(0, kLast, 2)}) == Clauses{"violation DDP-4.1-05 initiator 2 octet 0"});
    CHECK(ended({opening, Read{}.request()}) == Clauses{"violation DDP-4.1-05 initiator 2 octet 0"});
    CHECK(ended({part(0), rest}) == Clauses{"violation DDP-4.1-05 initiator 2 octet 0"});
    CHECK(ended({part(0), Read{}.request()}) == Clauses{"violation DDP-4.1-05 initiator 2 octet 0"});
    CHECK(ended({opening, part(0, kLast), rest}) == kNothing);
    CHECK(ended({part(0), opening, part(16, kLast)}) == kNothing);
    CHECK(ended({opening, part(0, kLast)}, Closing::kReset) == kNothing);
    CHECK(ended({opening, terminate_message()}) == kNothing);
    CHECK(ended({part(0), part(16), opening}) == kNothing);
    CHECK(ended({untagged(kSend, 0, 1, {}, 0, false), rest}) == Clauses{"violation DDP-5.2-11 initiator 1 octet 14"});
    CHECK(Exchange()
              .responder(Read{}.request())
              .initiator(opening)
              .initiator(Read{}.response())
              .close(End::kFirst)
              .found() == kNothing);
    CHECK(Exchange().initiator(opening).gap(End::kFirst).initiator(part(0, kLast)).close(End::kFirst).found() ==
          kNothing);
  }
}

TEST_CASE("L is on no segment before the last", "[rfc5041/4.1][DDP-4.1-06]") {
  CHECK(sent({part(0, kLast), part(16, kLast)}) == Clauses{"violation DDP-4.1-06 initiator 2 octet 0"});
  CHECK(sent({part(0), part(16, kLast), part(32)}) == Clauses{"violation DDP-4.1-06 initiator 3 octet 0"});
  CHECK(sent({part(0), part(16), part(32, kLast)}) == kNothing);
}

TEST_CASE("L is on the segment with the largest MO", "[rfc5041/4.1][DDP-4.1-08][DDP-5.3-02]") {
  CHECK(sent({part(0), part(32), part(16, kLast)}) == Clauses{"violation DDP-4.1-08 initiator 3 octet 14"});
  CHECK(sent({part(16), part(32), part(0, kLast)}) == Clauses{"violation DDP-4.1-08 initiator 3 octet 14"});
  CHECK(sent({part(16), part(0), part(32, kLast)}) == Clauses{"warning DDP-5.3-02 initiator 2 octet 14"});
}

TEST_CASE("the segments come in the order of MO", "[rfc5041/5.3][DDP-5.3-02]") {
  CHECK(sent({part(0), part(16), part(32), part(48, kLast)}) == kNothing);
  CHECK(sent({part(0), part(32), part(16), part(48, kLast)}) == Clauses{"warning DDP-5.3-02 initiator 2 octet 14"});
  CHECK(sent({part(0), part(16), part(0, kLast, 2)}) == Clauses{"violation DDP-4.1-05 initiator 3 octet 0"});
}

TEST_CASE("what was wrong with a message is not remembered in the next",
          "[rfc5041/5.2][rfc5041/5.3][DDP-5.2-07][DDP-5.3-02]") {
  CHECK(sent({part(0), part(8, kLast), part(16, false, 2), part(0, false, 2), part(32, kLast, 2)}) ==
        Clauses{"violation DDP-5.2-07 initiator 2 octet 14", "warning DDP-5.3-02 initiator 4 octet 14"});
}

TEST_CASE("all segments have one RsvdULP", "[rfc5041/4.3][DDP-4.3-06]") {
  CHECK(sent({part(0, false, 1, kSendSolicited), part(16, kLast, 1, kSendSolicited)}) == kNothing);
  CHECK(sent({part(0), part(16, kLast, 1, kSendSolicited)}) == Clauses{"violation DDP-4.3-06 initiator 2 octet 1"});
  SECTION("and a message that has several is one finding") {
    CHECK(sent({part(0, false, 1, kSendSolicited), part(16), part(32), part(48, kLast)}) ==
          Clauses{"violation DDP-4.3-06 initiator 2 octet 1"});
    CHECK(sent({part(0, false, 1, kSendSolicited), part(16, kLast), part(0, false, 2),
                part(16, kLast, 2, kSendSolicited)}) ==
          Clauses{"violation DDP-4.3-06 initiator 2 octet 1", "violation DDP-4.3-06 initiator 4 octet 1"});
  }
  SECTION("the STag to invalidate is a part of it") {
    const Octets begin = changed(part(0, false, 1, kSendInvalidate), 2, 0x1234, 4);
    const Octets end = part(16, kLast, 1, kSendInvalidate);
    CHECK(sent({begin, changed(end, 2, 0x1234, 4)}) == kNothing);
    CHECK(sent({begin, changed(end, 2, 0x1235, 4)}) == Clauses{"violation DDP-4.3-06 initiator 2 octet 1"});
  }
  SECTION("a bit that is wrong by itself is told as that") {
    CHECK(sent({part(0), changed(part(16, kLast), 1, 0x53)}) == Clauses{"violation RDMAP-4.1-20 initiator 2 octet 1"});
  }
}

TEST_CASE("a message begins at MO 0", "[rfc5041/4.3][DDP-4.3-15]") {
  CHECK(sent({part(0, kLast)}) == kNothing);
  CHECK(sent({part(1, kLast)}) == Clauses{"violation DDP-4.3-15 initiator 1 octet 14"});
  CHECK(sent({part(16), part(32, kLast)}) == Clauses{"violation DDP-4.3-15 initiator 2 octet 14"});
  CHECK(sent({untagged(kSend, 0, 1, {}, 1)}) == Clauses{"violation DDP-4.3-15 initiator 1 octet 14"});
  SECTION("what the capture lost may have begun it") {
    CHECK(Exchange()
              .initiator(part(0))
              .gap(End::kFirst)
              .initiator(part(64))
              .initiator(part(80, kLast))
              .initiator(part(0, kLast, 2))
              .found() == kNothing);
  }
}

TEST_CASE("MO counts the octets of the message", "[rfc5041/5.2][DDP-5.2-07]") {
  CHECK(sent({part(0), part(16), part(32, kLast)}) == kNothing);
  CHECK(sent({part(0), part(17, kLast)}) == Clauses{"violation DDP-5.2-07 initiator 2 octet 14"});  // a hole
  CHECK(sent({part(0), part(15, kLast)}) == Clauses{"violation DDP-5.2-07 initiator 2 octet 14"});  // twice
  CHECK(sent({part(0), part(0xfffffff0, kLast)}) == Clauses{"violation DDP-5.2-07 initiator 2 octet 14"});
  SECTION("the first wrong one is told, and once") {
    CHECK(sent({part(0), part(20), part(36), part(60, kLast)}) == Clauses{"violation DDP-5.2-07 initiator 2 octet 14"});
  }
}

TEST_CASE("a message without octets is one segment", "[rfc5041/5.2][DDP-5.2-11]") {
  const auto empty = [](unsigned offset, bool last, unsigned msn = 1) {
    return untagged(kSend, 0, msn, {}, offset, last);
  };
  CHECK(sent({empty(0, kLast), empty(0, kLast, 2), part(0, kLast, 3)}) == kNothing);
  CHECK(sent({part(0), empty(16, kLast)}) == Clauses{"violation DDP-5.2-11 initiator 2 octet 14"});
  SECTION("which has L, whatever follows, or nothing") {
    const Clauses first{"violation DDP-5.2-11 initiator 1 octet 14"};
    CHECK(sent({empty(0, false)}) == first);
    CHECK(sent({empty(0, false), empty(0, kLast)}) == first);
    CHECK(sent({empty(0, false), empty(0, false), part(0, kLast)}) == first);
    CHECK(sent({empty(0, false), part(0, kLast)}) == first);
    CHECK(sent({empty(0, false), part(0, kLast, 2), part(0, kLast, 3)}) == first);
    CHECK(sent({part(0), empty(16, false), part(32, kLast), part(0, false, 2), part(17, kLast, 2)}) ==
          Clauses{"violation DDP-5.2-11 initiator 2 octet 14", "violation DDP-5.2-07 initiator 5 octet 14"});
    CHECK(sent({part(0), empty(16, false), part(0, kLast, 2)}) ==
          Clauses{"violation DDP-5.2-11 initiator 2 octet 14", "violation DDP-4.1-05 initiator 3 octet 0"});
    CHECK(sent({part(0), empty(16, false), part(16, kLast), part(0, kLast, 2)}) ==
          Clauses{"violation DDP-5.2-11 initiator 2 octet 14"});
    CHECK(sent({part(0, kLast), empty(0, false, 2)}) == Clauses{"violation DDP-5.2-11 initiator 2 octet 14"});
  }
  SECTION("of any kind") {
    for (const unsigned opcode : {kSend, kSendInvalidate, kSendSolicited, kSendSolicitedInvalidate, kImmediate,
                                  kImmediateSolicited, kReadRequest, kAtomicRequest, kTerminate}) {
      const unsigned queue = opcode == kReadRequest || opcode == kAtomicRequest ? 1 : opcode == kTerminate ? 2 : 0;
      CHECK(sent({untagged(opcode, queue, 1, {}, 0, false)}) == Clauses{"violation DDP-5.2-11 initiator 1 octet 14"});
    }
    CHECK(Exchange().initiator(Atomic{}.request()).responder(untagged(kAtomicResponse, 3, 1, {}, 0, false)).found() ==
          Clauses{"violation DDP-5.2-11 responder 2 octet 14"});
  }
}

}  // namespace weft::conformance::test::ddp_messages_clauses
