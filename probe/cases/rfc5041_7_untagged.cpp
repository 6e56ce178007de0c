// SPDX-License-Identifier: Apache-2.0
// Untagged queues, RFC 5041 sections 5 to 7: queue numbers, MSN and buffers.
#include <fmt/format.h>

#include "probe/cases/steps.hpp"
#include "rdmap/control.hpp"

namespace weft::probe {
namespace ddp_untagged_cases {
namespace {

using Layout = ddp::UntaggedLayout;

constexpr std::uint8_t kSendControl = rdmap::control_octet(rdmap::Opcode::kSend);

Ulpdu send_with_msn(Conversation& by, std::uint32_t msn) {
  auto ulpdu = by.make().send(pattern(8));
  Layout::MsnField::put(ulpdu, msn);
  return ulpdu;
}

}  // namespace
}  // namespace ddp_untagged_cases

void add_ddp_untagged_cases(Cases& cases) {
  using namespace ddp_untagged_cases;
  // DDP-7.1-01: Before placing a non-zero-length untagged segment the receiver verifies that the QN is valid for the
  // stream.
  cases.add({.name = "untagged-unknown-queue",
             .clause = "DDP-7.1-01",
             .what = "Sends on queue numbers that do not exist: Terminate 1/2/01 (0/2/06 is a warning).",
             .needs = kStream,
             .also = {"DDP-7.2-08", "RDMAPX-10.2-01"}}) = [](Scene& scene) {
    // Queues that RDMAP does not have. A known opcode on a queue that exists is a matter of RDMAP
    // (rfc5040_4_1_header.cpp).
    for (const std::uint32_t queue : {4U, 7U, 0x100U, 0xFFFFFFFFU}) {
      Conversation& by = scene.connect();
      expect_refused(scene, by, by.make().untagged(kSendControl, queue, pattern(8)), {kQueue}, {kOpcode});
    }
  };

  // DDP-7.1-09: Before placing a non-zero-length untagged segment the receiver verifies that the MSN lies in the
  // legal range of the queue.
  cases.add({.name = "untagged-msn-zero",
             .clause = "DDP-7.1-09",
             .what = "The first Send has MSN 0: Terminate 1/2/03 (or 1/2/02).",
             .needs = kStream,
             .also = {"DDP-7.2-10", "DDP-7.1-10", "SEC-5.1.1-02"}}) = [](Scene& scene) {
    // Only the MSN of the first of a stream is known to be wrong: which buffers lie ahead, only the peer knows. After
    // the last one there is none (1/2/02), before the first one it is out of range (1/2/03).
    Conversation& by = scene.connect();
    expect_refused_and_deaf(scene, by, send_with_msn(by, 0), {kMsnRange, kNoBuffer});
  };

  // DDP-7.1-09: Before placing a non-zero-length untagged segment the receiver verifies that the MSN lies in the
  // legal range of the queue.
  cases.add({.name = "untagged-msn-repeated",
             .clause = "DDP-7.1-09",
             .what = "A Send has the MSN of the one before: Terminate 1/2/03 (or 1/2/02), and no second completion.",
             .needs = kReport | kSessions,
             .also = {"DDP-7.1-10", "DDP-5.3-06", "RDMAP-5.3-07"}}) = [](Scene& scene) {
    Conversation& by = scene.connect();
    const auto before = scene.report(by);
    by.send_ulpdu(by.make().send(pattern(8)));
    const auto again = send_with_msn(by, by.make().next_msn(0) - 1);
    expect_refused(by, again, {kMsnRange, kNoBuffer});
    const auto after = scene.report();
    if (after.receives_done != before.receives_done + 2) fail("a Send that repeats an MSN was delivered");
  };

  // DDP-7.1-09: Before placing a non-zero-length untagged segment the receiver verifies that the MSN lies in the
  // legal range of the queue.
  cases.add({.name = "untagged-msn-far-ahead",
             .clause = "DDP-7.1-09",
             .what = "Sends whose MSN no buffer can have: Terminate 1/2/03 or 1/2/02.",
             .needs = kStream,
             .also = {"DDP-7.1-10"}}) = [](Scene& scene) {
    for (const std::uint32_t msn : {0x7FFFFFFFU, 0x80000001U, 0xFFFFFFFFU}) {
      Conversation& by = scene.connect();
      expect_refused(scene, by, send_with_msn(by, msn), {kMsnRange, kNoBuffer});
    }
  };

  // DDP-5.3-07: Messages are delivered to the ULP in the order the Data Source sent them.
  cases.add({.name = "untagged-msn-skipped",
             .clause = "DDP-5.3-07",
             .what = "A Send leaves out an MSN: it is refused (or waits: a warning), and not delivered.",
             .needs = kStream}) = [](Scene& scene) {
    // A gap on a queue whose buffers are there: TCP keeps the order, so the message that is missing will not come.
    Conversation& by = scene.connect();
    const auto skipped = send_with_msn(by, by.make().next_msn(0) + 1);
    by.send_ulpdu(skipped);
    PeerFpdu fpdu;
    if (by.next(fpdu, scene.quiet()) == Came::kNothing)
      warn(
          "a Send whose MSN leaves one out was neither refused nor, as far as can be seen, delivered: RFC 5041 lets it "
          "wait");
    if (!fpdu.is(rdmap::Opcode::kTerminate)) fail("a Send whose MSN leaves one out was not refused");
    const auto said = rdmap::parse_terminate(fpdu.payload());
    if (!said || (said->meant().error != kMsnRange && said->meant().error != kNoBuffer))
      fail("the Terminate names another error than the MSN");
  };

  // DDP-7.1-08: Before placing a non-zero-length untagged segment the receiver verifies that MO plus payload length
  // lies in the legal offsets of the buffer.
  cases.add({.name = "untagged-too-long",
             .clause = "DDP-7.1-08",
             .what = "A Send as long as the receive is delivered; one octet more: Terminate 1/2/05, and no completion.",
             .needs = kReport | kSessions,
             .also = {"DDP-1.2-03", "DDP-7.2-12", "RDMAP-5.3-04", "RDMAP-5.3-03"}}) = [](Scene& scene) {
    Conversation& by = scene.connect();
    const auto size = scene.advert().receive_size;
    const auto before = scene.report(by);
    by.send_ulpdu(by.make().send(pattern(size)));
    if (scene.report(by).receives_done != before.receives_done + 2)
      fail("a Send as long as the receive was not delivered");
    const auto ulpdu = by.make().send(pattern(std::size_t{size} + 1));
    expect_refused(by, ulpdu, {kTooLong});
    if (scene.report().receives_done != before.receives_done + 3) fail("a Send longer than the receive was delivered");
  };

  // DDP-7.1-08: Before placing a non-zero-length untagged segment the receiver verifies that MO plus payload length
  // lies in the legal offsets of the buffer.
  cases.add({.name = "untagged-second-too-long",
             .clause = "DDP-7.1-08",
             .what = "The second segment of a Send passes the end of the receive: Terminate 1/2/05 (or 1/2/04).",
             .needs = kReport}) = [](Scene& scene) {
    Conversation& by = scene.connect();
    const auto size = scene.advert().receive_size;
    by.send_ulpdu(by.make().send_segment(pattern(size), 0, false));
    const auto second = by.make().send_segment(pattern(1), size, true);
    expect_refused(by, second, {kTooLong, kOffset});
  };

  // DDP-7.1-02: Before placing a non-zero-length untagged segment the receiver verifies that QN+MSN has a buffer that
  // allows placement.
  cases.add({.name = "untagged-no-buffer",
             .clause = "DDP-7.1-02",
             .what = "No receive is posted, and none comes: Terminate 1/2/02.",
             .needs = kOrders,
             .also = {"DDP-7.2-09", "DDP-7.1-06", "RDMAP-3.2-04", "RDMAP-6.2.1-01"}}) = [](Scene& scene) {
    // A peer may stop reading for a while, which RFC 5041 leaves to its transport; then it ends the stream: 1/2/02. So
    // does probe-peer.
    Conversation& by = scene.connect({.wish = {.receives = 0}});
    expect_no_buffer(by, by.make().send(pattern(8)));
  };

  // DDP-7.1-11: The listed checks apply only to segments with payload, so a zero-length untagged segment is formally
  // not validated although RDMAP makes it consume a buffer.
  cases.add({.name = "untagged-no-buffer-empty",
             .clause = "DDP-7.1-11",
             .what = "A Send of no octets needs a receive, too: Terminate 1/2/02.",
             .needs = kOrders,
             .also = {"RDMAP-5.3-11"}}) = [](Scene& scene) {
    Conversation& by = scene.connect({.wish = {.receives = 0}});
    expect_no_buffer(by, by.make().send({}));
  };

  // DDP-5.1.2-01: QN selects the receive queue and MSN identifies the buffer inside that queue.
  cases.add({.name = "untagged-one-receive",
             .clause = "DDP-5.1.2-01",
             .what = "Sends that share one receive, posted again each time, are all taken.",
             .needs = kOrders}) = [](Scene& scene) {
    // Each answer shows that the receive is posted again. A Send before that may be refused (RFC 5041 section 7.1).
    Conversation& by = scene.connect({.wish = {.receives = 1}});
    for (int i = 0; i < 4; ++i) scene.expect_alive(by);
  };

  // DDP-5.3-07: Messages are delivered to the ULP in the order the Data Source sent them.
  cases.add({.name = "untagged-order",
             .clause = "DDP-5.3-07",
             .what = "Four Sends land in four receives in the order of posting.",
             .needs = kReport | kRegions,
             .also = {"DDP-5.1.2-01", "DDP-5.4-02", "RDMAP-5.3-02", "RDMAP-5.3-05", "RDMAP-5.5-10", "SEC-2.3.5-01",
                      "RDMAP-B-01"}}) = [](Scene& scene) {
    Conversation& by = scene.connect();
    const auto before = scene.report(by);
    const std::uint32_t first = before.receives_done % scene.advert().receives;
    for (std::uint8_t i = 0; i < 4; ++i) by.send_ulpdu(by.make().send(pattern(16, static_cast<std::uint8_t>(10 * i))));
    const Region receives = scene.region(Region::kReceives, Region::kRead);
    for (std::uint8_t i = 0; i < 4; ++i) {
      const std::size_t index = (first + i) % scene.advert().receives;
      if (scene.read_back(by, receives, index * scene.advert().receive_size, 16) !=
          pattern(16, static_cast<std::uint8_t>(10 * i)))
        fail(fmt::format("Send {} of four did not land in the receive of its turn", i + 1));
    }
    if (scene.report(by).receives_done != before.receives_done + 5) fail("four Sends did not complete four receives");
  };

  // DDP-5.4-03: A message is not delivered while any of these is missing: L=1 on final segment, placement of all own
  // segments, placement of all earlier messages, delivery of all earlier messages.
  cases.add({.name = "untagged-no-last-segment",
             .clause = "DDP-5.4-03",
             .what = "A Send whose last segment is missing is not delivered; when it comes, it is.",
             .needs = kReport | kSessions,
             .also = {"DDP-4.1-10", "DDP-4.1-09", "DDP-5.4-02", "RDMAP-5.5-20"}}) = [](Scene& scene) {
    Conversation& by = scene.connect();
    const auto before = scene.report(by);
    by.send_ulpdu(by.make().send_segment(pattern(8), 0, false));
    by.send_ulpdu(by.make().send_segment(pattern(8), 8, false));
    if (scene.report().receives_done != before.receives_done + 1)
      fail("a Send whose last segment has not come was delivered");
    by.send_ulpdu(by.make().send_segment(pattern(8, 41), 16, true));
    const auto after = scene.report(by);
    if (after.receives_done < before.receives_done + 3) fail("a Send was not delivered when its last segment had come");
  };

  // DDP-4.4-02: A DDP segment may have no ULP payload.
  cases.add({.name = "untagged-zero-length",
             .clause = "DDP-4.4-02",
             .what = "A Send of no octets, and one whose last segment has none, complete a receive each.",
             .needs = kReport,
             .also = {"RDMAP-5.3-10", "RDMAP-5.3-11", "DDP-5.4-05"}}) = [](Scene& scene) {
    Conversation& by = scene.connect();
    const auto before = scene.report(by);
    by.send_ulpdu(by.make().send({}));
    by.send_ulpdu(by.make().send_segment(pattern(8), 0, false));
    by.send_ulpdu(by.make().send_segment({}, 8, true));
    if (scene.report(by).receives_done != before.receives_done + 3)
      fail("a Send of no octets, and one whose last segment has none, did not complete a receive each");
  };

  // DDP-4.3-07: The Data Sink need not verify that RsvdULP is equal in all segments of an untagged message.
  cases.add({.name = "untagged-rsvdulp-differs",
             .clause = "DDP-4.3-07",
             .what = "RsvdULP differs between the segments of a Send: delivered, or refused by a Terminate.",
             .needs = kReceives,
             .also = {"DDP-4.3-08"}}) = [](Scene& scene) {
    Conversation& by = scene.connect();
    by.send_ulpdu(by.make().send_segment(pattern(8), 0, false, rdmap::Opcode::kSend, {1}));
    by.send_ulpdu(by.make().send_segment(pattern(8), 8, true, rdmap::Opcode::kSend, {2}));
    PeerFpdu fpdu;
    const Came came = by.next(fpdu, scene.quiet());
    if (came == Came::kNothing) return scene.expect_alive(by);
    if (came != Came::kFpdu || !fpdu.is(rdmap::Opcode::kTerminate)) fail("the stream ended without a Terminate");
  };
}

}  // namespace weft::probe
