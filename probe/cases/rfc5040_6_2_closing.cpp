// SPDX-License-Identifier: Apache-2.0
// The end of a stream, RFC 5040 section 6 and RFC 5041 section 6.2: graceful, half, and in the middle of something.
#include "probe/cases/steps.hpp"

namespace weft::probe {
namespace closing_cases {
namespace {

// Whether the peer or something on the path made it cannot be seen, nor whether the peer's program asked for it.
constexpr const char* kReset = "the connection ended by a reset, where the end was graceful and a FIN was due";

// The peer was told to end.
void expect_graceful_end(Scene& scene, Conversation& by) {
  PeerFpdu fpdu;
  switch (by.next(fpdu, scene.patience())) {
    case Came::kFin: return;
    case Came::kReset: warn(kReset);
    case Came::kNothing: fail("the peer was told to disconnect, and the connection stayed open");
    case Came::kFpdu: fail("an FPDU came, and nothing was asked for");
  }
}

}  // namespace
}  // namespace closing_cases

void add_closing_cases(Cases& cases) {
  using namespace closing_cases;
  // RDMAP-6.2-02: Graceful termination is the job of the ULP; afterwards either side may close the LLP gracefully.
  cases.add({.name = "close-graceful",
             .clause = "RDMAP-6.2-02",
             .what = "Our FIN between two messages is answered by a FIN, without a Terminate.",
             .needs = kStream}) = [](Scene& scene) {
    Conversation& by = scene.connect();
    scene.expect_alive(by);
    by.shut();
    PeerFpdu fpdu;
    const Came came = by.next(fpdu, scene.patience());
    if (came == Came::kFpdu && fpdu.is(rdmap::Opcode::kTerminate)) fail("a graceful end was answered by a Terminate");
    if (came == Came::kNothing) fail("the peer does not close after our FIN");
    if (came == Came::kReset) warn(kReset);
  };

  // DDP-6.2.1-06: With half-close support, DDP continues to process outbound requests after the peer's graceful
  // close.
  cases.add({.name = "close-with-read",
             .clause = "DDP-6.2.1-06",
             .what = "A Read and then our FIN: the Response still comes (a SHOULD).",
             .needs = kRegions}) = [](Scene& scene) {
    // What was asked for before the FIN is still answered: SHOULD, where TCP can close by halves.
    Conversation& by = scene.connect();
    const Region region = scene.region(Region::kPlain, kReadWrite);
    by.send_ulpdu(by.make().read_request(read_of(region.stag, region.offset, 60000)));
    by.shut();
    try {
      by.expect_read_response(Scene::kOwnStag, {0x10000}, 60000);
    } catch (const Judgement& judgement) {
      warn(std::string("a Read that was asked for before our FIN was not answered: ") + judgement.what());
    }
    by.expect_end_sometime("both ends have closed", scene.patience());
  };

  // MPA-8-01: Error 1 is detected: TCP connection closed, terminated or lost, by timeout, excessive retries, RST or
  // FIN.
  cases.add({.name = "close-inside-fpdu",
             .clause = "MPA-8-01",
             .what = "FIN and RST inside an FPDU: the connection ends, and nothing of the FPDU is placed.",
             .needs = kRegions | kSessions | kReport,
             .also = {"DDP-6.2.2-02", "RDMAP-IANA-3.3-01"}}) = [](Scene& scene) {
    // In the middle of an FPDU: an error, and no octet of it is placed.
    for (const bool by_reset : {true, false}) {
      Conversation& by = scene.connect();
      const Region region = scene.region(Region::kPlain, kReadWrite);
      const auto fpdu = by.fpdu(by.make().write(region.stag, region.offset, pattern(400)));
      by.send(Bytes(fpdu).first(fpdu.size() - 3));
      if (by_reset)
        by.reset();
      else
        by.shut();
      if (!by_reset) by.expect_end_sometime("our direction has ended inside an FPDU", scene.patience());
      scene.expect_untouched(region, 0, 400);
      if (!by_reset && scene.report().terminate_sent == 0)
        warn("the peer's program was not told that the stream ended inside an FPDU: no code came with it (MPA-8-05)");
    }
  };

  // DDP-5.4-03: A message is not delivered while any of these is missing: L=1 on final segment, placement of all own
  // segments, placement of all earlier messages, delivery of all earlier messages.
  cases.add({.name = "close-inside-message",
             .clause = "DDP-5.4-03",
             .what = "FIN after the first segment of a Send: it is never delivered.",
             .needs = kReport | kSessions}) = [](Scene& scene) {
    // In the middle of a message, between two FPDUs: it is never delivered.
    Conversation& by = scene.connect();
    const auto before = scene.report(by);
    by.send_ulpdu(by.make().send_segment(pattern(8), 0, false));
    by.shut();
    by.expect_end_sometime("our direction has ended", scene.patience());
    if (scene.report().receives_done != before.receives_done + 1) fail("a Send whose end never came was delivered");
  };

  // RDMAP-6.2-03: LLP abortive termination ends the stream without a Terminate.
  cases.add({.name = "close-reset-while-answering",
             .clause = "RDMAP-6.2-03",
             .what = "RST while the peer answers a long Read: others are served as before.",
             .needs = kRegions}) = [](Scene& scene) {
    for (int i = 0; i < 4; ++i) {
      Conversation& by = scene.connect();
      const Region region = scene.region(Region::kPlain, kReadWrite);
      by.send_ulpdu(by.make().read_request(read_of(region.stag, region.offset, 65536)));
      by.reset();
    }
  };

  // RDMAP-6.2-03: LLP abortive termination ends the stream without a Terminate.
  cases.add({.name = "close-reset-is-told",
             .clause = "RDMAP-6.2-03",
             .what = "RST: the peer's program is told, and its receives are flushed.",
             .needs = kReport | kSessions,
             .also = {"MPA-8-01", "DDP-6.2.2-02"}}) = [](Scene& scene) {
    // Receives that were posted are given back, and the program is told of the end.
    Conversation& by = scene.connect();
    scene.report(by);
    by.reset();
    PeerReport report;
    const Instant deadline = now() + scene.patience();
    do report = scene.report();
    while (report.connections_ended == 0 && now() < deadline);
    if (report.connections_ended == 0) fail("the peer's program was not told that the connection was reset");
    if (report.receives_failed == 0) fail("receives of a connection that was reset were not flushed");
  };

  // RDMAP-6.2-02: Graceful termination is the job of the ULP; afterwards either side may close the LLP gracefully.
  cases.add({.name = "close-of-the-peer",
             .clause = "RDMAP-6.2-02",
             .what = "The peer is told to end gracefully: what it has posted is sent, and then comes its FIN.",
             .needs = kOrders}) = [](Scene& scene) {
    Conversation& by = scene.connect();
    scene.order(by, {.operation = Order::kSend, .length = 3000});
    scene.order(by, {.operation = Order::kDisconnect});
    by.expect_whole(rdmap::Opcode::kSend, 3000);
    expect_graceful_end(scene, by);
    by.shut();
  };

  // DDP-6.2.1-08: After a half-close requested by the local ULP, DDP keeps receiving on the other half.
  cases.add({.name = "close-write-behind-fin",
             .clause = "DDP-6.2.1-08",
             .what = "A Write after the peer's FIN is placed (a SHOULD).",
             .needs = kOrders | kRegions | kSessions}) = [](Scene& scene) {
    // The peer has closed its half, and takes what still comes.
    Conversation& by = scene.connect();
    const Region region = scene.region(Region::kPlain, kReadWrite);
    scene.order(by, {.operation = Order::kDisconnect});
    expect_graceful_end(scene, by);
    by.send_ulpdu(by.make().write(region.stag, region.offset, pattern(16, 8)));
    by.shut();
    const auto octets = scene.read_back(scene.rejoin(), region, 0, 16);
    if (octets != pattern(16, 8))
      warn("a Write after the peer's FIN was not placed (its half of the connection only was closed)");
  };
}

}  // namespace weft::probe
