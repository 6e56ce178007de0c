// SPDX-License-Identifier: Apache-2.0
// Resources and rights, RFC 5042: what one peer may cost, and what it may not reach.
#include <fmt/format.h>

#include "probe/cases/steps.hpp"
#include "probe/socket.hpp"

namespace weft::probe {
void add_limits_cases(Cases& cases) {
  // SEC-6.2.1-02: The base and bounds check has octet granularity and is done on every access.
  cases.add({.name = "limit-window-bounds",
             .clause = "SEC-6.2.1-02",
             .what = "A memory window: its first and last octets can be written, one octet more on either side cannot.",
             .needs = kOrders | kRegions,
             .also = {"SEC-6.2.1-01", "DDP-8.3.1-04"}}) = [](Scene& scene) {
    // A window opens a part of its region, to the octet.
    for (const std::int64_t beyond : {-1L, 0L}) {
      Conversation& by = scene.connect();
      scene.report(by);  // it is bound by then
      const Region window = scene.region(Region::kWindow, kAllRights);
      by.send_ulpdu(by.make().write(window.stag, window.offset, pattern(16)));
      by.send_ulpdu(by.make().write(window.stag, at(window, std::int64_t{window.length} - 16), pattern(16)));
      scene.expect_alive(by);
      const auto from = at(window, beyond < 0 ? -1 : std::int64_t{window.length} - 15);
      expect_refused(by, by.make().write(window.stag, from, pattern(16)), bounds_errors(true, from, 16));
    }
  };

  // SEC-6.2.1-02: The base and bounds check has octet granularity and is done on every access.
  cases.add({.name = "limit-window-rights",
             .clause = "SEC-6.2.1-02",
             .what =
                 "Windows that can be read alone, or written alone, of a region with all rights: the other access is "
                 "refused.",
             .needs = kOrders | kRegions,
             .also = {"SEC-6.2.1-01", "DDP-8.3.1-04"}}) = [](Scene& scene) {
    // A window has fewer rights than its region: what the region allows and the window does not is refused.
    Conversation& readable = scene.connect();
    scene.report(readable);  // it is bound by then
    const Region reads = scene.region(Region::kWindow, Region::kRead);
    scene.read_back(readable, reads, 0, 16);
    const auto write = readable.make().write(reads.stag, reads.offset, pattern(16));
    expect_refused(readable, write, {kTaggedStag, kTaggedNotAssociated, kReadRights});

    Conversation& writable = scene.connect();
    scene.report(writable);
    const Region writes = scene.region(Region::kWindow, Region::kWrite);
    writable.send_ulpdu(writable.make().write(writes.stag, writes.offset, pattern(16)));
    scene.expect_alive(writable);
    const auto read = writable.make().read_request(read_of(writes.stag, writes.offset, 16));
    expect_refused(writable, read, {kReadRights});
  };

  // SEC-6.1.1-03: A stream of one PD cannot access an STag of another PD.
  cases.add({.name = "limit-other-domain-stream",
             .clause = "SEC-6.1.1-03",
             .what = "A stream of another protection domain writes to an STag that the first stream may use: refused.",
             .needs = kSessions | kRegions,
             .also = {"SEC-2.2.4-02", "DDP-8.3.1-02"}}) = [](Scene& scene) {
    // A queue pair of the session's other domain: what the first one may use, it may not.
    scene.connect();
    const Region region = scene.region(Region::kPlain, kReadWrite);
    Conversation& by = scene.rejoin({.wish = {.flags = Wish::kOtherDomain}});
    const auto write = by.make().write(region.stag, region.offset, pattern(8));
    expect_refused(by, write, {kTaggedNotAssociated, kTaggedStag});
    scene.expect_untouched(region, 0, 8);
  };

  // SEC-6.1.1-04: If an STag is limited to one stream, no other stream can use it.
  cases.add(
      {.name = "limit-stream-stag",
       .clause = "SEC-6.1.1-04",
       .what = "An STag of one stream is tried by another of the same domain: refused, and still good for its own.",
       .needs = kSessions | kRegions,
       .also = {"SEC-2.2.5-02", "DDP-8.3.1-03"}}) = [](Scene& scene) {
    // An STag of one stream is used by another stream of the same domain.
    Conversation& owner = scene.connect();
    const Region region = scene.region(Region::kThisStream, kAllRights);
    Conversation& by = scene.rejoin();
    const auto write = by.make().write(region.stag, region.offset, pattern(8));
    expect_refused(by, write, {kTaggedNotAssociated, kTaggedStag});
    owner.send_ulpdu(owner.make().write(region.stag, region.offset, pattern(8, 9)));
    if (scene.read_back(owner, region, 0, 8) != pattern(8, 9))
      fail("an STag was lost to its own stream when another one had tried it");
  };

  // SEC-6.1.1-01: Use of an STag not valid on the stream leads to denial, an error and termination of the offending
  // stream.
  cases.add(
      {.name = "limit-others-go-on",
       .clause = "SEC-6.1.1-01",
       .what = "Of sixteen streams (eight, of a peer that connects) every second one breaks a rule: the others go on.",
       .needs = kReceives}) = [](Scene& scene) {
    // Many streams of one peer: what one does wrong is its own end alone.
    std::vector<Conversation*> all;
    for (unsigned i = 0; i < scene.at_most(16); ++i) all.push_back(&scene.connect());
    for (std::size_t i = 0; i < all.size(); i += 2) {
      const auto bad = all[i]->make().write(kNoSuchStag, {0}, pattern(8));
      all[i]->send_ulpdu(bad);
      all[i]->expect_terminate({kTaggedStag}, bad);
    }
    for (std::size_t i = 1; i < all.size(); i += 2) scene.expect_alive(*all[i]);
  };

  // SEC-2.2.7-01: The asynchronous event queue is bounded and peers can cause events that could overflow it.
  cases.add({.name = "limit-many-errors",
             .clause = "SEC-2.2.7-01",
             .what = "Errors on 64 streams, one after the other, are each answered.",
             .needs = kStream}) = [](Scene& scene) {
    // Errors on many streams, one after the other: none is lost, none does harm.
    for (int i = 0; i < 64; ++i) {
      Conversation& by = scene.connect();
      const auto bad = by.make().untagged(0x43, 77, pattern(1));
      expect_refused(by, bad, {kQueue, kOpcode});
    }
  };

  // SEC-2.3.5-01: Untagged buffers are used in queue order; with a shared queue this holds per stream only.
  cases.add({.name = "limit-shared-receives",
             .clause = "SEC-2.3.5-01",
             .what = "Two streams take from one shared receive queue: all their Sends complete.",
             .needs = kSessions | kReport}) = [](Scene& scene) {
    const Opening shared{
        .wish = {.flags = Wish::kSharedReceives, .receives = 42}};  // none has to be posted again in time
    Conversation& one = scene.connect(shared);
    Conversation& two = scene.rejoin(shared);
    for (std::uint8_t i = 0; i < 20; ++i) {
      one.send_ulpdu(one.make().send(pattern(10, i)));
      two.send_ulpdu(two.make().send(pattern(20, i)));
    }
    const auto first = scene.report(one), second = scene.report(two);
    if (second.receives_done < 42)
      fail(fmt::format("of 42 Sends on two streams {} completed a shared receive",
                       std::max(first.receives_done, second.receives_done)));
  };

  // SEC-6.4.3.1-04: With an unshared queue a peer that sends too much only loses its own stream.
  cases.add({.name = "limit-own-receives",
             .clause = "SEC-6.4.3.1-04",
             .what = "A stream without receives is sent to: another stream goes on.",
             .needs = kSessions | kOrders}) = [](Scene& scene) {
    // One stream that uses up its own receives keeps no other from theirs.
    Conversation& greedy = scene.connect({.wish = {.receives = 0}});
    Conversation& other = scene.rejoin();
    greedy.send_ulpdu(greedy.make().send(pattern(4)));
    greedy.send_ulpdu(greedy.make().send(pattern(4)));
    scene.expect_alive(other);
  };

  // SEC-6.4.3.1-04: With an unshared queue a peer that sends too much only loses its own stream.
  cases.add(
      {.name = "limit-incomplete-messages",
       .clause = "SEC-6.4.3.1-04",
       .what = "32 streams (seven, of a peer that connects) with a message each that never ends: another one goes on.",
       .needs = kReceives}) = [](Scene& scene) {
    // Messages that never end: each keeps one receive, and no other stream suffers.
    Conversation& other = scene.connect();
    std::vector<Conversation*> all;
    for (unsigned i = 0; i + 1 < scene.at_most(33); ++i) {
      all.push_back(&scene.connect());
      all.back()->send_ulpdu(all.back()->make().send_segment(pattern(16), 0, false));
    }
    scene.expect_alive(other);
  };

  // RDMAP-4.8-21: If octets of the Read were already processed, the returned header has the original STags, SinkTO
  // and SrcTO advanced by the octets sent, and RDMARDSZ reduced to the octets left.
  cases.add(
      {.name = "limit-revoked-in-mid-read",
       .clause = "RDMAP-4.8-21",
       .what = "Memory is revoked while Reads of it are answered: Terminate 0/1/00 quotes what is left of the Read.",
       .needs = kOrders | kRegions | kSessions,
       .also = {"SEC-6.2.2-02"}}) = [](Scene& scene) {
    // Memory is revoked while Reads of it are answered, and what was answered is not read for a while. The Terminate
    // quotes what is left of the Read that it stopped.
    constexpr std::uint32_t kSize = 65000;
    constexpr std::uint16_t kReads = 128;
    Conversation& other = scene.connect();
    Conversation& by = scene.rejoin({.socket = {.receive_buffer = 4096},
                                     .start_up = {.enhanced = mpa::EnhancedData{.ird = 16, .ord = kReads}},
                                     .wish = {.ird = kReads}});
    if (scene.advert().ird < kReads)
      not_applicable("the peer takes too few Reads at a time to have Responses wait while memory is revoked");
    const Region region = scene.region(Region::kPlain, kReadWrite);
    const auto asked = read_of(region.stag, region.offset, kSize);
    Burst all(by);
    for (int i = 0; i < kReads; ++i) all.add(by.make().read_request(asked));
    all.send();
    scene.order(other, {.operation = Order::kRevoke, .flags = Order::kAnswer, .stag = region.stag});
    by.socket().set({.receive_buffer = 1 << 20});  // the rest may come fast
    std::uint32_t got = 0;
    PeerFpdu fpdu;
    for (int whole = 0;;) {
      if (by.next(fpdu, scene.patience(), message_of(rdmap::Opcode::kReadResponse)) != Came::kFpdu)
        fail("the stream ended without a Terminate in mid-Read");
      if (fpdu.is(rdmap::Opcode::kTerminate)) break;
      got = fpdu.last() ? 0 : got + static_cast<std::uint32_t>(fpdu.payload().size());
      if (fpdu.last() && ++whole == kReads)
        not_applicable("the peer had all Responses ready before the memory was revoked");
    }
    const auto said = rdmap::parse_terminate(fpdu.payload());
    if (!said) fail("a Terminate came that is too short");
    const auto& terminate = said->meant();
    if (terminate.error != kReadStag) fail("the Terminate names another error than that the STag is invalid");
    if (!terminate.read_request) fail("the Terminate has no copy of the Read Request's header");
    if (*terminate.read_request != rdmap::remainder(asked, got))
      fail(fmt::format("the Terminate quotes a Read of {} octets; {} of {} were sent", terminate.read_request->size,
                       got, kSize));
  };

  // SEC-6.4.1-03: The PRM can detect and refuse an excessive number of streams from one Remote Peer.
  cases.add({.name = "limit-silent-connections",
             .clause = "SEC-6.4.1-03",
             .what = "200 connections that send half a Request or nothing: an honest peer still comes in.",
             .needs = kListens | kStream}) = [](Scene& scene) {
    // Half a Request each, many of them: an honest peer still comes in.
    const auto request = forge(mpa::FrameKind::kRequest, {});
    static_cast<void>(scene.at_most(2));  // else it does not apply
    for (int i = 0; i < 200; ++i) {
      Conversation& by = scene.dial();
      by.exchange().prober_breaks_startup = true;
      if (i % 2 != 0) by.send(Bytes(request).first(10));
    }
    scene.connect();
  };
}

}  // namespace weft::probe
