// SPDX-License-Identifier: Apache-2.0
// RFC 5041 sections 5.2 and 7.1 for tagged segments.
#include <catch2/catch.hpp>

#include "ddp/tagged.hpp"
#include "tests/ddp/fake_placement.hpp"

namespace weft::ddp {
namespace {

using test::counting;
using test::FakePlacement;

auto place(FakePlacement& memory, std::uint64_t offset, std::size_t length, Stag stag = FakePlacement::kStag) {
  return place_tagged({true, 0x40, stag, {offset}}, counting(length, 1), memory);
}

TEST_CASE("A tagged segment is placed at its TO, and nowhere else",
          "[DDP-4.1-03][DDP-4.2-11][DDP-4.2-12][DDP-5.2-05][RDMAP-5.1-04][RDMAP-5.1-05][RFC5041-5.2]") {
  FakePlacement memory(16);
  REQUIRE(place(memory, FakePlacement::kBase + 5, 3));
  CHECK(memory.tagged == test::octets("00000000 00010203 00000000 00000000"));
}

TEST_CASE("The same octets may be written again", "[DDP-5.1.1-01][DDP-5.3-05][RFC5041-5.1.1]") {
  FakePlacement memory(2);
  REQUIRE(place(memory, FakePlacement::kBase, 2));
  REQUIRE(place_tagged({true, 0x40, FakePlacement::kStag, {FakePlacement::kBase}}, test::octets("aabb"), memory));
  CHECK(memory.tagged == test::octets("aabb"));
}

TEST_CASE("Without payload neither STag nor TO is looked at", "[DDP-5.2-13][RDMAP-5.1-10][RFC5041-5.2]") {
  FakePlacement memory;
  CHECK(place(memory, 0xffffffffffffffff, 0, {0xbad}));
  CHECK(memory.tagged_calls == 0);
}

TEST_CASE("A segment is refused before any octet is placed",
          "[DDP-7.1-12][DDP-7.1-14][DDP-7.1-15][DDP-7.1-16][DDP-7.1-17][DDP-8.1-01][DDP-4.2-07][DDP-6.2.2-03]"
          "[RFC5041-7.1]") {
  FakePlacement memory(16);
  const std::uint64_t base = FakePlacement::kBase;
  CHECK(place(memory, base, 1, {0xbad}) == std::unexpected(TaggedError::kInvalidStag));
  CHECK(place(memory, base - 1, 1) == std::unexpected(TaggedError::kBaseOrBounds));
  CHECK(place(memory, base + 16, 1) == std::unexpected(TaggedError::kBaseOrBounds));
  CHECK(place(memory, base + 10, 7) == std::unexpected(TaggedError::kBaseOrBounds));
  CHECK(place(memory, 0xfffffffffffffff0, 32) == std::unexpected(TaggedError::kOffsetWrap));
  CHECK(memory.tagged == test::Octets(16));
  CHECK(place(memory, base + 10, 6));
}

TEST_CASE("Wrap is decided on the exclusive end", "[DDP-7.1-16][DDP-7.2-06][RFC5041-7.1]") {
  CHECK_FALSE(offset_wraps({0xfffffffffffffff0}, 16));
  CHECK(offset_wraps({0xfffffffffffffff0}, 17));
}

TEST_CASE("An STag that allows no placement is an invalid STag to DDP", "[DDP-7.1-13][RFC5041-7.1]") {
  CHECK(tagged_error(AccessError::kAccessRights) == TaggedError::kInvalidStag);
}

TEST_CASE("An STag of another Protection Domain or stream has its own code",
          "[DDP-8.2-03][DDP-8.2-05][DDP-4.2-07][DDP-7.2-05][RFC5041-8.2]") {
  CHECK(tagged_error(AccessError::kNotAssociated) == TaggedError::kNotAssociated);
}

}  // namespace
}  // namespace weft::ddp
