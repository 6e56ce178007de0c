// SPDX-License-Identifier: Apache-2.0
// Terminate, RFC 5040 sections 4.8 and 7: what the peer makes of ours. What its own look like is asserted wherever it
// sends one.
#include <thread>

#include "probe/cases/steps.hpp"

namespace weft::probe {
namespace terminates_cases {
namespace {

// A Terminate ends the stream and is not answered by another one.
void expect_end_without_answer(Scene& scene, Conversation& by) {
  PeerFpdu fpdu;
  const auto next = [&](Duration limit) {
    Came came{};
    while ((came = by.next_any(fpdu, limit)) == Came::kFpdu) {
      if (fpdu.is(rdmap::Opcode::kTerminate)) fail("a Terminate was answered by a Terminate");
    }
    return came;
  };
  if (next(std::max(scene.patience() / 10, scene.quiet())) != Came::kNothing) return;
  by.shut();  // it may wait for our FIN
  if (next(scene.patience()) == Came::kNothing) fail("the connection was still open, and had to end: a Terminate came");
}

rdmap::Terminate of(const rdmap::ErrorCode& error) { return rdmap::make_terminate(error); }

}  // namespace
}  // namespace terminates_cases

void add_terminates_cases(Cases& cases) {
  using namespace terminates_cases;
  // RDMAP-5.4-06: A Terminate is delivered to the RDMAP layer of the Remote Peer.
  cases.add({.name = "terminate-each-error",
             .clause = "RDMAP-5.4-06",
             .what = "Terminates of thirteen errors: each ends the stream, and none is answered by a Terminate.",
             .needs = kStream,
             .also = {"RDMAP-7-01"}}) = [](Scene& scene) {
    for (const rdmap::ErrorCode& error :
         {kBadCrc, kMarkerMismatch, kTaggedStag, kTaggedBounds, kQueue, kTooLong, kReadStag, kReadRights,
          kCannotInvalidate, kVersion, kOpcode, kStreamError, rdmap::kLocalCatastrophic}) {
      Conversation& by = scene.connect();
      by.send_ulpdu(by.make().terminate(of(error)));
      expect_end_without_answer(scene, by);
    }
  };

  // RDMAP-5.4-06: A Terminate is delivered to the RDMAP layer of the Remote Peer.
  cases.add({.name = "terminate-is-told",
             .clause = "RDMAP-5.4-06",
             .what = "A Terminate of 1/1/01: the peer's program is notified.",
             .needs = kReport | kSessions}) = [](Scene& scene) {
    // The peer's program is told which error it was.
    Conversation& by = scene.connect();
    by.send_ulpdu(by.make().terminate(of(kTaggedBounds)));
    expect_end_without_answer(scene, by);
    if (scene.report().terminate_received != 0x01010101)
      fail("the peer does not say that it got a Terminate of 1/1/01");
  };

  // RDMAP-5.4-04: The receiving RDMAP guarantees placement of a single Terminate per RDMAP Stream.
  cases.add({.name = "terminate-without-receive",
             .clause = "RDMAP-5.4-04",
             .what = "A Terminate needs no posted receive.",
             .needs = kOrders}) = [](Scene& scene) {
    Conversation& by = scene.connect({.wish = {.receives = 0}});
    by.send_ulpdu(by.make().terminate(of(kOpcode)));
    expect_end_without_answer(scene, by);
  };

  // RDMAP-4.8-12: The 13 Reserved bits of the Terminate header are ignored on receive.
  cases.add({.name = "terminate-reserved-bits",
             .clause = "RDMAP-4.8-12",
             .what = "A Terminate with its reserved bits set is still a Terminate.",
             .needs = kStream}) = [](Scene& scene) {
    // The 13 reserved bits are ignored: error and headers are read all the same.
    Conversation& by = scene.connect();
    auto ulpdu = by.make().terminate(of(kTaggedStag));
    const std::size_t control = ddp::UntaggedLayout::kSize;
    ulpdu[control + 2] |= std::byte{0x1F};
    ulpdu[control + 3] = std::byte{0xFF};
    by.send_ulpdu(ulpdu);
    expect_end_without_answer(scene, by);
    if (scene.offers(kReport | kSessions) && scene.report().terminate_received == 0)
      fail("a Terminate with reserved bits set was not taken for one");
  };

  // RDMAP-5.4-06: A Terminate is delivered to the RDMAP layer of the Remote Peer.
  cases.add({.name = "terminate-strange",
             .clause = "RDMAP-5.4-06",
             .what = "Terminates of an error that no registry has, and of headers that do not follow, end the stream.",
             .needs = kStream}) = [](Scene& scene) {
    // An error that no registry has, and one that says that headers follow, which do not.
    Conversation& unknown = scene.connect();
    unknown.send_ulpdu(unknown.make().terminate(of({static_cast<rdmap::Layer>(15), 15, 0xFE})));
    expect_end_without_answer(scene, unknown);
    Conversation& cut = scene.connect();
    auto ulpdu = cut.make().terminate(of(kTaggedStag));
    ulpdu[ddp::UntaggedLayout::kSize + 2] = std::byte{0xE0};
    cut.send_ulpdu(ulpdu);
    expect_end_without_answer(scene, cut);
  };

  // RDMAP-5.4-08: An invalid Terminate is surfaced as an error.
  cases.add({.name = "terminate-malformed",
             .clause = "RDMAP-5.4-08",
             .what = "Terminates of two octets, with MSN 2 and with MO 8 end the stream.",
             .needs = kStream,
             .also = {"RDMAP-7.2-01"}}) = [](Scene& scene) {
    // A Terminate that is none: too short, or with a wrong place on its queue. The stream ends, by whichever error.
    for (int kind = 0; kind < 3; ++kind) {
      Conversation& by = scene.connect();
      auto ulpdu = by.make().terminate(of(kOpcode));
      if (kind == 0) ulpdu.resize(ddp::UntaggedLayout::kSize + 2);
      if (kind == 1) ddp::UntaggedLayout::MsnField::put(ulpdu, 2);
      if (kind == 2) ddp::UntaggedLayout::MoField::put(ulpdu, 8);
      by.send_ulpdu(ulpdu);
      by.expect_end_sometime("a malformed Terminate came", scene.patience());
    }
  };

  // RDMAP-5.4-06: A Terminate is delivered to the RDMAP layer of the Remote Peer.
  cases.add({.name = "terminate-then-write",
             .clause = "RDMAP-5.4-06",
             .what = "A Write after a Terminate has no effect.",
             .needs = kRegions | kSessions}) = [](Scene& scene) {
    Conversation& by = scene.connect();
    const Region region = scene.region(Region::kPlain, kReadWrite);
    Burst(by)
        .add(by.make().terminate(of(kOpcode)))
        .add(by.make().write(region.stag, region.offset, pattern(64)))
        .send();
    expect_end_without_answer(scene, by);
    scene.expect_untouched(region, 0, 64);
  };

  // RDMAP-7.1-05: If several errors occur before the Terminate is sent, it describes the first message in error.
  cases.add({.name = "terminate-names-first",
             .clause = "RDMAP-7.1-05",
             .what = "Two bad messages in one segment: the Terminate is about the first.",
             .needs = kStream,
             .also = {"RDMAP-4.8-07"}}) = [](Scene& scene) {
    Conversation& by = scene.connect();
    const auto first = by.make().write(kNoSuchStag, {0x1111}, pattern(8));
    const auto second = by.make().untagged(0x43, 9, pattern(8));
    Burst(by).add(first).add(second).send();
    by.expect_terminate({kTaggedStag}, first);
  };

  // RDMAP-5.4-10: No message follows a Terminate in the same direction of the stream.
  cases.add({.name = "terminate-is-last",
             .clause = "RDMAP-5.4-10",
             .what = "The peer has megabytes to write when a bad message comes: nothing follows its Terminate.",
             .needs = kOrders,
             .also = {"RDMAP-5.4-11"}}) = [](Scene& scene) {
    // The peer has much to send, and we take none of it, when the bad message comes: what it had not begun does not
    // follow the Terminate.
    Opening opening;
    opening.socket.receive_buffer = 4096;
    Conversation& by = scene.connect(opening);
    scene.order(by, {.operation = Order::kWrite, .count = 128, .length = 60000, .stag = Scene::kOwnStag});
    PeerFpdu first;
    if (by.next(first, scene.patience(), message_of(rdmap::Opcode::kWrite)) != Came::kFpdu)
      fail("the peer does not write");
    std::this_thread::sleep_for(scene.quiet());  // until its program has said it all, and TCP takes no more of it
    const auto bad = by.make().untagged(0x43, 9, pattern(8));
    by.send_ulpdu(bad);
    try {
      by.expect_terminate({kQueue}, bad, {kOpcode});
    } catch (const Judgement&) {
      // A peer may tear the connection down while its Terminate still waits to follow what it has written
      // (RDMAP-6.2.1-02, -04).
      if (by.exchange().reset)
        not_applicable("the peer had not sent what it had written before it closed the connection");
      throw;
    }
  };

  // RDMAP-7.1-03: For errors on incoming Write, Send types or Read Response a Terminate is sent as early as possible
  // with type, code, segment length and DDP header, and without (zero) RDMA header.
  cases.add({.name = "terminate-after-read",
             .clause = "RDMAP-7.1-03",
             .what = "A long Read and a bad Write in one segment: a Terminate about the Write, and nothing after it.",
             .needs = kRegions,
             .also = {"RDMAP-7-01", "RDMAP-6.2.1-01"}}) = [](Scene& scene) {
    // What was asked for before the error: the peer may still answer, or not, but never after the Terminate.
    Conversation& by = scene.connect();
    const Region region = scene.region(Region::kPlain, kReadWrite);
    const auto bad = by.make().write(kNoSuchStag, {0}, pattern(8));
    Burst(by).add(by.make().read_request(read_of(region.stag, region.offset, 60000))).add(bad).send();
    by.expect_terminate({kTaggedStag}, bad);
  };

  // RDMAP-4.8-41: An LLP error Terminate (Layer 2) has M=D=R=0 and can follow any message.
  cases.add({.name = "terminate-of-mpa",
             .clause = "RDMAP-4.8-41",
             .what = "A wrong CRC: Terminate 2/0/02, which quotes no header.",
             .needs = kStream,
             .also = {"RDMAP-IANA-3.3-02", "RDMAP-4.8-07"}}) = [](Scene& scene) {
    // An error of MPA quotes no header. A responder may send after the first good FPDU alone (MPA-7.1.2-17), so one
    // goes before.
    Conversation& by = scene.connect();
    by.expect_empty_read();
    const auto ulpdu = by.make().send(pattern(8));
    by.send_ulpdu(ulpdu, {.crc_xor = 1});
    by.expect_terminate_or_end({kBadCrc});
  };
}

}  // namespace weft::probe
