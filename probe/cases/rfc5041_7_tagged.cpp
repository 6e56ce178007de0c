// SPDX-License-Identifier: Apache-2.0
// Tagged buffers, RFC 5041 sections 5 to 8.
#include "probe/cases/steps.hpp"

namespace weft::probe {
namespace ddp_tagged_cases {
namespace {

// A Write at this offset of the region, refused with one of these errors; the region is untouched.
void refused_write(Scene& scene, Region::Kind kind, std::uint8_t rights, std::int64_t offset, std::size_t size,
                   const Errors& any_of) {
  Conversation& by = scene.connect();
  const Region region = scene.region(kind, rights);
  expect_refused(scene, by, by.make().write(region.stag, at(region, offset), pattern(size)), any_of);
}

}  // namespace
}  // namespace ddp_tagged_cases

void add_ddp_tagged_cases(Cases& cases) {
  using namespace ddp_tagged_cases;
  // DDP-7.1-12: Before placing a non-zero-length tagged segment the receiver verifies that the STag is valid for the
  // stream.
  cases.add(
      {.name = "tagged-unknown-stag",
       .clause = "DDP-7.1-12",
       .what = "A Write to an STag that does not exist: Terminate 1/1/00, and a good Write after it has no effect.",
       .needs = kStream,
       .also = {"DDP-4.2-07", "DDP-7.1-17", "DDP-7.1-20", "DDP-7.2-03", "DDP-8.1-01", "RDMAP-3.2-06", "RDMAP-5.1-03",
                "RDMAP-7.1-03", "SEC-5.1.1-01"}}) = [](Scene& scene) {
    Conversation& by = scene.connect();
    expect_refused_and_deaf(scene, by, by.make().write(kNoSuchStag, {0x1000}, pattern(64)), {kTaggedStag});
  };

  // DDP-7.1-12: Before placing a non-zero-length tagged segment the receiver verifies that the STag is valid for the
  // stream.
  cases.add(
      {.name = "tagged-another-key",
       .clause = "DDP-7.1-12",
       .what = "Writes to the peer's STag with one bit changed, of its key or its index: refused, and not placed.",
       .needs = kRegions | kSessions,
       .also = {"SEC-5.1.1-01"}}) = [](Scene& scene) {
    // An STag of the peer's with another key: its low octet, or any other bit, is changed.
    for (const std::uint32_t change : {0x01U, 0x80U, 0x100U, 0x80000000U}) {
      Conversation& by = scene.connect();
      const Region region = scene.region(Region::kPlain, kReadWrite);
      expect_refused(scene, by, by.make().write({region.stag.value ^ change}, region.offset, pattern(64)),
                     {kTaggedStag, kTaggedNotAssociated, kTaggedBounds});
    }
  };

  // DDP-8.3-02: DDP gives the ULP a way to establish and revoke the validity of an STag at any time.
  cases.add({.name = "tagged-revoked-stag",
             .clause = "DDP-8.3-02",
             .what = "A Write to an STag that was deregistered: Terminate 1/1/00.",
             .needs = kRegions | kSessions,
             .also = {"DDP-7.1-12"}}) = [](Scene& scene) {
    refused_write(scene, Region::kRevoked, kAllRights, 0, 64, {kTaggedStag});
  };

  // DDP-8.3.1-07: After the ULP revokes remote access of an STag the network interface can no longer modify the
  // buffer.
  cases.add({.name = "tagged-revoked-meanwhile",
             .clause = "DDP-8.3.1-07",
             .what = "An STag is deregistered between two Writes: the second one ends the stream by Terminate 1/1/00.",
             .needs = kRegions | kOrders,
             .also = {"DDP-8.3-02", "RDMAP-8.1.1-06", "SEC-6.2.2-02", "RDMAP-1.2-03"}}) = [](Scene& scene) {
    // It is revoked while the stream is used: what was written before stays, what is written later ends the stream.
    Conversation& by = scene.connect();
    const Region region = scene.region(Region::kPlain, Region::kWrite);
    by.send_ulpdu(by.make().write(region.stag, region.offset, pattern(32)));
    scene.order(by, {.operation = Order::kRevoke, .flags = Order::kAnswer, .stag = region.stag});
    const auto late = by.make().write(region.stag, region.offset, pattern(32, 99));
    expect_refused(by, late, {kTaggedStag});
  };

  // DDP-8.3.1-02: A stream in one PD cannot access an STag of another PD.
  cases.add({.name = "tagged-other-domain",
             .clause = "DDP-8.3.1-02",
             .what = "A Write to an STag of another protection domain is refused, and not placed.",
             .needs = kRegions | kSessions,
             .also = {"DDP-8.2-03", "DDP-7.2-05", "RDMAP-8.1.1-01", "SEC-6.1.1-03", "SEC-2.2.4-02", "SEC-6.1.1-01"}}) =
      [](Scene& scene) {
        refused_write(scene, Region::kForeign, kAllRights, 0, 64, {kTaggedNotAssociated, kTaggedStag});
      };

  // DDP-8.3.1-03: If an STag is limited to one stream, no other stream can use it.
  cases.add({.name = "tagged-other-stream",
             .clause = "DDP-8.3.1-03",
             .what = "A Write to an STag that another stream alone may use is refused, and not placed.",
             .needs = kRegions | kSessions,
             .also = {"DDP-8.2-05", "RDMAP-8.1.1-02", "SEC-6.1.1-04", "SEC-2.2.5-02"}}) = [](Scene& scene) {
    refused_write(scene, Region::kOtherStream, kAllRights, 0, 64, {kTaggedNotAssociated, kTaggedStag});
  };

  // DDP-7.1-13: Before placing a non-zero-length tagged segment the receiver verifies that the STag has a buffer that
  // allows placement.
  cases.add({.name = "tagged-no-write-right",
             .clause = "DDP-7.1-13",
             .what = "Writes to regions without remote write access are refused, and not placed.",
             .needs = kRegions | kSessions,
             .also = {"SEC-2.2.2-02"}}) = [](Scene& scene) {
    // DDP has no code for missing rights: check 2 of section 7.1 makes it an invalid STag; RDMAP's code 0/1/02 says it
    // too.
    for (const int rights : {0, +Region::kRead, +Region::kAtomic}) {
      refused_write(scene, Region::kPlain, static_cast<std::uint8_t>(rights), 0, 64,
                    {kTaggedStag, kTaggedNotAssociated, kReadRights});
      if (rights == Region::kRead) scene.expect_untouched(scene.region(Region::kPlain, Region::kRead), 0, 64);
    }
  };

  // DDP-7.1-14: Before placing a non-zero-length tagged segment the receiver verifies that TO lies in the legal
  // offsets of the STag.
  cases.add(
      {.name = "tagged-below-base",
       .clause = "DDP-7.1-14",
       .what = "Writes that begin below the region's first octet: Terminate 1/1/01 (or 1/1/03 below an offset of 0).",
       .needs = kRegions | kSessions,
       .also = {"DDP-7.2-04", "DDP-8.3.1-04", "SEC-6.2.1-01"}}) = [](Scene& scene) {
    for (const std::int64_t offset : {-1L, -64L}) {
      Conversation& by = scene.connect();
      const Region region = scene.region(Region::kPlain, kReadWrite);
      expect_refused(scene, by, by.make().write(region.stag, at(region, offset), pattern(64)),
                     bounds_errors(true, at(region, offset), 64));
    }
  };

  // DDP-7.1-15: Before placing a non-zero-length tagged segment the receiver verifies that TO plus payload length
  // lies in the legal offsets of the STag.
  cases.add(
      {.name = "tagged-across-end",
       .clause = "DDP-7.1-15",
       .what = "The last octet can be written; a Write that reaches one octet further: Terminate 1/1/01, nothing of it "
               "placed.",
       .needs = kRegions | kSessions,
       .also = {"DDP-8.3.1-04", "RDMAP-8.1.1-03", "SEC-6.2.1-01", "SEC-6.2.1-02", "DDP-8.1-01"}}) = [](Scene& scene) {
    for (const Region::Kind kind : {Region::kPlain, Region::kOdd}) {
      Conversation& by = scene.connect();
      const Region region = scene.region(kind, kReadWrite);
      // The last octet may be written, the one after it may not; of a segment that reaches there no octet is placed.
      by.send_ulpdu(by.make().write(region.stag, at(region, region.length - 1), pattern(1, 77)));
      if (scene.read_back(by, region, region.length - 1, 1) != pattern(1, 77))
        fail("the last octet of the region cannot be written");
      const auto late = by.make().write(region.stag, at(region, std::int64_t{region.length} - 16), pattern(17));
      expect_refused(by, late, {kTaggedBounds});
      scene.expect_untouched(region, region.length - 16, 15);
    }
  };

  // DDP-7.1-14: Before placing a non-zero-length tagged segment the receiver verifies that TO lies in the legal
  // offsets of the STag.
  cases.add({.name = "tagged-beyond-end",
             .clause = "DDP-7.1-14",
             .what = "Writes that begin past the end of the region, at once or far away: Terminate 1/1/01.",
             .needs = kRegions | kSessions,
             .also = {"SEC-6.2.1-01"},
             .last = true}) = [](Scene& scene) {
    Conversation& by = scene.connect();
    const Region region = scene.region(Region::kPlain, kReadWrite);
    expect_refused(scene, by, by.make().write(region.stag, at(region, region.length), pattern(1)), {kTaggedBounds});
    Conversation& far = scene.connect();
    const Region again = scene.region(Region::kPlain, kReadWrite);
    expect_refused(scene, far, far.make().write(again.stag, {again.offset.value + (1ULL << 40U)}, pattern(1)),
                   {kTaggedBounds});
  };

  // DDP-7.1-16: Before placing a non-zero-length tagged segment the receiver verifies that the unsigned 64-bit sum of
  // TO and payload length does not wrap.
  cases.add({.name = "tagged-wrap",
             .clause = "DDP-7.1-16",
             .what = "TO plus length passes 2^64: Terminate 1/1/03, or 1/1/01, for the bounds are broken too.",
             .needs = kRegions | kSessions,
             .also = {"DDP-7.2-06", "SEC-6.2.1-01"},
             .last = true}) = [](Scene& scene) {
    // TO plus length passes 2^64. A buffer whose base is not there has bounds that are broken, too, and checks have no
    // order.
    Conversation& by = scene.connect();
    const Region region = scene.region(Region::kPlain, kReadWrite);
    expect_refused(scene, by, by.make().write(region.stag, {~0ULL - 15}, pattern(32)), {kTaggedWrap, kTaggedBounds});
  };

  // DDP-7.1-16: Before placing a non-zero-length tagged segment the receiver verifies that the unsigned 64-bit sum of
  // TO and payload length does not wrap.
  cases.add({.name = "tagged-wrap-at-top",
             .clause = "DDP-7.1-16",
             .what = "A region that ends just below 2^64: a Write inside is placed, one that passes 2^64 is refused.",
             .needs = kRegions | kSessions}) = [](Scene& scene) {
    Conversation& by = scene.connect();
    const Region region = scene.region(Region::kTop, kReadWrite);
    by.send_ulpdu(by.make().write(region.stag, at(region, 8), pattern(8)));
    if (scene.read_back(by, region, 8, 8) != pattern(8))
      fail("a region whose offsets end below 2^64 cannot be written");
    const auto late = by.make().write(region.stag, at(region, region.length - 8), pattern(64));
    expect_refused(by, late, {kTaggedWrap, kTaggedBounds});
    scene.expect_untouched(region, region.length - 8, 8);
  };

  // DDP-5.2-13: STag and TO of a zero-length tagged message are not checked.
  cases.add(
      {.name = "tagged-zero-length",
       .clause = "DDP-5.2-13",
       .what = "Writes of no octets with STags and offsets that do not exist change nothing, and the stream goes on.",
       .needs = kStream,
       .also = {"DDP-4.4-02", "RDMAP-5.1-10"}}) = [](Scene& scene) {
    Conversation& by = scene.connect();
    by.send_ulpdu(by.make().write(kNoSuchStag, {~0ULL}, {}));
    by.send_ulpdu(by.make().write({0}, {0}, {}));
    scene.expect_alive(by);
  };

  // DDP-5.1.1-01: A tagged buffer may be written any number of times by different messages and at any offset.
  cases.add({.name = "tagged-overlap",
             .clause = "DDP-5.1.1-01",
             .what = "Writes that overlap: the last one wins, octet by octet.",
             .needs = kRegions}) = [](Scene& scene) {
    Conversation& by = scene.connect();
    const Region region = scene.region(Region::kPlain, kReadWrite);
    by.send_ulpdu(by.make().write(region.stag, region.offset, pattern(32, 1)));
    by.send_ulpdu(by.make().write(region.stag, at(region, 16), pattern(32, 2)));
    by.send_ulpdu(by.make().write(region.stag, region.offset, pattern(8, 3)));
    auto wanted = pattern(8, 3);
    const auto first = pattern(32, 1), second = pattern(32, 2);
    wanted.insert(wanted.end(), first.begin() + 8, first.begin() + 16);
    wanted.insert(wanted.end(), second.begin(), second.end());
    if (scene.read_back(by, region, 0, wanted.size()) != wanted)
      fail("of Writes that overlap, the last octet written is not the one that stays");
  };

  // DDP-5.2-05: The Data Sink places the payload of every valid segment into the ULP buffer.
  cases.add({.name = "tagged-segments",
             .clause = "DDP-5.2-05",
             .what = "A Write in three segments is placed as a whole.",
             .needs = kRegions,
             .also = {"DDP-3-04"}}) = [](Scene& scene) {
    // A Write in three segments with L only on the last, each placed at its own TO.
    Conversation& by = scene.connect();
    const Region region = scene.region(Region::kPlain, kReadWrite);
    const auto octets = pattern(3000);
    by.send_ulpdu(by.make().write(region.stag, region.offset, Bytes(octets).first(1000), false));
    by.send_ulpdu(by.make().write(region.stag, at(region, 1000), Bytes(octets).subspan(1000, 999), false));
    by.send_ulpdu(by.make().write(region.stag, at(region, 1999), Bytes(octets).subspan(1999)));
    if (scene.read_back(by, region, 0, octets.size()) != octets)
      fail("a Write in three segments was not placed as a whole");
  };

  // DDP-7.1-17: On such an error DDP stops placing the rest of the segment.
  cases.add({.name = "tagged-second-segment",
             .clause = "DDP-7.1-17",
             .what = "The second segment of a Write reaches past the end of the region: nothing of it is placed.",
             .needs = kRegions | kSessions,
             .also = {"DDP-7.1-15", "DDP-8.1-01"}}) = [](Scene& scene) {
    // The first segment was good and stays; the second one is refused, and nothing of it is placed.
    Conversation& by = scene.connect();
    const Region region = scene.region(Region::kPlain, kReadWrite);
    by.send_ulpdu(by.make().write(region.stag, at(region, region.length - 32), pattern(16), false));
    const auto late = by.make().write(region.stag, at(region, region.length - 16), pattern(32));
    expect_refused(by, late, {kTaggedBounds});
    scene.expect_untouched(region, region.length - 16, 16);
  };
}

}  // namespace weft::probe
