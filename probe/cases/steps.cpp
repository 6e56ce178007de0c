// SPDX-License-Identifier: Apache-2.0
#include "probe/cases/steps.hpp"

#include <fmt/format.h>

#include "common/crc32c.hpp"

namespace weft::probe {
namespace {

constexpr std::size_t kLookedAt = 4096;  // octets of the region that would have been hit

void expect_memory_untouched(Scene& scene) {
  if (!scene.offers(kRegions | kSessions)) return;
  scene.expect_untouched(scene.region(Region::kPlain, kReadWrite), 0, kLookedAt);
}

}  // namespace

void expect_refused(Scene& scene, Conversation& by, Bytes ulpdu, const Errors& any_of, const FpduFault& fault) {
  by.send_ulpdu(ulpdu, fault);
  by.expect_terminate(any_of, ulpdu);
  expect_memory_untouched(scene);
}

void expect_refused_and_deaf(Scene& scene, Conversation& by, Bytes ulpdu, const Errors& any_of,
                             const FpduFault& fault) {
  auto octets = by.fpdu(ulpdu, fault);
  if (scene.offers(kRegions)) {  // in one segment, so that it is there when the first one is judged
    const Region region = scene.region(Region::kPlain, kReadWrite);
    const auto good = by.fpdu(by.make().write(region.stag, at(region, 512), pattern(64)));
    octets.insert(octets.end(), good.begin(), good.end());
  }
  by.send(octets);
  by.expect_terminate(any_of, ulpdu);
  expect_memory_untouched(scene);
}

void expect_delivered(Scene& scene, Conversation& by, Bytes payload, const PeerReport& before) {
  // The order for the report is itself a Send: it is the last one, so the report is that of the one before it only where the
  // peer tells of both. What is compared is the number of receives, and the octets of the receive's own memory.
  const Region receives = scene.region(Region::kReceives, Region::kRead);
  const std::uint32_t index = before.receives_done % scene.advert().receives;
  const auto octets = scene.read_back(by, receives, std::size_t{index} * scene.advert().receive_size, payload.size());
  if (!std::ranges::equal(octets, payload)) fail("the receive does not hold the octets of the Send");
  const PeerReport after = scene.report(by);
  if (after.receives_done != before.receives_done + 2)
    fail(fmt::format("the peer says that {} receives completed; {} messages were sent",
                     after.receives_done - before.receives_done, 2));
}

void expect_requests_done(Scene& scene, Conversation& by, std::uint32_t count) {
  const Instant deadline = now() + scene.patience();
  PeerReport report;
  do report = scene.report(by);
  while (report.requests_done < count && now() < deadline);
  if (report.requests_done != count || report.requests_failed != 0)
    fail(fmt::format("of the peer's {} requests {} completed, and {} failed", count, report.requests_done,
                     report.requests_failed));
}

rdmap::ReadRequest read_of(ddp::Stag stag, ddp::TaggedOffset offset, std::uint32_t size) noexcept {
  return {.sink_stag = Scene::kOwnStag,
          .sink_offset = {0x10000},
          .size = size,
          .source_stag = stag,
          .source_offset = offset};
}

}  // namespace weft::probe
