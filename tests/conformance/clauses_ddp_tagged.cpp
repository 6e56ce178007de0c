// SPDX-License-Identifier: Apache-2.0
// RFC 5041 sections 4.1, 4.2 and 5: the segments of one tagged message.
#include <catch2/catch.hpp>

#include "tests/conformance/exchange.hpp"

namespace weft::conformance::test::ddp_tagged_clauses {
namespace {

constexpr unsigned kStag = 0x1234;

// A segment of 16 octets of a Write.
Octets part(std::uint64_t offset, bool last = false, unsigned stag = kStag) {
  return tagged(kWrite, stag, offset, pattern(16), last);
}
constexpr bool kLast = true;

Clauses sent(const std::vector<Octets>& ulpdus) {
  Exchange exchange;
  for (const Octets& ulpdu : ulpdus) exchange.responder(ulpdu);
  return exchange.found();
}

}  // namespace

TEST_CASE("all segments of a tagged message have one STag", "[rfc5041/4.2][DDP-4.2-10]") {
  CHECK(sent({part(0), part(16), part(32, kLast)}) == kNothing);
  CHECK(sent({part(0), part(16, false, 0x1235), part(32, kLast, 0x1235)}) ==
        Clauses{"violation DDP-4.2-10 responder 2 octet 2"});
  SECTION("and one that has several is one finding") {
    const Clauses told{"violation DDP-4.2-10 responder 2 octet 2"};
    CHECK(sent({part(0, false, 0x99), part(16), part(32), part(48), part(64, kLast)}) == told);
    CHECK(sent({part(0), part(16, false, 0x99), part(32), part(48, kLast, 0x99)}) == told);
    CHECK(sent({part(0, false, 0x99), part(16), part(48), part(32, kLast)}) ==
          Clauses{"violation DDP-4.2-10 responder 2 octet 2", "warning DDP-5.3-03 responder 3 octet 6"});
    CHECK(sent({part(0, false, 0x99), part(16, kLast), part(0, false, 0x99), part(16, kLast)}) ==
          Clauses{"violation DDP-4.2-10 responder 2 octet 2", "violation DDP-4.2-10 responder 4 octet 2"});
  }
  CHECK(sent({part(0, kLast), part(16, kLast, 0x1235)}) == kNothing);  // the next message
}

TEST_CASE("L ends a tagged message", "[rfc5041/4.1][DDP-4.1-05]") {
  CHECK(sent({part(0), part(0x100, kLast, 0x1235)}) == Clauses{"violation DDP-4.1-05 responder 2 octet 0"});
  CHECK(sent({part(0, kLast), part(0x100, kLast, 0x1235)}) == kNothing);
  CHECK(sent({part(0)}) == kNothing);  // it may come
}

TEST_CASE("all segments of a tagged message have one RsvdULP", "[rfc5041/4.2][DDP-4.2-06]") {
  const Octets as_response = tagged(kReadResponse, kStag, 16, pattern(16));
  CHECK(sent({part(0), as_response}) == Clauses{"violation DDP-4.2-06 responder 2 octet 1"});
  SECTION("a Read Response between the segments of a Write is another message") {
    CHECK(Exchange()
              .initiator(Read{.sink = kStag, .sink_offset = 0x4000}.request())
              .responder(part(0))
              .responder(Read{.sink = kStag, .sink_offset = 0x4000}.response())
              .responder(part(16, kLast))
              .found() == kNothing);
  }
  SECTION("and so is one after the Write's L") {
    CHECK(Exchange()
              .initiator(Read{.sink = kStag, .sink_offset = 16, .size = 16}.request())
              .responder(part(0, kLast))
              .responder(as_response)
              .found() == kNothing);
  }
}

TEST_CASE("TO counts the octets of the message", "[rfc5041/5.2][DDP-5.2-10]") {
  CHECK(sent({part(0xffffffff), part(0x10000000f, kLast)}) == kNothing);
  CHECK(sent({part(0xffffffffffffffe0), part(0xfffffffffffffff0, kLast)}) == kNothing);            // up to 2^64
  CHECK(sent({part(0), part(17, kLast)}) == Clauses{"violation DDP-5.2-10 responder 2 octet 6"});  // a hole
  CHECK(sent({part(0), part(15, kLast)}) == Clauses{"violation DDP-5.2-10 responder 2 octet 6"});  // twice
  CHECK(sent({part(0), part(0, kLast)}) == Clauses{"violation DDP-5.2-10 responder 2 octet 6"});
  SECTION("each message from where the ULP says") {
    CHECK(sent({part(0x1000, kLast), part(0x500, kLast), part(0x500, kLast)}) == kNothing);
  }
}

TEST_CASE("the segments come in the order of TO", "[rfc5041/5.3][DDP-5.3-03]") {
  CHECK(sent({part(16), part(32), part(48, kLast)}) == kNothing);
  CHECK(sent({part(16), part(0), part(32, kLast)}) == Clauses{"warning DDP-5.3-03 responder 2 octet 6"});
  CHECK(sent({part(0), part(32), part(16, kLast)}) == Clauses{"warning DDP-5.3-03 responder 2 octet 6"});
  SECTION("of any length") {
    const auto piece = [](std::uint64_t offset, std::size_t size, bool last = false) {
      return tagged(kWrite, kStag, offset, pattern(size), last);
    };
    const Clauses told{"warning DDP-5.3-03 responder 2 octet 6"};
    CHECK(sent({piece(0x1000, 4), piece(0x1010, 20), piece(0x1004, 12, kLast)}) == told);
    CHECK(sent({piece(0x1010, 20), piece(0x1000, 16), piece(0x1024, 1, kLast)}) == told);
  }
}

TEST_CASE("a tagged message without octets is one segment", "[rfc5041/5.2][DDP-5.2-11]") {
  const auto empty = [](bool last, unsigned stag, std::uint64_t offset) {
    return tagged(kWrite, stag, offset, {}, last);
  };
  SECTION("of which STag and TO may be anything") {
    CHECK(sent({empty(kLast, 0, 0), empty(kLast, 0xffffffff, ~std::uint64_t{0}), part(0, kLast)}) == kNothing);
  }
  CHECK(sent({part(0), empty(kLast, kStag, 16)}) == Clauses{"violation DDP-5.2-11 responder 2 octet 0"});
  SECTION("which has L, whatever follows, or nothing") {
    const Clauses first{"violation DDP-5.2-11 responder 1 octet 0"};
    CHECK(sent({empty(false, kStag, 0)}) == first);
    CHECK(sent({empty(false, 0, 0), part(0, kLast)}) == first);
    CHECK(sent({empty(false, kStag, 0), empty(kLast, kStag, 0)}) == first);
    CHECK(sent({part(0), empty(false, kStag, 16), part(32), part(48, kLast), part(0), part(17, kLast)}) ==
          Clauses{"violation DDP-5.2-11 responder 2 octet 0", "violation DDP-5.2-10 responder 6 octet 6"});
    CHECK(sent({part(0), empty(false, 0, 0), part(16, kLast), part(0, kLast)}) ==
          Clauses{"violation DDP-5.2-11 responder 2 octet 0"});
  }
}

TEST_CASE("a Read Response with all of its octets has L, unless the capture lost what followed",
          "[rfc5041/4.1][DDP-4.1-05]") {
  const auto ended = [](bool lost) {
    Exchange exchange;
    exchange.initiator(Read{}.request()).responder(Read{}.response(24, 0, false));
    if (lost) exchange.gap(End::kSecond);
    return exchange.close(End::kSecond).found();
  };
  CHECK(ended(false) == Clauses{"violation DDP-4.1-05 responder 2 octet 0"});
  CHECK(ended(true) == kNothing);
}

}  // namespace weft::conformance::test::ddp_tagged_clauses
