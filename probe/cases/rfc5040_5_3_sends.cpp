// SPDX-License-Identifier: Apache-2.0
// Sends and invalidation, RFC 5040 section 5.3.
#include <fmt/format.h>

#include "probe/cases/steps.hpp"

namespace weft::probe {
namespace sends_cases {
namespace {

// Invalidates an STag of the stream, or of a window that is bound on it (RDMAP-5.3-14). Afterwards no access works.
void invalidates(Scene& scene, Region::Kind kind, rdmap::Opcode opcode) {
  Conversation& by = scene.connect();
  scene.report(by);  // the window is bound by then
  const Region region = scene.region(kind, kAllRights);
  by.send_ulpdu(by.make().write(region.stag, region.offset, pattern(8)));
  // It is valid until the Send is delivered, and so between the segments.
  by.send_ulpdu(by.make().send_segment(pattern(2), 0, false, opcode, region.stag));
  by.send_ulpdu(by.make().write(region.stag, region.offset, pattern(8, 20)));
  if (scene.read_back(by, region, 0, 8) != pattern(8, 20))
    fail("a Write before the last segment of a Send with Invalidate was lost");
  by.send_ulpdu(by.make().send_segment(pattern(2), 2, true, opcode, region.stag));
  const PeerReport report = scene.report(by);
  if (report.receives_done < 3) fail("the Send with Invalidate did not complete a receive");
  const auto late = by.make().write(region.stag, region.offset, pattern(8, 50));
  expect_refused(by, late, {kTaggedStag, kTaggedNotAssociated});
}

// The Terminate exists under two types (RFC 5040 section 4.8): figure 10 lists the invalidating Sends under protection
// errors.
const Errors kRefusals{kCannotInvalidate, kCannotInvalidateOperation, kReadStag, kReadNotAssociated};

void refused(Scene& scene, ddp::Stag stag) {
  Conversation& by = scene.connect();
  const auto ulpdu = by.make().send(pattern(4), rdmap::Opcode::kSendInvalidate, stag);
  expect_refused(by, ulpdu, kRefusals);
}

void of_another(Scene& scene, Region::Kind kind) {
  Conversation& by = scene.connect();
  const Region region = scene.region(kind, kind == Region::kPlain ? kReadWrite : kAllRights);
  const auto ulpdu = by.make().send(pattern(4), rdmap::Opcode::kSendInvalidate, region.stag);
  expect_refused(by, ulpdu, kRefusals);
  if (kind != Region::kPlain) return;
  // It is shared by the streams of its domain, and still good for them.
  Conversation& other = scene.rejoin();
  other.send_ulpdu(other.make().write(region.stag, region.offset, pattern(4)));
  if (scene.read_back(other, region, 0, 4) != pattern(4))
    fail("an STag that several streams share was invalidated by one of them");
}

constexpr std::uint16_t kLargestReceive = 4096;  // of the contract

// The peer's own, at every size that is an edge, for the auditor to judge.
void expect_sends(Scene& scene, std::uint8_t kind, rdmap::Opcode opcode) {
  Conversation& by = scene.connect();
  for (const std::uint32_t size : {0U, 1U, 5U, 1460U, 9000U, 100000U}) {
    scene.order(by, {.operation = kind, .length = size, .stag = Scene::kOwnStag});
    by.expect_whole(opcode, size, {}, [&](const PeerFpdu& fpdu) {
      if (rdmap::row(opcode).invalidates && ddp::UntaggedLayout::RsvdUlpWord::get(fpdu.ulpdu) != Scene::kOwnStag.value)
        fail("the peer's Send with Invalidate names another STag than it was told");
    });
  }
}

}  // namespace
}  // namespace sends_cases

void add_sends_cases(Cases& cases) {
  using namespace sends_cases;
  // RDMAP-5.3-02: Each Send type message consumes one untagged buffer.
  cases.add({.name = "send-kinds",
             .clause = "RDMAP-5.3-02",
             .what = "Sends of each kind and of 0 to 4096 octets complete a receive each, with their true length.",
             .needs = kReport | kRegions,
             .also = {"RDMAP-5.3-03", "RDMAP-5.3-06", "RDMAP-5.3-10", "RDMAP-2.4-03"}}) = [](Scene& scene) {
    // Each kind of Send completes a receive, and says what it is.
    Conversation& by = scene.connect({.wish = {.receive_size = kLargestReceive}});
    auto before = scene.report(by);
    for (const rdmap::Opcode opcode : {rdmap::Opcode::kSend, rdmap::Opcode::kSendSolicited}) {
      for (const std::size_t size : {0U, 1U, 3U, 1024U, 2500U, 4096U}) {
        if (size > scene.advert().receive_size) continue;
        const auto octets = pattern(size, static_cast<std::uint8_t>(size));
        by.send_ulpdu(by.make().send(octets, opcode));
        expect_delivered(scene, by, octets, before);
        before.receives_done += 1;
      }
    }
  };

  // DDP-3-04: The LLP preserves DDP segment and message boundaries up to the Data Sink.
  cases.add({.name = "send-segments",
             .clause = "DDP-3-04",
             .what = "A Send in five segments, one of them empty, is delivered once and as a whole.",
             .needs = kReport | kRegions,
             .also = {"DDP-5.4-05", "DDP-5.4-02"}}) = [](Scene& scene) {
    // Several segments, cut where no boundary is.
    Conversation& by = scene.connect({.wish = {.receive_size = kLargestReceive}});
    const auto before = scene.report(by);
    const std::size_t most = std::max<std::size_t>(scene.advert().receive_size, 16), half = most / 2;
    const auto octets = pattern(most);
    std::size_t from = 0;
    for (const std::size_t size : {std::size_t{1}, std::size_t{0}, half, std::size_t{7}, most - half - 8}) {
      by.send_ulpdu(by.make().send_segment(Bytes(octets).subspan(from, size), static_cast<std::uint32_t>(from),
                                           from + size == octets.size()));
      from += size;
    }
    expect_delivered(scene, by, octets, before);
  };

  // RDMAP-4.1-10: Opcode 0011b (0x3) is Send: T=0, QN=0, Invalidate STag field zero.
  cases.add({.name = "send-of-the-peer",
             .clause = "RDMAP-4.1-10",
             .what = "The peer sends 0 to 100,000 octets: the auditor judges each octet.",
             .needs = kOrders,
             .also = {"MPA-4.1-02", "MPA-4.1-05"}}) = [](Scene& scene) {
    expect_sends(scene, Order::kSend, rdmap::Opcode::kSend);
  };

  // RDMAP-4.1-12: Opcode 0101b (0x5) is Send with Solicited Event: T=0, QN=0, Invalidate STag field zero.
  cases.add({.name = "send-solicited-of-the-peer",
             .clause = "RDMAP-4.1-12",
             .what = "The same as Sends with Solicited Event.",
             .needs = kOrders,
             .also = {"RDMAP-4.1-05"}}) = [](Scene& scene) {
    expect_sends(scene, Order::kSendSolicited, rdmap::Opcode::kSendSolicited);
  };

  // RDMAP-5.3-12: An invalidating Send names an STag, passed to DDP with the RDMAP control field.
  cases.add({.name = "send-invalidate-of-the-peer",
             .clause = "RDMAP-5.3-12",
             .what = "The same as Sends with Invalidate, without and with Solicited Event.",
             .needs = kOrders,
             .also = {"RDMAP-4.1-11", "RDMAP-4.1-13", "RDMAP-4.1-03"}}) = [](Scene& scene) {
    expect_sends(scene, Order::kSendInvalidate, rdmap::Opcode::kSendInvalidate);
    expect_sends(scene, Order::kSendSolicitedInvalidate, rdmap::Opcode::kSendSolicitedInvalidate);
  };

  // RDMAP-5.3-14: If the STag is associated with the stream RDMAP invalidates it.
  cases.add({.name = "invalidate-region",
             .clause = "RDMAP-5.3-14",
             .what = "A Send with Invalidate of an STag of this stream: a Write to it afterwards is refused.",
             .needs = kOrders | kRegions,
             .also = {"RDMAP-1.2-02", "RDMAP-5.3-13"}}) = [](Scene& scene) {
    invalidates(scene, Region::kThisStream, rdmap::Opcode::kSendInvalidate);
  };

  // RDMAP-2.4-03: A Solicited Event is raised only if the receiver is configured for it and only by Send with SE or
  // Send with SE and Invalidate.
  cases.add({.name = "send-event",
             .clause = "RDMAP-2.4-03",
             .what = "The peer waits for Solicited Events alone: a Send raises none, and one with Solicited Event "
                     "does; so Immediate Data, where "
                     "the peer has RFC 7306.",
             .needs = kOrders | kReport | kRegions,
             .also = {"RDMAP-5.3-06", "RDMAPX-6.1-02"}}) = [](Scene& scene) {
    // The peer looks at its receives on Solicited Events alone. The report, which is read as memory, tells when it has.
    // One connection after the other: those of a peer may share a completion queue.
    using rdmap::Opcode;
    for (const Opcode solicited :
         {Opcode::kSendSolicited, Opcode::kSendSolicitedInvalidate, Opcode::kImmediateSolicited}) {
      const bool immediate = rdmap::is_immediate(solicited);
      if (immediate && !scene.offers(kAtomics)) continue;
      Conversation& by = scene.connect({.wish = {.flags = Wish::kSolicitedOnly}});
      if (scene.advert().contract < 1) not_applicable("the peer's version of the contract has no Solicited Events");
      const Region own = scene.region(Region::kThisStream, kAllRights);
      by.send_ulpdu(immediate ? by.make().immediate(1) : by.make().send(pattern(8)));
      static_cast<void>(scene.read_back(by, own, 0, 8));
      by.expect_silence(scene.quiet(), "nothing was asked for");
      const std::string_view what = immediate ? "Immediate Data" : "a Send";
      if (peek_until(scene, by, 0).receives_done != 0)
        fail(fmt::format("{} without Solicited Event raised an event", what));
      const bool invalidates = solicited == Opcode::kSendSolicitedInvalidate;
      by.send_ulpdu(immediate ? by.make().immediate(2, true)
                              : by.make().send(pattern(8), solicited, invalidates ? own.stag : ddp::Stag{}));
      if (peek_until(scene, by, 2).receives_done != 2)
        fail(fmt::format("the event of {} with Solicited Event was lost", what));
    }
  };

  // RDMAP-5.3-14: If the STag is associated with the stream RDMAP invalidates it.
  cases.add({.name = "invalidate-with-event",
             .clause = "RDMAP-5.3-14",
             .what = "The same with Solicited Event.",
             .needs = kOrders | kRegions}) = [](Scene& scene) {
    invalidates(scene, Region::kThisStream, rdmap::Opcode::kSendSolicitedInvalidate);
  };

  // RDMAP-5.3-14: If the STag is associated with the stream RDMAP invalidates it.
  cases.add({.name = "invalidate-window",
             .clause = "RDMAP-5.3-14",
             .what = "The same of a memory window that is bound on this stream.",
             .needs = kOrders | kRegions}) = [](Scene& scene) {
    invalidates(scene, Region::kWindow, rdmap::Opcode::kSendInvalidate);
  };

  // RDMAP-1.2-02: After a Send with Invalidate is placed and delivered, the named STag cannot be accessed remotely
  // until the ULP enables and advertises it again.
  cases.add({.name = "invalidate-then-read",
             .clause = "RDMAP-1.2-02",
             .what = "After the invalidation a Read of the STag is refused, too.",
             .needs = kReceives | kRegions}) = [](Scene& scene) {
    // Reads of the invalidated STag fail, too.
    Conversation& by = scene.connect();
    const Region region = scene.region(Region::kThisStream, kAllRights);
    by.send_ulpdu(by.make().send({}, rdmap::Opcode::kSendInvalidate, region.stag));
    const auto read = by.make().read_request(read_of(region.stag, region.offset, 8));
    expect_refused(by, read, {kReadStag, kReadNotAssociated});
  };

  // RDMAP-5.3-15: If the STag is not associated with the stream RDMAP issues a Terminate with code 'STag cannot be
  // invalidated'.
  cases.add({.name = "invalidate-unknown",
             .clause = "RDMAP-5.3-15",
             .what = "A Send with Invalidate of an STag that does not exist: Terminate 0/1/09 (or 0/2/09).",
             .needs = kReceives,
             .also = {"RDMAP-7.2-07", "RDMAP-4.8-29", "RDMAP-4.8-35"}}) = [](Scene& scene) {
    refused(scene, kNoSuchStag);
  };

  // RDMAP-7.2-08: On incoming invalidating Sends the STag is checked to be associated with this stream.
  cases.add({.name = "invalidate-other-domain",
             .clause = "RDMAP-7.2-08",
             .what = "A Send with Invalidate of an STag of another protection domain is refused.",
             .needs = kReceives | kRegions,
             .also = {"RDMAP-5.3-13", "RDMAP-5.3-15", "SEC-6.1.1-03"}}) = [](Scene& scene) {
    of_another(scene, Region::kForeign);
  };

  // RDMAP-7.2-08: On incoming invalidating Sends the STag is checked to be associated with this stream.
  cases.add({.name = "invalidate-other-stream",
             .clause = "RDMAP-7.2-08",
             .what = "A Send with Invalidate of an STag of another stream is refused.",
             .needs = kReceives | kRegions,
             .also = {"RDMAP-5.3-13", "SEC-6.1.1-04"}}) = [](Scene& scene) { of_another(scene, Region::kOtherStream); };

  // RDMAP-8.1.1-07: A Remote Peer cannot invalidate an STag that is enabled for remote access and shared on several
  // streams.
  cases.add({.name = "invalidate-shared",
             .clause = "RDMAP-8.1.1-07",
             .what =
                 "A Send with Invalidate of an STag that several streams share is refused, and the STag stays good for "
                 "the others.",
             .needs = kReceives | kRegions | kSessions}) = [](Scene& scene) { of_another(scene, Region::kPlain); };

  // RDMAP-5.3-16: Invalidation takes effect when the message is delivered, not when it is placed.
  cases.add({.name = "invalidate-behind-write",
             .clause = "RDMAP-5.3-16",
             .what = "A Write, and in the same segment a Send that invalidates its STag: the Write was allowed.",
             .needs = kOrders | kRegions}) = [](Scene& scene) {
    // What was written before the invalidation, on the stream, is placed.
    Conversation& by = scene.connect();
    const Region region = scene.region(Region::kThisStream, kAllRights);
    Burst(by)
        .add(by.make().write(region.stag, region.offset, pattern(64)))
        .add(by.make().send(pattern(4), rdmap::Opcode::kSendInvalidate, region.stag))
        .send();
    scene.expect_alive(by);
  };
}

}  // namespace weft::probe
