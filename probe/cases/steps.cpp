// SPDX-License-Identifier: Apache-2.0
#include "probe/cases/steps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <thread>

#include "common/crc32c.hpp"

namespace weft::probe {
namespace {

constexpr Duration kApart = std::chrono::milliseconds(5);  // so that the peer reads one without the next
constexpr std::size_t kLookedAt = 4096;                    // octets of the region that would have been hit

void expect_memory_untouched(Scene& scene) {
  if (!scene.offers(kRegions | kSessions)) return;
  scene.expect_untouched(scene.region(Region::kPlain, kReadWrite), 0, kLookedAt);
}

}  // namespace

Errors bounds_errors(bool write, ddp::TaggedOffset from, std::uint64_t size) {
  Errors out{write ? kTaggedBounds : kReadBounds};
  if (from.value >= 0 - size) out.push_back(write ? kTaggedWrap : kReadWrap);
  return out;
}

void expect_refused(Conversation& by, Bytes ulpdu, const Errors& any_of, const Errors& tolerated) {
  by.send_ulpdu(ulpdu);
  by.expect_terminate(any_of, ulpdu, tolerated);
}

void expect_refused(Scene& scene, Conversation& by, Bytes ulpdu, const Errors& any_of, const Errors& tolerated) {
  expect_refused(by, ulpdu, any_of, tolerated);
  expect_memory_untouched(scene);
}

void expect_refused_and_deaf(Scene& scene, Conversation& by, Bytes ulpdu, const Errors& any_of,
                             const FpduFault& fault) {
  Burst burst(by);
  burst.add(ulpdu, fault);
  if (!scene.offers(kRegions)) {
    burst.send();
    by.expect_terminate(any_of, ulpdu);
    return;
  }
  const Region region = scene.region(Region::kPlain, kReadWrite);
  const auto good = [&](std::int64_t offset) { return by.make().write(region.stag, at(region, offset), pattern(64)); };
  burst.add(good(512)).send();
  for (std::int64_t offset = 1024; offset < 2048; offset += 256) {
    std::this_thread::sleep_for(kApart);
    by.send_ulpdu(good(offset));
  }
  by.expect_terminate(any_of, ulpdu);
  expect_memory_untouched(scene);
}

void expect_no_buffer(Conversation& by, Bytes ulpdu) {
  const auto& parts = by.exchange().parts;
  const std::size_t before = parts.size();
  try {
    expect_refused(by, ulpdu, {kNoBuffer});
  } catch (const Judgement&) {
    if (std::ranges::any_of(std::span(parts).subspan(before), &Part::from_peer)) throw;
    warn("nothing came: the peer waits for a receive, or has lost the message (RFC 5041 section 7.1 lets it recover)");
  }
}

void expect_delivered(Scene& scene, Conversation& by, Bytes payload, const PeerReport& before) {
  // The report is read by an RDMA Read: an order for it would be a Send itself, and overwrite what is asked for.
  const PeerReport after = peek_until(scene, by, before.receives_done + 1);
  if (after.receives_done != before.receives_done + 1) fail("a Send did not complete a receive");
  if (after.last_length != payload.size())
    fail(fmt::format("the receive's completion says {} octets; the Send had {}", after.last_length, payload.size()));
  if (after.last_sum != crc32c(payload)) fail("the receive does not hold the octets of the Send");
  const Region receives = scene.region(Region::kReceives, Region::kRead);
  const std::uint32_t index = before.receives_done % scene.advert().receives;
  const auto octets = scene.read_back(by, receives, std::size_t{index} * scene.advert().receive_size, payload.size());
  if (!std::ranges::equal(octets, payload)) fail("the receive whose turn it was does not hold the octets of the Send");
}

PeerReport peek_until(Scene& scene, Conversation& by, std::uint32_t receives) {
  const Region region = scene.region(Region::kReport, Region::kRead);
  const Instant deadline = now() + scene.patience();
  // The peer writes it meanwhile, and no order binds the octets: it is right when it is the same twice.
  std::optional<PeerReport> report, before;
  do {
    before = report;
    report = parse_report(scene.read_back(by, region, 0, kReportSize));
    if (!report) fail("the peer's report cannot be read");
  } while ((report != before || report->receives_done < receives) && now() < deadline);
  return *report;
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
