// SPDX-License-Identifier: Apache-2.0
// Messages in several segments, and segments of several messages, RFC 5041 sections 4, 5 and 8.
#include <algorithm>

#include "common/crc32c.hpp"
#include "probe/cases/mpa_steps.hpp"

namespace weft::probe {
namespace ddp_segments_cases {
namespace {

void expect_send(Scene& scene, Conversation& by, Bytes octets) {
  const PeerReport seen = expect_receives(scene, by, 1);
  if (seen.last_length != octets.size()) fail("the Send was delivered with another length than it has");
  if (seen.last_sum != crc32c(octets)) fail("the Send was delivered with other octets than it has");
}

}  // namespace
}  // namespace ddp_segments_cases

void add_ddp_segments_cases(Cases& cases) {
  using namespace ddp_segments_cases;
  // DDP-5.2-05: The Data Sink places the payload of every valid segment into the ULP buffer.
  cases.add({.name = "segments-backwards",
             .clause = "DDP-5.2-05",
             .what = "The segments of a Write come from the last to the first one: each is placed.",
             .needs = kRegions,
             .also = {"DDP-4.2-12"}}) = [](Scene& scene) {
    // The segments of a Write come from the last to the first one. Senders should not do so, and each is valid by
    // itself.
    Conversation& by = scene.connect();
    const Region region = target(scene);
    const auto octets = pattern(900);
    for (const std::int64_t from : {600, 300, 0})
      by.send_ulpdu(by.make().write(region.stag, at(region, from),
                                    Bytes(octets).subspan(static_cast<std::size_t>(from), 300), from == 0));
    expect_content(scene, by, region, 0, octets, "a Write whose segments come backwards was not placed as a whole");
  };

  // DDP-5.4-02: A message is delivered if its final segment had L=1, all its segments are placed, all earlier
  // messages are placed and all earlier messages are delivered.
  cases.add({.name = "segments-interleaved",
             .clause = "DDP-5.4-02",
             .what = "Writes and Reads come between the segments of a Send: all are placed, and the Send is delivered.",
             .needs = kRegions | kReceives | kReport,
             .also = {"DDP-5.2-05", "DDP-4.1-03", "DDP-4.1-04"}}) = [](Scene& scene) {
    Conversation& by = scene.connect();
    const Region region = target(scene);
    const std::uint32_t piece = std::min<std::uint32_t>(100, scene.advert().receive_size / 3U);
    const auto octets = pattern(std::size_t{3} * piece);
    for (std::uint32_t i = 0; i < 3; ++i) {
      const Bytes part = Bytes(octets).subspan(std::size_t{i} * piece, piece);
      by.send_ulpdu(by.make().send_segment(part, i * piece, i == 2));
      by.send_ulpdu(by.make().write(region.stag, at(region, i * piece), part, i == 2));
      by.expect_empty_read();
    }
    expect_content(scene, by, region, 0, octets, "a Write between the segments of a Send was lost, or changed");
    expect_send(scene, by, octets);
  };

  // DDP-5.4-02: A message is delivered if its final segment had L=1, all its segments are placed, all earlier
  // messages are placed and all earlier messages are delivered.
  cases.add(
      {.name = "segments-single-octets",
       .clause = "DDP-5.4-02",
       .what = "A Send has a segment for each of its octets: it is delivered once, with its length and its octets.",
       .needs = kRegions | kReceives | kReport,
       .also = {"DDP-5.4-05", "DDP-5.3-06", "DDP-4.1-10"}}) = [](Scene& scene) {
    Conversation& by = scene.connect();
    const auto octets = pattern(std::min<std::size_t>(200, scene.advert().receive_size));
    for (std::uint32_t i = 0; i < octets.size(); ++i)
      by.send_ulpdu(by.make().send_segment(Bytes(octets).subspan(i, 1), i, i + 1 == octets.size()));
    expect_send(scene, by, octets);
  };

  // DDP-5.2-05: The Data Sink places the payload of every valid segment into the ULP buffer.
  cases.add({.name = "segments-read-request",
             .clause = "DDP-5.2-05",
             .what = "A Read Request comes in two segments, cut at three places: it is put together, and answered.",
             .needs = kRegions,
             .also = {"RDMAP-5.2.1-11"}}) = [](Scene& scene) {
    // A Read Request in two segments, wherever it is cut. No sender of RDMAP needs that, so that a refusal is no more
    // than a warning.
    using L = ddp::UntaggedLayout;
    Conversation& by = scene.connect();
    const Region region = scene.region(Region::kPlain, kReadWrite);
    for (const std::size_t cut : {std::size_t{4}, std::size_t{12}, std::size_t{27}}) {
      const rdmap::ReadRequest request = read_of(region.stag, at(region, 64), 32);
      const Ulpdu whole = by.make().read_request(request);
      Ulpdu first(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(L::kSize + cut));
      first[0] &= ~std::byte{ddp::Control::kLast};
      Ulpdu second = whole;
      second.erase(second.begin() + L::kSize, second.begin() + static_cast<std::ptrdiff_t>(L::kSize + cut));
      L::MoField::put(second, static_cast<std::uint32_t>(cut));
      by.send_ulpdu(first);
      by.send_ulpdu(second);
      PeerFpdu fpdu;
      if (by.next(fpdu, by.patience(), message_of(rdmap::Opcode::kReadResponse)) != Came::kFpdu)
        fail("nothing came instead of the Read Response");
      if (fpdu.is(rdmap::Opcode::kTerminate)) warn("the peer refuses a Read Request in two segments, which DDP allows");
      if (!fpdu.is(rdmap::Opcode::kReadResponse) ||
          !std::ranges::equal(fpdu.payload(), first_octets(region, 64, request.size)))
        fail("a Read Request in two segments has not the octets that it asks for as its answer");
    }
  };

  // DDP-7.1-10: The legal MSN range of a queue runs from the MSN of its first available buffer to the MSN of its last
  // available buffer and moves as buffers are used and posted.
  cases.add(
      {.name = "segments-last-twice",
       .clause = "DDP-7.1-10",
       .what = "A segment comes after the last one of its Send: Terminate 1/2/03 (or 1/2/02), and one completion.",
       .needs = kRegions | kReceives | kReport | kSessions,
       .also = {"DDP-5.3-06", "DDP-7.1-09"}}) = [](Scene& scene) {
    // After the last segment of a Send another one with its MSN, which goes on where the message ended.
    Conversation& by = scene.connect();
    by.send_ulpdu(by.make().send_segment(pattern(10), 0, true));
    by.make().set_next_msn(0, by.make().next_msn(0) - 1);
    const auto more = by.make().send_segment(pattern(10), 10, true);
    expect_refused(by, more, {kMsnRange, kNoBuffer});
    expect_send(scene, scene.rejoin(), pattern(10));
  };

  // DDP-7.1-08: Before placing a non-zero-length untagged segment the receiver verifies that MO plus payload length
  // lies in the legal offsets of the buffer.
  cases.add({.name = "segments-next-receive",
             .clause = "DDP-7.1-08",
             .what =
                 "A Send is one octet too long, in one segment or two: Terminate 1/2/05, and nothing of the segment is "
                 "placed, not in the next receive either.",
             .needs = kRegions | kReceives | kSessions | kOrders,
             .also = {"DDP-1.2-03", "DDP-7.1-17", "DDP-7.2-12"}}) = [](Scene& scene) {
    // The receives of a session lie one after the other. A Send that is too long touches neither its own nor the next
    // one.
    constexpr std::uint16_t kSize = 64;
    for (const std::size_t first : {std::size_t{0}, std::size_t{kSize} - 4}) {
      Conversation& by =
          scene.connect({.wish = {.flags = Wish::kSharedReceives, .receives = 4, .receive_size = kSize}});
      if (scene.advert().receive_size != kSize)
        not_applicable("the peer gives receives of another size than was asked");
      const Region receives = scene.region(Region::kReceives, Region::kRead);
      if (first > 0) by.send_ulpdu(by.make().send_segment(pattern(first), 0, false));
      const auto late = by.make().send_segment(pattern(kSize + 1 - first), static_cast<std::uint32_t>(first), true);
      expect_refused(by, late, {kTooLong});
      scene.expect_untouched(receives, first, 4 * kSize - first);
    }
  };

  // DDP-8.3.1-03: If an STag is limited to one stream, no other stream can use it.
  cases.add(
      {.name = "segments-other-connection",
       .clause = "DDP-8.3.1-03",
       .what = "A connection writes to memory that another one of its protection domain alone may use: it is refused, "
               "and the memory is untouched.",
       .needs = kRegions | kSessions | kOrders,
       .also = {"DDP-8.2-05", "DDP-7.2-05", "DDP-4.2-07"}}) = [](Scene& scene) {
    // Memory of one connection is written to by another one of the same protection domain, and is still untouched for
    // the connection that it belongs to.
    Conversation& by = scene.connect();
    const Region region = scene.region(Region::kThisStream, kAllRights);
    Conversation& other = scene.rejoin();
    const auto ulpdu = other.make().write(region.stag, region.offset, pattern(16));
    expect_refused(other, ulpdu, {kTaggedNotAssociated, kTaggedStag});
    expect_content(scene, by, region, 0, first_octets(region, 0, 16),
                   "another stream wrote to memory of this one alone");
  };
}

}  // namespace weft::probe
