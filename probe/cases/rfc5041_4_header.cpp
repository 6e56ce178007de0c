// SPDX-License-Identifier: Apache-2.0
// The DDP header, RFC 5041 section 4.
#include "probe/cases/steps.hpp"

namespace weft::probe {
namespace ddp_header_cases {
namespace {

void change_control(Ulpdu& ulpdu, int clear, int set) {
  const int control = ddp::TaggedLayout::Ctrl::get(ulpdu);
  ddp::TaggedLayout::Ctrl::put(ulpdu, static_cast<std::uint8_t>((control & ~clear) | set));
}

}  // namespace
}  // namespace ddp_header_cases

void add_ddp_header_cases(Cases& cases) {
  using namespace ddp_header_cases;
  // DDP-4.1-15: A received segment with a DDP version other than the one in use is an error, reported with a tagged
  // or untagged code depending on T.
  cases.add({.name = "ddp-version-tagged",
             .clause = "DDP-4.1-15",
             .what = "Tagged segments of DDP version 0, 2 and 3: Terminate 1/1/04 with the header as it came.",
             .needs = kStream,
             .also = {"DDP-7.2-07", "DDP-6.2.2-03", "RDMAP-4.8-40"}}) = [](Scene& scene) {
    // Versions 0, 2 and 3, each on a stream of its own.
    for (const int version : {0, 2, 3}) {
      Conversation& by = scene.connect();
      auto ulpdu = by.make().write(kNoSuchStag, {0}, pattern(8));
      if (scene.offers(kRegions)) {
        const Region region = scene.region(Region::kPlain, kReadWrite);
        ulpdu = by.make().write(region.stag, region.offset, pattern(8));
      }
      change_control(ulpdu, ddp::Control::kVersionMask, version);
      expect_refused(scene, by, ulpdu, {kTaggedVersion});
    }
  };

  // DDP-4.1-15: A received segment with a DDP version other than the one in use is an error, reported with a tagged
  // or untagged code depending on T.
  cases.add({.name = "ddp-version-untagged",
             .clause = "DDP-4.1-15",
             .what = "Untagged segments of DDP version 0, 2 and 3: Terminate 1/2/06 with the header as it came.",
             .needs = kStream,
             .also = {"DDP-7.2-13", "DDP-6.2.2-03"}}) = [](Scene& scene) {
    for (const int version : {0, 2, 3}) {
      Conversation& by = scene.connect();
      auto ulpdu = by.make().send(pattern(8));
      change_control(ulpdu, ddp::Control::kVersionMask, version);
      expect_refused(scene, by, ulpdu, {kUntaggedVersion});
      if (!scene.offers(kReport | kSessions)) continue;
      if (scene.report().receives_done > 1) fail("a Send of another DDP version was delivered");
    }
  };

  // DDP-4.1-12: The four Rsvd bits are not checked on receive.
  cases.add({.name = "ddp-reserved-bits-tagged",
             .clause = "DDP-4.1-12",
             .what = "Writes with reserved DDP bits set are placed like others.",
             .needs = kRegions}) = [](Scene& scene) {
    Conversation& by = scene.connect();
    const Region region = scene.region(Region::kPlain, kReadWrite);
    for (const int bit : {0x04, 0x08, 0x10, 0x20, 0x3C}) {
      const auto octets = pattern(16, static_cast<std::uint8_t>(bit));
      auto ulpdu = by.make().write(region.stag, region.offset, octets);
      change_control(ulpdu, 0, bit);
      by.send_ulpdu(ulpdu);
      if (scene.read_back(by, region, 0, 16) != octets) fail("a Write with a reserved DDP bit set was not placed");
    }
  };

  // DDP-4.1-12: The four Rsvd bits are not checked on receive.
  cases.add({.name = "ddp-reserved-bits-untagged",
             .clause = "DDP-4.1-12",
             .what = "A Send with reserved DDP bits set is delivered like others.",
             .needs = kRegions | kReport}) = [](Scene& scene) {
    Conversation& by = scene.connect();
    const auto before = scene.report(by);
    auto ulpdu = by.make().send(pattern(8));
    change_control(ulpdu, 0, 0x3C);
    by.send_ulpdu(ulpdu);
    expect_delivered(scene, by, pattern(8), before);
  };

  // DDP-4-01: There are exactly two DDP header formats, tagged (14 octets) and untagged (18 octets).
  cases.add({.name = "ddp-header-cut-short",
             .clause = "DDP-4-01",
             .what = "ULPDUs that end inside their DDP header (1 to 17 octets) end the stream.",
             .needs = kStream}) = [](Scene& scene) {
    // A ULPDU that ends inside its DDP header. The RFC has no code for it; that the stream ends is what matters.
    for (const std::size_t size : {std::size_t{1}, std::size_t{2}, std::size_t{13}}) {
      Conversation& by = scene.connect();
      const auto write = by.make().write(kNoSuchStag, {0}, {});
      by.send_ulpdu(Bytes(write).first(size));
      by.expect_end_sometime("the ULPDU has no whole DDP header", scene.patience());
    }
    for (const std::size_t size : {std::size_t{14}, std::size_t{17}}) {
      Conversation& by = scene.connect();
      const auto send = by.make().send({});
      by.send_ulpdu(Bytes(send).first(size));
      by.expect_end_sometime("the ULPDU has no whole DDP header", scene.patience());
    }
  };

  // DDP-4.1-03: Payload of a segment with T=1 is placed into a tagged buffer.
  cases.add({.name = "ddp-both-models",
             .clause = "DDP-4.1-03",
             .what = "A tagged segment lands at its STag and TO, an untagged one in the next receive.",
             .needs = kRegions | kReport,
             .also = {"DDP-4.1-04", "DDP-5.2-05", "DDP-4.2-12", "RDMAP-5.1-04", "RDMAP-5.1-05"}}) = [](Scene& scene) {
    // A tagged segment is placed by STag and TO, an untagged one into the next receive: both from one stream.
    Conversation& by = scene.connect();
    const Region region = scene.region(Region::kPlain, kReadWrite);
    const auto before = scene.report(by);
    by.send_ulpdu(by.make().write(region.stag, at(region, 13), pattern(33, 5)));
    by.send_ulpdu(by.make().send(pattern(20, 9)));
    if (scene.read_back(by, region, 13, 33) != pattern(33, 5)) fail("a Write was not placed at its STag and TO");
    expect_delivered(scene, by, pattern(20, 9), before);
  };
}

}  // namespace weft::probe
