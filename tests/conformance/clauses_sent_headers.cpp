// SPDX-License-Identifier: Apache-2.0
// RFC 5040 section 4.8: what a Terminate quotes is what the other end sent.
#include <catch2/catch.hpp>

#include "tests/conformance/exchange.hpp"

namespace weft::conformance::test::sent_headers_clauses {
namespace {

const Octets kWritten = write(pattern(30));
const Octets kSent = send(1, pattern(50));

Clauses found(const TerminateMessage& message) {
  return Exchange().initiator(kWritten).initiator(kSent).responder(message.ulpdu()).found();
}

// An unexpected opcode, by the way.
TerminateMessage quoting(const Octets& header, std::size_t length) {
  return {.layer = 0, .type = 2, .code = 6, .length = length, .header = header};
}

}  // namespace

TEST_CASE("the Terminated DDP Header is one that was sent", "[rfc5040/4.8][RDMAP-4.8-15]") {
  CHECK(found(over(kWritten)) == kNothing);
  CHECK(found(over(kSent)) == kNothing);
  SECTION("in each of its octets") {
    for (std::size_t at = 1; at < 14; ++at) {
      const Octets other = changed(kWritten, at, std::to_integer<unsigned>(kWritten[at]) ^ 0x10U);
      CHECK(found(over(other)) == Clauses{"violation RDMAP-4.8-15 responder 3 octet 24"});
    }
  }
  SECTION("of any segment, however long ago") {
    Exchange exchange;
    exchange.initiator(kWritten);
    for (unsigned msn = 1; msn < 100; ++msn) exchange.initiator(send(msn, pattern(1)));
    CHECK(exchange.responder(over(kWritten).ulpdu()).found() == kNothing);
  }
  SECTION("by the other end") {
    CHECK(Exchange().initiator(kSent).responder(kWritten).responder(over(kWritten).ulpdu()).found() ==
          Clauses{"violation RDMAP-4.8-15 responder 3 octet 24"});
  }
  SECTION("unless the capture lost some") {
    CHECK(Exchange()
              .initiator(kSent)
              .gap(End::kFirst)
              .initiator(send(2, pattern(9)))
              .initiator(send(3, pattern(9)))
              .responder(over(kWritten).ulpdu())
              .found() == kNothing);
  }
  SECTION("unless what had arrived is unknown") {
    CHECK(Exchange().initiator(kSent).blind(End::kSecond, over(kWritten).ulpdu(), std::nullopt).found() == kNothing);
  }
  SECTION("broken as it was") {
    const Octets broken = changed(kSent, 9, 1);  // a Send on queue 1
    CHECK(Exchange().initiator(broken).responder(over(broken).ulpdu()).found() ==
          Clauses{"violation RDMAP-5.3-08 initiator 1 octet 6"});
  }
}

TEST_CASE("DDP Segment Length is that of the segment", "[rfc5040/4.8][RDMAP-4.8-13]") {
  const Octets header = first(kWritten, 14);
  SECTION("with the DDP header or without, for the RFC does not say") {
    CHECK(found(quoting(header, 44)) == kNothing);
    CHECK(found(quoting(header, 30)) == kNothing);
  }
  for (const std::size_t length : {0U, 29U, 31U, 43U, 45U, 0xffffU}) {
    CHECK(found(quoting(header, length)) == Clauses{"violation RDMAP-4.8-13 responder 3 octet 22"});
  }
  SECTION("of any of the segments with this header") {
    CHECK(Exchange()
              .initiator(write(pattern(30)))
              .initiator(write(pattern(20)))
              .responder(quoting(header, 34).ulpdu())
              .found() == kNothing);
  }
  SECTION("without M it says nothing") {
    TerminateMessage message = quoting(header, 1);
    message.bits = 0x40;
    CHECK(found(message) == Clauses{"warning RDMAP-4.8-08 responder 3 octet 20"});
  }
}

TEST_CASE("the Terminated RDMA Header is that of a Read Request", "[rfc5040/4.8][RDMAP-4.8-18]") {
  const auto with_rdma = [](const Octets& ulpdu) {
    TerminateMessage message = over(ulpdu);
    message.layer = 0;
    message.bits = 0xe0;
    message.rdma = pattern(28);
    return Exchange().initiator(kWritten).initiator(ulpdu).responder(message.ulpdu()).found();
  };
  SECTION("updated to what is left of it, so that its octets may be others") {
    CHECK(with_rdma(Read{}.request()) == kNothing);
  }
  SECTION("or of an Atomic Request: figure 10 and RFC 7306 section 8.1 differ") {
    CHECK(with_rdma(Atomic{}.request()) == kNothing);
  }
  for (const Octets& ulpdu : {write(pattern(20)), kSent, untagged(kSendInvalidate, 0, 1, pattern(9))}) {
    CHECK(with_rdma(ulpdu) == Clauses{"violation RDMAP-4.8-18 responder 3 octet 20"});
  }
}

}  // namespace weft::conformance::test::sent_headers_clauses
