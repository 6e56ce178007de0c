// SPDX-License-Identifier: Apache-2.0
// Sends and invalidation, RFC 5040 section 5.3.
#include <fmt/format.h>

#include "probe/cases/steps.hpp"

namespace weft::probe {
namespace sends {
namespace {

// Of the stream, or of a window that is bound on it: the peer may invalidate it (RDMAP-5.3-14). Then no access works.
void invalidates(Scene& scene, Region::Kind kind, rdmap::Opcode opcode) {
  Conversation& by = scene.connect();
  scene.report(by);  // the window is bound by then
  const Region region = scene.region(kind, kAllRights);
  by.send_ulpdu(by.make().write(region.stag, region.offset, pattern(8)));
  by.send_ulpdu(by.make().send(pattern(4), opcode, region.stag));
  const PeerReport report = scene.report(by);
  if (report.receives_done < 3) fail("the Send with Invalidate did not complete a receive");
  const auto late = by.make().write(region.stag, region.offset, pattern(8, 50));
  by.send_ulpdu(late);
  by.expect_terminate({kTaggedStag, kTaggedNotAssociated}, late);
}
void invalidates_a_region(Scene& scene) { invalidates(scene, Region::kThisStream, rdmap::Opcode::kSendInvalidate); }
void invalidates_with_event(Scene& scene) {
  invalidates(scene, Region::kThisStream, rdmap::Opcode::kSendSolicitedInvalidate);
}
void invalidates_a_window(Scene& scene) { invalidates(scene, Region::kWindow, rdmap::Opcode::kSendInvalidate); }

// Reads of the invalidated STag fail, too.
void no_read_afterwards(Scene& scene) {
  Conversation& by = scene.connect();
  const Region region = scene.region(Region::kThisStream, kAllRights);
  by.send_ulpdu(by.make().send({}, rdmap::Opcode::kSendInvalidate, region.stag));
  const auto read = by.make().read_request(read_of(region.stag, region.offset, 8));
  by.send_ulpdu(read);
  by.expect_terminate({kReadStag, kReadNotAssociated}, read);
}

// The Terminate exists under two types (RFC 5040 section 4.8): figure 10 lists the invalidating Sends under protection errors.
const Errors kRefusals{kCannotInvalidate, kCannotInvalidateOperation, kReadStag, kReadNotAssociated};

void refused(Scene& scene, ddp::Stag stag) {
  Conversation& by = scene.connect();
  const auto ulpdu = by.make().send(pattern(4), rdmap::Opcode::kSendInvalidate, stag);
  by.send_ulpdu(ulpdu);
  by.expect_terminate(kRefusals, ulpdu);
}
void unknown_stag(Scene& scene) { refused(scene, kNoSuchStag); }

void of_another(Scene& scene, Region::Kind kind) {
  Conversation& by = scene.connect();
  const Region region = scene.region(kind, kind == Region::kPlain ? kReadWrite : kAllRights);
  const auto ulpdu = by.make().send(pattern(4), rdmap::Opcode::kSendInvalidate, region.stag);
  by.send_ulpdu(ulpdu);
  by.expect_terminate(kRefusals, ulpdu);
  if (kind != Region::kPlain) return;
  // It is shared by the streams of its domain, and still good for them.
  Conversation& other = scene.rejoin();
  other.send_ulpdu(other.make().write(region.stag, region.offset, pattern(4)));
  if (scene.read_back(other, region, 0, 4) != pattern(4))
    fail("an STag that several streams share was invalidated by one of them");
}
void other_domain(Scene& scene) { of_another(scene, Region::kForeign); }
void other_stream(Scene& scene) { of_another(scene, Region::kOtherStream); }
void shared_stag(Scene& scene) { of_another(scene, Region::kPlain); }

// What was written before the invalidation, on the stream, is placed.
void write_then_invalidate(Scene& scene) {
  Conversation& by = scene.connect();
  const Region region = scene.region(Region::kThisStream, kAllRights);
  Burst(by)
      .add(by.make().write(region.stag, region.offset, pattern(64)))
      .add(by.make().send(pattern(4), rdmap::Opcode::kSendInvalidate, region.stag))
      .send();
  scene.expect_alive(by);
}

// Each kind of Send completes a receive, and says what it is.
void kinds(Scene& scene) {
  Conversation& by = scene.connect();
  auto before = scene.report(by);
  for (const rdmap::Opcode opcode : {rdmap::Opcode::kSend, rdmap::Opcode::kSendSolicited}) {
    for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{3}, std::size_t{1024}}) {
      const auto octets = pattern(size, static_cast<std::uint8_t>(size));
      by.send_ulpdu(by.make().send(octets, opcode));
      expect_delivered(scene, by, octets, before);
      before.receives_done += 1;
    }
  }
}

// The peer looks at its receives on Solicited Events alone. The report, which is read as memory, tells when it has.
void raises_an_event(Scene& scene) {
  for (const bool invalidates : {false, true}) {
    Conversation& by = scene.connect({.wish = {.flags = Wish::kSolicitedOnly}});
    if (scene.advert().contract < 1) not_applicable("the peer's version of the contract has no Solicited Events");
    const Region own = scene.region(Region::kThisStream, kAllRights);
    by.send_ulpdu(by.make().send(pattern(8)));
    static_cast<void>(scene.read_back(by, own, 0, 8));
    by.expect_silence(scene.quiet(), "nothing was asked for");
    if (peek_until(scene, by, 0).receives_done != 0) fail("a Send without Solicited Event raised an event");
    by.send_ulpdu(invalidates ? by.make().send(pattern(8), rdmap::Opcode::kSendSolicitedInvalidate, own.stag)
                              : by.make().send(pattern(8), rdmap::Opcode::kSendSolicited));
    if (peek_until(scene, by, 2).receives_done != 2) fail("the event of a Send with Solicited Event was lost");
  }
}

// Several segments, cut where no boundary is.
void in_segments(Scene& scene) {
  Conversation& by = scene.connect();
  const auto before = scene.report(by);
  const auto octets = pattern(1000);
  std::size_t from = 0;
  for (const std::size_t size : {std::size_t{1}, std::size_t{0}, std::size_t{500}, std::size_t{7}, std::size_t{492}}) {
    by.send_ulpdu(by.make().send_segment(Bytes(octets).subspan(from, size), static_cast<std::uint32_t>(from),
                                         from + size == octets.size()));
    from += size;
  }
  expect_delivered(scene, by, octets, before);
}

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
void plain_of_the_peer(Scene& scene) { expect_sends(scene, Order::kSend, rdmap::Opcode::kSend); }
void solicited_of_the_peer(Scene& scene) { expect_sends(scene, Order::kSendSolicited, rdmap::Opcode::kSendSolicited); }
void invalidate_of_the_peer(Scene& scene) {
  expect_sends(scene, Order::kSendInvalidate, rdmap::Opcode::kSendInvalidate);
  expect_sends(scene, Order::kSendSolicitedInvalidate, rdmap::Opcode::kSendSolicitedInvalidate);
}

}  // namespace
}  // namespace sends

