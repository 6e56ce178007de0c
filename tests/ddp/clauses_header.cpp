// SPDX-License-Identifier: Apache-2.0
// RFC 5041 section 4: the headers, octet by octet.
#include <catch2/catch.hpp>

#include "ddp/header.hpp"
#include "ddp/untagged_queues.hpp"
#include "tests/ddp/octets.hpp"

namespace weft::ddp {
namespace {

using test::octets;
using test::Octets;

Octets serialized(const Header& header) {
  Octets out(header_size(header));
  serialize(header, out);
  return out;
}

const Header kTagged = TaggedHeader{false, 0x40, {0x01020304}, {0x05060708090a0b0c}};
const Header kUntagged = UntaggedHeader{false, 0x43, 0x11121314, 2, {0x21222324}, {0x31323334}};

TEST_CASE("A tagged header is 14 octets: control, RsvdULP, STag, TO",
          "[DDP-4-01][DDP-4.2-01][DDP-4.2-02][DDP-4.2-11][DDP-4.4-01][RDMAP-3.1-08][RFC5041-4.2]") {
  CHECK(serialized(kTagged) == octets("81 40 01020304 05060708090a0b0c"));
  CHECK(header_size(kTagged) == 14);
}

TEST_CASE("An untagged header is 18 octets: control, RsvdULP, QN, MSN, MO",
          "[DDP-4-01][DDP-4.3-01][DDP-4.3-02][DDP-4.3-14][DDP-4.4-01][RDMAP-3.1-08][RFC5041-4.3]") {
  CHECK(serialized(kUntagged) == octets("01 43 11121314 00000002 21222324 31323334"));
  CHECK(header_size(kUntagged) == 18);
}

TEST_CASE("The control octet is T 0x80, L 0x40, reserved 0x3C, DV 0x03", "[DDP-4.1-01][RFC5041-4.1]") {
  CHECK(control_octet(true, true) == 0xc1);
  CHECK(control_octet(true, false) == 0x81);
  CHECK(control_octet(false, true) == 0x41);
  CHECK(control_octet(false, false) == 0x01);
}

TEST_CASE("Reserved bits are sent as zero and the version as 1, in every segment",
          "[DDP-4.1-11][DDP-4.1-13][DDP-4.1-14][RFC5041-4.1]") {
  for (const bool tagged : {false, true}) {
    for (const bool last : {false, true}) {
      CHECK((control_octet(tagged, last) & 0x3c) == 0);
      CHECK((control_octet(tagged, last) & 0x03) == 1);
    }
  }
}

TEST_CASE("Reserved bits are not checked on receive", "[DDP-4.1-12][RFC5041-4.1]") {
  for (Octets ulpdu : {serialized(kTagged), serialized(kUntagged)}) {
    const auto plain = parse(ulpdu);
    ulpdu[0] |= std::byte{0x3c};
    CHECK(parse(ulpdu) == plain);
  }
}

TEST_CASE("The T bit chooses the header, and with it the kind of buffer", "[DDP-4.1-03][DDP-4.1-04][RFC5041-4.1]") {
  Octets ulpdu(18);
  ulpdu[0] = std::byte{0x81};
  CHECK(std::holds_alternative<TaggedHeader>(*parse(ulpdu)));
  ulpdu[0] = std::byte{0x01};
  CHECK(std::holds_alternative<UntaggedHeader>(*parse(ulpdu)));
}

TEST_CASE("Another version is an error, with a code that depends on T",
          "[DDP-4.1-15][DDP-4.1-14][DDP-7.2-07][DDP-7.2-13][RFC5041-4.1]") {
  for (const unsigned version : {0U, 2U, 3U}) {
    Octets ulpdu(18);
    ulpdu[0] = static_cast<std::byte>(0x80 | version);
    CHECK(parse(ulpdu) == std::unexpected(HeaderError::kTaggedVersion));
    ulpdu[0] = static_cast<std::byte>(version);
    CHECK(parse(ulpdu) == std::unexpected(HeaderError::kUntaggedVersion));
  }
}

TEST_CASE("RsvdULP goes through unchanged",
          "[DDP-4.2-03][DDP-4.2-04][DDP-4.3-03][DDP-4.3-04][RDMAP-3.1-06][RFC5041-4.2]") {
  const Octets ulpdu = serialized(UntaggedHeader{true, 0xa5, 0xdeadbeef, 0, {1}, {0}});
  CHECK(std::get<UntaggedHeader>(*parse(ulpdu)).rsvd_ulp == 0xa5);
  CHECK(std::get<UntaggedHeader>(*parse(ulpdu)).rsvd_ulp_word == 0xdeadbeef);
  const Octets tagged = serialized(TaggedHeader{true, 0x5a, {1}, {0}});
  CHECK(std::get<TaggedHeader>(*parse(tagged)).rsvd_ulp == 0x5a);
}

TEST_CASE("The payload is what the LLP's length leaves behind the header",
          "[DDP-3-08][DDP-4.4-02][DDP-1.3-01][RFC5041-3]") {
  const Octets ulpdu = octets("41 43 00000000 00000000 00000001 00000000 | 0102030405");
  const auto header = parse(ulpdu);
  REQUIRE(header);
  CHECK(test::copy(Bytes(ulpdu).subspan(header_size(*header))) == octets("0102030405"));
}

TEST_CASE("Queues 0 to 3 exist, all others are an invalid QN",
          "[DDP-7.1-01][DDP-7.2-08][RDMAPX-10.2-01][RDMAPX-4-04][RDMAP-3.1-02][RFC5041-7.1]") {
  for (std::uint32_t queue = 0; queue < 4; ++queue) CHECK(queue_number(queue) == static_cast<QueueNumber>(queue));
  for (const std::uint32_t queue : {4U, 5U, 0x80000000U, 0xffffffffU}) {
    CHECK(queue_number(queue) == std::unexpected(UntaggedError::kInvalidQueue));
  }
}

}  // namespace
}  // namespace weft::ddp
