// SPDX-License-Identifier: Apache-2.0
// The end of a stream, RFC 5040 section 6 and RFC 5041 section 6.2: graceful, half, and in the middle of something.
#include "probe/cases/steps.hpp"

namespace weft::probe {
namespace closing {
namespace {

// Whether the peer or something on the path made it cannot be seen, nor whether the peer's program asked for it.
constexpr const char* kReset = "the connection ended by a reset, where the end was graceful and a FIN was due";

void gracefully(Scene& scene) {
  Conversation& by = scene.connect();
  scene.expect_alive(by);
  by.shut();
  PeerFpdu fpdu;
  const Came came = by.next(fpdu, scene.patience());
  if (came == Came::kFpdu && fpdu.is(rdmap::Opcode::kTerminate)) fail("a graceful end was answered by a Terminate");
  if (came == Came::kNothing) fail("the peer does not close behind our FIN");
  if (came == Came::kReset) warn(kReset);
}

// What was asked for before the FIN is still answered: SHOULD, where TCP can close by halves.
void half_closed_with_a_read(Scene& scene) {
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
}

// In the middle of an FPDU: an error, and no octet of it is placed.
void inside_an_fpdu(Scene& scene) {
  for (const bool by_reset : {false, true}) {
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
      fail("the peer's program was not told that the stream ended inside an FPDU");
  }
}

// In the middle of a message, between two FPDUs: it is never delivered.
void inside_a_message(Scene& scene) {
  Conversation& by = scene.connect();
  const auto before = scene.report(by);
  by.send_ulpdu(by.make().send_segment(pattern(8), 0, false));
  by.shut();
  by.expect_end_sometime("our direction has ended", scene.patience());
  if (scene.report().receives_done != before.receives_done + 1) fail("a Send whose end never came was delivered");
}

void reset_while_it_answers(Scene& scene) {
  for (int i = 0; i < 4; ++i) {
    Conversation& by = scene.connect();
    const Region region = scene.region(Region::kPlain, kReadWrite);
    by.send_ulpdu(by.make().read_request(read_of(region.stag, region.offset, 65536)));
    by.reset();
  }
}

// Receives that were posted are given back, and the program is told of the end.
void reset_is_told(Scene& scene) {
  Conversation& by = scene.connect();
  scene.report(by);
  by.reset();
  PeerReport report;
  const Instant deadline = now() + scene.patience();
  do report = scene.report();
  while (report.connections_ended == 0 && now() < deadline);
  if (report.connections_ended == 0) fail("the peer's program was not told that the connection was reset");
  if (report.receives_failed == 0) fail("receives of a connection that was reset were not flushed");
}

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

void of_the_peer(Scene& scene) {
  Conversation& by = scene.connect();
  scene.order(by, {.operation = Order::kSend, .length = 3000});
  scene.order(by, {.operation = Order::kDisconnect});
  by.expect_whole(rdmap::Opcode::kSend, 3000);
  expect_graceful_end(scene, by);
  by.shut();
}

// The peer has closed its half, and takes what still comes.
void data_behind_the_peers_fin(Scene& scene) {
  Conversation& by = scene.connect();
  const Region region = scene.region(Region::kPlain, kReadWrite);
  scene.order(by, {.operation = Order::kDisconnect});
  expect_graceful_end(scene, by);
  by.send_ulpdu(by.make().write(region.stag, region.offset, pattern(16, 8)));
  by.shut();
  const auto octets = scene.read_back(scene.rejoin(), region, 0, 16);
  if (octets != pattern(16, 8))
    warn("a Write behind the peer's FIN was not placed (its half of the connection only was closed)");
}

}  // namespace
}  // namespace closing

std::span<const Case> closing_cases() {
  using namespace closing;
  static const std::vector<Case> cases{
      {.name = "close-graceful",
       .clause = "RDMAP-6.2-02",
       .what = "Our FIN between two messages is answered by a FIN, without a Terminate.",
       .needs = kStream,
       .run = gracefully},
      {.name = "close-with-read",
       .clause = "DDP-6.2.1-06",
       .what = "A Read and then our FIN: the Response still comes (a SHOULD).",
       .needs = kRegions,
       .run = half_closed_with_a_read},
      {.name = "close-inside-fpdu",
       .clause = "MPA-8-01",
       .what = "FIN and RST inside an FPDU: the connection ends, and nothing of the FPDU is placed.",
       .needs = kRegions | kSessions | kReport,
       .run = inside_an_fpdu,
       .also = {"DDP-6.2.2-02", "RDMAP-IANA-3.3-01"}},
      {.name = "close-inside-message",
       .clause = "DDP-5.4-03",
       .what = "FIN behind the first segment of a Send: it is never delivered.",
       .needs = kReport | kSessions,
       .run = inside_a_message},
      {.name = "close-reset-while-answering",
       .clause = "RDMAP-6.2-03",
       .what = "RST while the peer answers a long Read: others are served as before.",
       .needs = kRegions,
       .run = reset_while_it_answers},
      {.name = "close-reset-is-told",
       .clause = "RDMAP-6.2-03",
       .what = "RST: the peer's program is told, and its receives are flushed.",
       .needs = kReport | kSessions,
       .run = reset_is_told,
       .also = {"MPA-8-01", "DDP-6.2.2-02"}},
      {.name = "close-of-the-peer",
       .clause = "RDMAP-6.2-02",
       .what = "The peer is told to end gracefully: what it has posted is sent, and then comes its FIN.",
       .needs = kOrders,
       .run = of_the_peer},
      {.name = "close-write-behind-fin",
       .clause = "DDP-6.2.1-08",
       .what = "A Write behind the peer's FIN is placed (a SHOULD).",
       .needs = kOrders | kRegions | kSessions,
       .run = data_behind_the_peers_fin},
  };
  return cases;
}

}  // namespace weft::probe