std::span<const Case> sends_cases() {
  using namespace sends;
  static const std::vector<Case> cases{
      {.name = "send-kinds",
       .clause = "RDMAP-5.3-02",
       .what = "Sends of each kind and of 0 to 1024 octets complete a receive each, with their true length.",
       .needs = kReport | kRegions,
       .run = kinds,
       .also = {"RDMAP-5.3-03", "RDMAP-5.3-06", "RDMAP-5.3-10", "RDMAP-2.4-03"}},
      {.name = "send-segments",
       .clause = "DDP-3-04",
       .what = "A Send in five segments, one of them empty, is delivered once and as a whole.",
       .needs = kReport | kRegions,
       .run = in_segments,
       .also = {"DDP-5.4-05", "DDP-5.4-02"}},
      {.name = "send-of-the-peer",
       .clause = "RDMAP-4.1-10",
       .what = "The peer sends 0 to 100,000 octets: the auditor judges each octet.",
       .needs = kOrders,
       .run = plain_of_the_peer,
       .also = {"MPA-4.1-02", "MPA-4.1-05"}},
      {.name = "send-solicited-of-the-peer",
       .clause = "RDMAP-4.1-12",
       .what = "The same as Sends with Solicited Event.",
       .needs = kOrders,
       .run = solicited_of_the_peer,
       .also = {"RDMAP-4.1-05"}},
      {.name = "send-invalidate-of-the-peer",
       .clause = "RDMAP-5.3-12",
       .what = "The same as Sends with Invalidate, without and with Solicited Event.",
       .needs = kOrders,
       .run = invalidate_of_the_peer,
       .also = {"RDMAP-4.1-11", "RDMAP-4.1-13", "RDMAP-4.1-03"}},
      {.name = "invalidate-region",
       .clause = "RDMAP-5.3-14",
       .what = "A Send with Invalidate of an STag of this stream: a Write to it afterwards is refused.",
       .needs = kOrders | kRegions,
       .run = invalidates_a_region,
       .also = {"RDMAP-1.2-02", "RDMAP-5.3-13"}},
      {.name = "send-event",
       .clause = "RDMAP-2.4-03",
       .what = "The peer waits for Solicited Events alone: a Send raises none, and one with Solicited Event does.",
       .needs = kOrders | kReport | kRegions,
       .run = raises_an_event,
       .also = {"RDMAP-5.3-06"}},
      {.name = "invalidate-with-event",
       .clause = "RDMAP-5.3-14",
       .what = "The same with Solicited Event.",
       .needs = kOrders | kRegions,
       .run = invalidates_with_event},
      {.name = "invalidate-window",
       .clause = "RDMAP-5.3-14",
       .what = "The same of a memory window that is bound on this stream.",
       .needs = kOrders | kRegions,
       .run = invalidates_a_window},
      {.name = "invalidate-then-read",
       .clause = "RDMAP-1.2-02",
       .what = "After the invalidation a Read of the STag is refused, too.",
       .needs = kReceives | kRegions,
       .run = no_read_afterwards},
      {.name = "invalidate-unknown",
       .clause = "RDMAP-5.3-15",
       .what = "A Send with Invalidate of an STag that does not exist: Terminate 0/1/09 (or 0/2/09).",
       .needs = kReceives,
       .run = unknown_stag,
       .also = {"RDMAP-7.2-07", "RDMAP-4.8-29", "RDMAP-4.8-35"}},
      {.name = "invalidate-other-domain",
       .clause = "RDMAP-7.2-08",
       .what = "A Send with Invalidate of an STag of another protection domain is refused.",
       .needs = kReceives | kRegions,
       .run = other_domain,
       .also = {"RDMAP-5.3-13", "RDMAP-5.3-15", "SEC-6.1.1-03"}},
      {.name = "invalidate-other-stream",
       .clause = "RDMAP-7.2-08",
       .what = "A Send with Invalidate of an STag of another stream is refused.",
       .needs = kReceives | kRegions,
       .run = other_stream,
       .also = {"RDMAP-5.3-13", "SEC-6.1.1-04"}},
      {.name = "invalidate-shared",
       .clause = "RDMAP-8.1.1-07",
       .what = "A Send with Invalidate of an STag that several streams share is refused, and the STag stays good for "
               "the others.",
       .needs = kReceives | kRegions | kSessions,
       .run = shared_stag},
      {.name = "invalidate-behind-write",
       .clause = "RDMAP-5.3-16",
       .what = "A Write, and in the same segment a Send that invalidates its STag: the Write was allowed.",
       .needs = kOrders | kRegions,
       .run = write_then_invalidate},
  };
  return cases;
}

}  // namespace weft::probe
