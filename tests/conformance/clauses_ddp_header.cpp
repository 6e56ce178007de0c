// SPDX-License-Identifier: Apache-2.0
// RFC 5041 section 4: the DDP header of one segment.
#include <catch2/catch.hpp>

#include "tests/conformance/exchange.hpp"

namespace weft::conformance::test::ddp_header_clauses {
namespace {

const Octets kTagged = write(pattern(30));
const Octets kUntagged = send(1, pattern(30));

// A message whose first octet is another one, and one more after it.
Clauses with_control(const Octets& ulpdu, unsigned bits) {
  const unsigned control = std::to_integer<unsigned>(ulpdu[0]) ^ bits;
  return Exchange().initiator(changed(ulpdu, 0, control)).initiator(write(pattern(8))).found();
}

}  // namespace

TEST_CASE("a ULPDU holds a whole DDP header", "[rfc5041/4][DDP-4-01]") {
  SECTION("of 14 or 18 octets") {
    CHECK(Exchange().initiator(first(kTagged, 14)).initiator(first(kUntagged, 18)).found() == kNothing);
    CHECK(Exchange().responder(first(kTagged, 14)).responder(first(kUntagged, 18)).found() == kNothing);
  }
  SECTION("not less") {
    for (const Octets& cut :
         {first(kTagged, 1), first(kTagged, 13), first(kUntagged, 1), first(kUntagged, 14), first(kUntagged, 17)}) {
      CHECK(Exchange().initiator(cut).found() == Clauses{"violation DDP-4-01 initiator 1 octet -2"});
      CHECK(Exchange().responder(cut).found() == Clauses{"violation DDP-4-01 responder 1 octet -2"});
    }
  }
  SECTION("and what a shorter one was, nobody knows: the MSN after it is not judged") {
    CHECK(Exchange().initiator(first(kUntagged, 17)).initiator(send(2, pattern(9))).found() ==
          Clauses{"violation DDP-4-01 initiator 1 octet -2"});
  }
}

TEST_CASE("DV is 1", "[rfc5041/4.1][DDP-4.1-13]") {
  for (const Octets& ulpdu : {kTagged, kUntagged}) {
    CHECK(with_control(ulpdu, 0) == kNothing);
    for (const unsigned bits : {1U, 2U, 3U}) {
      CHECK(with_control(ulpdu, bits) == Clauses{"violation DDP-4.1-13 initiator 1 octet 0"});
    }
  }
}

TEST_CASE("the rest of a segment with another DV is judged as one of version 1", "[rfc5041/4.1][DDP-4.1-13]") {
  const Octets other = changed(kUntagged, 0, 0x40);
  CHECK(Exchange().responder(other).responder(send(2, pattern(9))).found() ==
        Clauses{"violation DDP-4.1-13 responder 1 octet 0"});
  CHECK(Exchange().responder(other).responder(send(3, pattern(9))).found() ==
        Clauses{"violation DDP-4.1-13 responder 1 octet 0", "violation DDP-4.3-10 responder 2 octet 10"});
}

TEST_CASE("the Rsvd bits are zero", "[rfc5041/4.1][DDP-4.1-11]") {
  for (const Octets& ulpdu : {kTagged, kUntagged}) {
    for (const unsigned bits : {0x04U, 0x08U, 0x10U, 0x20U, 0x3cU}) {
      CHECK(with_control(ulpdu, bits) == Clauses{"violation DDP-4.1-11 initiator 1 octet 0"});
    }
    CHECK(with_control(ulpdu, 0) == kNothing);
  }
}

TEST_CASE("a finding says what the Rsvd bits are", "[rfc5041/4.1][DDP-4.1-11]") {
  for (const auto& [bits, told] : {std::pair{0x04U, "0001"}, {0x08U, "0010"}, {0x20U, "1000"}, {0x3cU, "1111"}}) {
    const unsigned control = std::to_integer<unsigned>(kTagged[0]) ^ bits;
    const auto messages = Exchange().initiator(changed(kTagged, 0, control)).told();
    REQUIRE(messages.size() == 1);
    CHECK(messages[0].starts_with(std::string("the Rsvd bits are ") + told + ", not 0000"));
  }
}

TEST_CASE("there are queues 0 to 3", "[rfc5041/4.3][DDP-4.3-09]") {
  SECTION("each with its messages") {
    CHECK(Exchange()
              .initiator(send(1, pattern(9)))
              .initiator(Atomic{}.request())
              .responder(Atomic{}.response())
              .responder(terminate_message())
              .found() == kNothing);
  }
  SECTION("and no others") {
    for (const unsigned queue : {4U, 0x100U, 0x10000U, 0xffffffffU}) {
      CHECK(Exchange().initiator(untagged(kSend, queue, 1, pattern(9))).found() ==
            Clauses{"violation DDP-4.3-09 initiator 1 octet 6"});
      CHECK(Exchange().responder(changed(terminate_message(), 6, queue, 4)).found() ==
            Clauses{"violation DDP-4.3-09 responder 1 octet 6"});
    }
  }
}

}  // namespace weft::conformance::test::ddp_header_clauses
