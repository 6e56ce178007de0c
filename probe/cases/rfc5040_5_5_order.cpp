// SPDX-License-Identifier: Apache-2.0
// Ordering and completion, RFC 5040 section 5.5 and RFC 7306 section 7: all in one segment, so that nothing but the
// peer gives an order.
#include <fmt/format.h>

#include "probe/cases/steps.hpp"

namespace weft::probe {
namespace order_cases {
namespace {

rdmap::AtomicRequest add_one(const Region& region, std::uint32_t id) {
  return {.operation = {rdmap::AtomicOperation::Kind::kFetchAdd, 1, 0, 0, 0},
          .request_id = id,
          .stag = region.stag,
          .offset = region.offset};
}

rdmap::AtomicResponse expect_answer(Conversation& by) {
  const PeerFpdu fpdu = by.expect_message(rdmap::Opcode::kAtomicResponse);
  const auto response = rdmap::parse_atomic_response(fpdu.payload());
  if (!response) fail("the Atomic Response is malformed");
  return *response;
}

}  // namespace
}  // namespace order_cases

void add_order_cases(Cases& cases) {
  using namespace order_cases;
  // RDMAP-5.5-14: A Read after a Write or Send to the same buffer in the same direction returns the new data.
  cases.add({.name = "order-write-read",
             .clause = "RDMAP-5.5-14",
             .what = "A Write and a Read of the same place in one segment: the Read brings the new octets.",
             .needs = kRegions,
             .also = {"RDMAP-B-06"}}) = [](Scene& scene) {
    Conversation& by = scene.connect();
    const Region region = scene.region(Region::kPlain, kReadWrite);
    Burst(by)
        .add(by.make().write(region.stag, region.offset, pattern(500, 9)))
        .add(by.make().read_request(read_of(region.stag, region.offset, 500)))
        .send();
    if (by.expect_read_response(Scene::kOwnStag, {0x10000}, 500) != pattern(500, 9))
      fail("a Read brought what was there before an earlier Write");
  };

  // RDMAP-5.5-15: A Read Response may be generated after later Writes or Sends were placed or delivered, so it can
  // contain their data.
  cases.add(
      {.name = "order-read-write",
       .clause = "RDMAP-5.5-15",
       .what = "A Read and a Write of the same place in one segment: old octets or new ones, and the Write stays.",
       .needs = kRegions}) = [](Scene& scene) {
    // The Response may have the old octets or the new ones, each of them.
    Conversation& by = scene.connect();
    const Region region = scene.region(Region::kPlain, kReadWrite);
    Burst(by)
        .add(by.make().read_request(read_of(region.stag, region.offset, 64)))
        .add(by.make().write(region.stag, region.offset, pattern(64, 200)))
        .send();
    const auto octets = by.expect_read_response(Scene::kOwnStag, {0x10000}, 64);
    for (std::size_t i = 0; i < 64; ++i) {
      if (octets[i] != first_content(region, i) && octets[i] != pattern(64, 200)[i])
        fail("a Read brought octets that never were there");
    }
    if (scene.read_back(by, region, 0, 64) != pattern(64, 200)) fail("a Write after a Read was not placed");
  };

  // RDMAP-5.5-12: Read Responses are delivered to the ULP after, and in the order in which, DDP delivered them to
  // RDMAP.
  cases.add({.name = "order-read-read",
             .clause = "RDMAP-5.5-12",
             .what = "A long Read and a short one: the Responses come in the order of the Requests.",
             .needs = kRegions,
             .also = {"RDMAP-B-09", "RDMAP-5.2.1-08"}}) = [](Scene& scene) {
    Conversation& by = scene.connect();
    const Region region = scene.region(Region::kPlain, kReadWrite);
    auto second = read_of(region.stag, at(region, 100), 10);
    second.sink_offset = {0x20000};
    Burst(by)
        .add(by.make().read_request(read_of(region.stag, region.offset, 30000)))
        .add(by.make().read_request(second))
        .send();
    by.expect_read_response(Scene::kOwnStag, {0x10000}, 30000);
    by.expect_read_response(Scene::kOwnStag, {0x20000}, 10);
  };

  // RDMAP-5.5-13: A Read Request, zero-length ones included, is not started at the responder before DDP delivered it
  // to RDMAP.
  cases.add({.name = "order-read-held-back",
             .clause = "RDMAP-5.5-13",
             .what = "The last octet of a Read Request is held back: no Response; then it comes, and there is one.",
             .needs = kRegions,
             .also = {"RDMAP-5.5-21", "MPA-6-06"}}) = [](Scene& scene) {
    // A Read Request whose last octets are held back is not served.
    Conversation& by = scene.connect();
    const Region region = scene.region(Region::kPlain, kReadWrite);
    const auto fpdu = by.fpdu(by.make().read_request(read_of(region.stag, region.offset, 8)));
    by.send(Bytes(fpdu).first(fpdu.size() - 1));
    by.expect_silence(scene.quiet(), "the Read Request is not all there", message_of(rdmap::Opcode::kReadResponse));
    by.send(Bytes(fpdu).last(1));
    by.expect_read_response(Scene::kOwnStag, {0x10000}, 8);
  };

  // RDMAPX-5.4-04: An Atomic Request is not started before DDP delivered it to RDMAP.
  cases.add(
      {.name = "order-atomic-held-back",
       .clause = "RDMAPX-5.4-04",
       .what = "The last octet of an Atomic Request is held back: nothing is done; then it comes, and it is done.",
       .needs = kAtomics | kRegions | kSessions,
       .also = {"RDMAPX-5.4-06"}}) = [](Scene& scene) {
    Conversation& other = scene.connect();
    Conversation& by = scene.rejoin();
    const Region region = scene.region(Region::kPlain, kAllRights);
    const auto before = scene.read_back(other, region, 0, 8);
    const auto fpdu = by.fpdu(by.make().atomic(
        {.operation = {.add_or_swap = 1}, .request_id = 7, .stag = region.stag, .offset = region.offset}));
    by.send(Bytes(fpdu).first(fpdu.size() - 1));
    by.expect_silence(scene.quiet(), "the Atomic Request is not all there", message_of(rdmap::Opcode::kAtomicResponse));
    if (scene.read_back(other, region, 0, 8) != before) fail("an atomic was done before all of its Request had come");
    by.send(Bytes(fpdu).last(1));
    by.expect_message(rdmap::Opcode::kAtomicResponse);
    if (scene.read_back(other, region, 0, 8) == before) fail("an atomic was answered, and not done");
  };

  // RDMAP-5.5-20: An incoming Send is delivered to the ULP only after DDP delivered its message to RDMAP.
  cases.add({.name = "order-send-held-back",
             .clause = "RDMAP-5.5-20",
             .what = "Half a Send is held back: no completion until it has come.",
             .needs = kReport,
             .also = {"MPA-6-06", "DDP-4.1-09"}}) = [](Scene& scene) {
    // A Send that is held back does not complete, though a Read before it is served.
    Conversation& by = scene.connect();
    const auto before = scene.report(by);
    const auto fpdu = by.fpdu(by.make().send(pattern(100)));
    by.send(Bytes(fpdu).first(fpdu.size() / 2));
    by.expect_silence(scene.quiet(), "the Send is not all there");
    if (scene.offers(kSessions) && scene.report().receives_done != before.receives_done + 1)
      fail("a Send completed before all of it had come");
    by.send(Bytes(fpdu).subspan(fpdu.size() / 2));
    scene.expect_alive(by);
  };

  // RDMAP-B-03: Ordering Send then Read: remote placement none between Send payload and Request header; local
  // placement Response not placed before Send payload is placed at the Remote Peer; remote ordering Response not
  // generated before Send is completed.
  cases.add({.name = "order-send-read",
             .clause = "RDMAP-B-03",
             .what = "A Send and a Read of the receive that it goes to: the Read brings the Send's octets.",
             .needs = kReport | kRegions,
             .also = {"RDMAP-5.5-22"}}) = [](Scene& scene) {
    Conversation& by = scene.connect();
    const Region receives = scene.region(Region::kReceives, Region::kRead);
    const auto before = scene.report(by);
    const std::size_t index = before.receives_done % scene.advert().receives;
    Burst(by)
        .add(by.make().send(pattern(40, 77)))
        .add(by.make().read_request(
            read_of(receives.stag, at(receives, static_cast<std::int64_t>(index * scene.advert().receive_size)), 40)))
        .send();
    if (by.expect_read_response(Scene::kOwnStag, {0x10000}, 40) != pattern(40, 77))
      fail("a Read of the receive brought what was there before the Send");
  };

  // RDMAPX-5.4-09: With several outstanding atomics, Requests are processed in delivery order.
  cases.add(
      {.name = "order-atomics",
       .clause = "RDMAPX-5.4-09",
       .what = "Eight FetchAdds in one segment: each finds what the one before has stored, and is answered in turn.",
       .needs = kAtomics | kRegions,
       .also = {"RDMAPX-5.2.1-21", "RDMAPX-7-12", "RDMAPX-5-08", "RDMAPX-5.2.2-07"}}) = [](Scene& scene) {
    Conversation& by = scene.connect();
    const Region region = scene.region(Region::kPlain, kAllRights);
    Burst burst(by);
    constexpr std::uint32_t kCount = 8;
    for (std::uint32_t i = 0; i < kCount; ++i) burst.add(by.make().atomic(add_one(region, 100 + i)));
    burst.send();
    const auto first = expect_answer(by);
    for (std::uint32_t i = 1; i < kCount; ++i) {
      const auto next = expect_answer(by);
      if (next.request_id != 100 + i)
        fail(fmt::format("atomic {} was answered by identifier {}", 100 + i, next.request_id));
      if (next.original != first.original + i)
        fail("of several FetchAdds one did not find what the one before had stored");
    }
  };

  // RDMAPX-7-14: Ordering Write then Atomic: remote placement none; local placement Response not placed before Write
  // payload is placed at the Remote Peer; remote ordering n/a.
  cases.add({.name = "order-write-atomic",
             .clause = "RDMAPX-7-14",
             .what = "A Write and an atomic on the same octets: the atomic finds what was written.",
             .needs = kAtomics | kRegions}) = [](Scene& scene) {
    Conversation& by = scene.connect();
    const Region region = scene.region(Region::kPlain, kAllRights);
    const std::vector<std::byte> zeros(8);
    Burst(by).add(by.make().write(region.stag, region.offset, zeros)).add(by.make().atomic(add_one(region, 1))).send();
    if (expect_answer(by).original != 0) fail("an atomic found what was there before an earlier Write");
  };

  // RDMAPX-7-11: Ordering Atomic then Read: remote placement none; local placement none between the Responses; remote
  // ordering Read Response not generated before the Atomic Response is generated.
  cases.add({.name = "order-atomic-read",
             .clause = "RDMAPX-7-11",
             .what = "An atomic and a Read of the same octets: the Read brings the new value.",
             .needs = kAtomics | kRegions}) = [](Scene& scene) {
    Conversation& by = scene.connect();
    const Region region = scene.region(Region::kPlain, kAllRights);
    Burst(by)
        .add(by.make().write(region.stag, region.offset, std::vector<std::byte>(8)))
        .add(by.make().atomic(add_one(region, 1)))
        .add(by.make().read_request(read_of(region.stag, region.offset, 8)))
        .send();
    expect_answer(by);
    const auto octets = by.expect_read_response(Scene::kOwnStag, {0x10000}, 8);
    if (octets == std::vector<std::byte>(8)) fail("a Read after an atomic brought what was there before it");
  };

  // RDMAPX-7-15: Ordering Read then Atomic: remote placement none; local placement none between the Responses; remote
  // ordering Atomic Response not generated before the Read Response is generated.
  cases.add({.name = "order-read-atomic",
             .clause = "RDMAPX-7-15",
             .what = "A Read and an atomic: their answers come in that order.",
             .needs = kAtomics | kRegions}) = [](Scene& scene) {
    Conversation& by = scene.connect();
    const Region region = scene.region(Region::kPlain, kAllRights);
    Burst(by)
        .add(by.make().read_request(read_of(region.stag, region.offset, 3000)))
        .add(by.make().atomic(add_one(region, 9)))
        .send();
    by.expect_read_response(Scene::kOwnStag, {0x10000}, 3000);
    expect_answer(by);
  };

  // RDMAPX-7-01: Ordering Immediate then Send: remote placement none; local placement n/a; remote ordering completed
  // in order.
  cases.add({.name = "order-immediate-others",
             .clause = "RDMAPX-7-01",
             .what = "Immediate Data, a Read, an atomic and a Send in one segment are all served.",
             .needs = kAtomics | kRegions | kReport,
             .also = {"RDMAPX-7-03", "RDMAPX-7-04", "RDMAPX-7-05", "RDMAPX-7-13", "RDMAPX-5.4-05", "RDMAPX-5.4-07",
                      "RDMAPX-6.4-01", "RDMAPX-6.3-03"}}) = [](Scene& scene) {
    Conversation& by = scene.connect();
    const Region region = scene.region(Region::kPlain, kAllRights);
    const auto before = scene.report(by);
    Burst(by)
        .add(by.make().immediate(0x1122334455667788))
        .add(by.make().read_request(read_of(region.stag, region.offset, 8)))
        .add(by.make().atomic(add_one(region, 2)))
        .add(by.make().send(pattern(5)))
        .send();
    by.expect_read_response(Scene::kOwnStag, {0x10000}, 8);
    expect_answer(by);
    const auto after = scene.report(by);
    if (after.receives_done != before.receives_done + 3)
      fail("Immediate Data and a Send did not complete a receive each");
  };

  // RDMAPX-7-06: Ordering Write then Immediate: remote placement none; local placement n/a; remote ordering Immediate
  // completes after the Write is placed and delivered.
  cases.add({.name = "order-write-immediate",
             .clause = "RDMAPX-7-06",
             .what = "A Write and Immediate Data: when the Immediate Data is delivered, the Write is there.",
             .needs = kAtomics | kRegions | kReport,
             .also = {"RDMAPX-6-01"}}) = [](Scene& scene) {
    Conversation& by = scene.connect();
    const Region region = scene.region(Region::kPlain, kReadWrite);
    const auto before = scene.report(by);
    Burst(by).add(by.make().write(region.stag, region.offset, pattern(4000, 60))).add(by.make().immediate(5)).send();
    if (scene.report(by).receives_done != before.receives_done + 2)
      fail("Immediate Data after a Write did not complete a receive");
    if (scene.read_back(by, region, 0, 4000) != pattern(4000, 60))
      fail("Immediate Data was delivered before an earlier Write was there");
  };
}

}  // namespace weft::probe
