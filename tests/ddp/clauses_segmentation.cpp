// SPDX-License-Identifier: Apache-2.0
// RFC 5041 sections 4 and 5.2 for what we send: how a message is cut.
#include <catch2/catch.hpp>

#include <vector>

#include "ddp/msn.hpp"
#include "ddp/segmenter.hpp"

namespace weft::ddp {
namespace {

template <typename Segmenter>
auto all(Segmenter cut, std::uint32_t mulpdu) {
  std::vector<decltype(cut.next(mulpdu))> segments;
  while (!cut.done()) segments.push_back(cut.next(mulpdu));
  return segments;
}

auto send(std::uint32_t length, std::uint32_t mulpdu = 1500) {
  return all(UntaggedSegmenter(0x44, 0x01020304, 0, {9}, length), mulpdu);
}
auto write(std::uint32_t length, std::uint64_t offset = 0x7001, std::uint32_t mulpdu = 1500) {
  return all(TaggedSegmenter(0x40, {0x55}, {offset}, length), mulpdu);
}

TEST_CASE("Only the last segment has L, and it goes out last",
          "[DDP-4.1-05][DDP-4.1-06][DDP-4.1-07][DDP-4.1-08][DDP-5.2-01][RFC5041-4.1]") {
  const auto untagged = send(5000);
  REQUIRE(untagged.size() == 4);
  for (std::size_t i = 0; i < untagged.size(); ++i) CHECK(untagged[i].header.last == (i == 3));
  for (std::size_t i = 1; i < untagged.size(); ++i)
    CHECK(untagged[i].header.offset.value > untagged[i - 1].header.offset.value);
  const auto tagged = write(5000);
  for (std::size_t i = 0; i < tagged.size(); ++i) CHECK(tagged[i].header.last == (i + 1 == tagged.size()));
}

TEST_CASE("A segment fits the MULPDU: 1500 carry 1482 or 1486 octets of payload",
          "[DDP-5.2-02][DDP-5.2-08][RFC5041-5.2]") {
  CHECK(send(5000).front().length == 1482);
  CHECK(write(5000).front().length == 1486);
  for (const std::uint32_t mulpdu : {128U, 129U, 1448U, 64768U}) {
    for (const auto& segment : send(200000, mulpdu)) REQUIRE(segment.length + UntaggedLayout::kSize <= mulpdu);
    for (const auto& segment : write(200000, 0, mulpdu)) REQUIRE(segment.length + TaggedLayout::kSize <= mulpdu);
  }
}

TEST_CASE("All octets are sent, in rising order and without gap",
          "[DDP-5.2-04][DDP-5.2-07][DDP-5.2-10][DDP-5.3-02][DDP-5.3-03][DDP-4.3-15][RDMAP-4.4-04][RFC5041-5.2]") {
  std::uint32_t at = 0;
  for (const auto& segment : send(10007)) {
    CHECK(segment.offset == at);
    CHECK(segment.header.offset.value == at);
    at += segment.length;
  }
  CHECK(at == 10007);
  at = 0;
  for (const auto& segment : write(10007)) {
    CHECK(segment.offset == at);
    CHECK(segment.header.offset.value == 0x7001 + at);
    at += segment.length;
  }
  CHECK(at == 10007);
}

TEST_CASE("The fields of a message are the same in all its segments",
          "[DDP-4.2-06][DDP-4.2-08][DDP-4.2-10][DDP-4.3-06][DDP-4.3-09][DDP-4.3-13][RDMAP-3.1-03][RDMAP-3.1-04]"
          "[RDMAP-5.1-09][RFC5041-4.3]") {
  for (const auto& segment : send(10000)) {
    CHECK(segment.header.rsvd_ulp == 0x44);
    CHECK(segment.header.rsvd_ulp_word == 0x01020304);
    CHECK(segment.header.queue == 0);
    CHECK(segment.header.msn == Msn{9});
  }
  for (const auto& segment : write(10000)) {
    CHECK(segment.header.rsvd_ulp == 0x40);
    CHECK(segment.header.stag == Stag{0x55});
  }
}

TEST_CASE("A message without octets is one segment, the last",
          "[DDP-5.2-11][DDP-5.2-12][DDP-4.4-02][RDMAP-5.2.1-15][RFC5041-5.2]") {
  const auto untagged = send(0);
  REQUIRE(untagged.size() == 1);
  CHECK(untagged[0].header.last);
  CHECK(untagged[0].header.offset.value == 0);
  const auto tagged = write(0);
  REQUIRE(tagged.size() == 1);
  CHECK(tagged[0].header.last);
  CHECK(tagged[0].length == 0);
}

TEST_CASE("A new MULPDU counts from the next segment on", "[DDP-3-01][DDP-3-02][RFC5041-3]") {
  TaggedSegmenter cut(0x40, {1}, {0}, 3000);
  CHECK(cut.next(1500).length == 1486);
  CHECK(cut.next(500).length == 486);
  CHECK(cut.next(9000).length == 3000 - 1486 - 486);
  CHECK(cut.done());
}

TEST_CASE("MSNs of a queue start at 1, rise by one and wrap to 0",
          "[DDP-4.3-10][DDP-4.3-11][DDP-4.3-12][RFC5041-4.3]") {
  MsnSource queue;
  CHECK(queue.take() == Msn{1});
  CHECK(queue.take() == Msn{2});
  MsnSource late(Msn{0xffffffff});
  CHECK(late.take() == Msn{0xffffffff});
  CHECK(late.take() == Msn{0});
}

TEST_CASE("The length of a message has 32 bits", "[DDP-1.2-01][RDMAP-1.1-01][RFC5041-5.2]") {
  const UntaggedSegmenter longest(0x43, 0, 0, {1}, 0xffffffff);
  CHECK(longest.progress().remaining() == 0xffffffff);
  static_assert(std::is_same_v<decltype(longest.progress().remaining()), std::uint32_t>);
}

}  // namespace
}  // namespace weft::ddp
