// SPDX-License-Identifier: Apache-2.0
// RDMA Write, RFC 5040 section 5.1. What the peer may not place is in rfc5041_7_tagged.cpp.
#include <fmt/format.h>

#include "probe/cases/steps.hpp"

namespace weft::probe {
void add_writes_cases(Cases& cases) {
  // RDMAP-5.5-11: When a Send is delivered, data of all earlier Writes and Sends of the same direction is available
  // locally and remotely.
  cases.add({.name = "write-then-send",
             .clause = "RDMAP-5.5-11",
             .what = "A Write and then a Send: when the Send is answered, the Write is there.",
             .needs = kOrders | kRegions,
             .also = {"RDMAP-5.1-08", "RDMAP-B-04"}}) = [](Scene& scene) {
    Conversation& by = scene.connect();
    const Region region = scene.region(Region::kPlain, kReadWrite);
    const auto octets = pattern(20000, 3);
    by.send_ulpdu(by.make().write(region.stag, region.offset, Bytes(octets).first(10000), false));
    by.send_ulpdu(by.make().write(region.stag, at(region, 10000), Bytes(octets).subspan(10000)));
    scene.report(by);  // a Send, and its answer
    if (scene.read_back(by, region, 0, octets.size()) != octets)
      fail("a Send was delivered before an earlier Write was there");
  };

  // RDMAP-5.1-05: A Write may target all or part of an advertised buffer.
  cases.add(
      {.name = "write-of-the-peer",
       .clause = "RDMAP-5.1-05",
       .what = "The peer writes 0 to 150,000 octets: each segment has its STag and its TO, and the auditor judges the "
               "rest.",
       .needs = kOrders}) = [](Scene& scene) {
    Conversation& by = scene.connect();
    for (const std::uint32_t size : {0U, 1U, 7U, 1460U, 20001U, 150000U}) {
      const ddp::TaggedOffset target{0xABCDEF0012345679};
      scene.order(by, {.operation = Order::kWrite, .length = size, .stag = Scene::kOwnStag, .offset = target});
      std::uint64_t got = 0;
      PeerFpdu fpdu;
      do {
        fpdu = by.expect_message(rdmap::Opcode::kWrite, nullptr, [&](const PeerFpdu& one) {
          if (size == 0 || !one.payload().empty()) return true;
          // A whole Write without octets is another one, also to this place: the peer may send it at any time.
          return (got != 0 || !one.last()) && ddp::TaggedLayout::ToField::get(one.ulpdu) == target.value + got;
        });
        const auto stag = ddp::TaggedLayout::StagField::get(fpdu.ulpdu);
        const auto offset = ddp::TaggedLayout::ToField::get(fpdu.ulpdu);
        if (size != 0 && (stag != Scene::kOwnStag.value || offset != target.value + got))
          fail(fmt::format("the peer's Write goes to {:#x} at {:#x}; it was to go to {:#x} at {:#x}", stag, offset,
                           Scene::kOwnStag.value, target.value + got));
        got += fpdu.payload().size();
      } while (!fpdu.last());
      if (got != size) fail(fmt::format("the peer's Write of {} octets has {}", size, got));
    }
  };

  // RDMAP-1.2-03: The STag of a Write or Read target stays valid until its owner invalidates it or the peer does so
  // by Send with Invalidate.
  cases.add({.name = "write-reuse",
             .clause = "RDMAP-1.2-03",
             .what = "Sixty Writes to one STag, one after the other.",
             .needs = kRegions,
             .also = {"DDP-5.1.1-01"}}) = [](Scene& scene) {
    Conversation& by = scene.connect();
    const Region region = scene.region(Region::kPlain, kReadWrite);
    for (std::uint8_t i = 1; i < 60; ++i)
      by.send_ulpdu(by.make().write(region.stag, at(region, i * 100), pattern(100, i)));
    for (std::uint8_t i = 1; i < 60; i = static_cast<std::uint8_t>(i + 20)) {
      if (scene.read_back(by, region, i * 100U, 100) != pattern(100, i))
        fail("one of many Writes to an STag was not placed");
    }
  };
}

}  // namespace weft::probe
