// SPDX-License-Identifier: Apache-2.0
// From the MPA Reply to the first FPDU, RFC 5044 section 7.1: the fence, ends in the middle, and rejection.
#include <fmt/format.h>

#include "probe/cases/startups.hpp"

namespace weft::probe {
namespace first_fpdu_cases {
namespace {

Answered ask_for_rejection(Scene& scene, StartUp start_up, std::uint32_t session = 0) {
  start_up.private_data = serialize(Wish{.session = session, .flags = Wish::kRejectMe});
  Answered answered = ask(scene, start_up);
  if (!answered.reply.frame.reject) fail("the Private Data asks to be rejected, and the Reply accepts");
  return answered;
}

}  // namespace
}  // namespace first_fpdu_cases

void add_first_fpdu_cases(Cases& cases) {
  using namespace first_fpdu_cases;
  // MPA-7.1.2-17: The Responder receives and validates at least one FPDU before it sends any FPDU or Marker.
  cases.add({.name = "request-fence",
             .clause = "MPA-7.1.2-17",
             .what = "No FPDU comes after the Reply, then all of one but an octet: the peer sends nothing until it is "
                     "complete.",
             .needs = kListens,
             .also = {"MPA2-3-04", "MPA2-4.3-02", "MPA-7.1.3-03"}}) = [](Scene& scene) {
    // An FPDU that is there in part is none.
    Conversation& by = *expect_accepted(scene, ordinary_request(scene)).by;
    by.expect_silence(scene.quiet(), "a Responder sends nothing before it has received an FPDU");
    const auto first = by.fpdu(by.make().write({}, {}, {}));
    by.send(Bytes(first).first(first.size() - 1));
    by.expect_silence(scene.quiet(), "the first FPDU is not complete yet");
    by.send(Bytes(first).last(1));
    scene.expect_alive(by);
  };

  // MPA-7.1.2-17: The Responder receives and validates at least one FPDU before it sends any FPDU or Marker.
  cases.add({.name = "request-first-fpdu-wrong",
             .clause = "MPA-7.1.2-17",
             .what = "The very first FPDU has a wrong CRC: the connection ends, without an FPDU of the peer's.",
             .needs = kListens,
             .also = {"MPA-8-16"}}) = [](Scene& scene) {
    const Answered answered = expect_accepted(scene, ordinary_request(scene));
    Conversation& by = *answered.by;
    by.send_ulpdu(by.make().write({}, {}, {}), {.crc_xor = 0x100});
    expect_end_without_fpdu(by, "the first FPDU has a wrong CRC, so that a Responder may not send a Terminate");
  };

  // MPA-7.1.2-11: Having accepted, the Responder should be prepared to interpret all further octets as FPDUs and to
  // pass ULPDUs to DDP.
  cases.add({.name = "request-again",
             .clause = "MPA-7.1.2-11",
             .what =
                 "A second Request comes where the first FPDU is due: the octets are an FPDU of a wrong CRC, and the "
                 "connection ends.",
             .needs = kListens,
             .also = {"MPA-7.1.2-17"}}) = [](Scene& scene) {
    // A Request where the first FPDU is due: 0x4D50 octets, by its first two, whose CRC is wrong.
    Conversation& by = *expect_accepted(scene, ordinary_request(scene)).by;
    by.exchange().prober_breaks_startup = true;
    auto octets = forge(mpa::FrameKind::kRequest, ordinary_request(scene));
    octets.resize(0x4D50 + 8);
    by.send(octets);
    expect_end_without_fpdu(by, "a second Request came after the Reply");
  };

  // MPA-7.1.2-11: Having accepted, the Responder should be prepared to interpret all further octets as FPDUs and to
  // pass ULPDUs to DDP.
  cases.add({.name = "request-first-fpdu-short",
             .clause = "MPA-7.1.2-11",
             .what = "The first FPDU is too short for a DDP header: the connection ends.",
             .needs = kListens,
             .also = {"MPA-3-06"}}) = [](Scene& scene) {
    // Shorter than any DDP header, and framed well. The error is DDP's: a Terminate may come, and need not.
    for (const std::size_t size : {0U, 1U, 2U, 3U, 13U}) {
      Conversation& by = *expect_accepted(scene, ordinary_request(scene)).by;
      Ulpdu ulpdu = by.make().write({}, {}, {});
      ulpdu.resize(size);
      by.send_ulpdu(ulpdu);
      by.send_ulpdu(by.make().write({}, {}, {}));
      PeerFpdu fpdu;
      Came came = by.next(fpdu, by.patience());
      if (came == Came::kFpdu) {
        if (!fpdu.is(rdmap::Opcode::kTerminate))
          fail(fmt::format("a ULPDU of {} octets was answered by what is no Terminate", size));
        by.shut();
        came = by.next(fpdu, by.patience());
      }
      if (came == Came::kNothing || came == Came::kFpdu)
        fail(fmt::format("the connection went on after a ULPDU of {} octets, which has no whole DDP header", size));
    }
  };

  // MPA-7.1.2-11: Having accepted, the Responder should be prepared to interpret all further octets as FPDUs and to
  // pass ULPDUs to DDP.
  cases.add({.name = "request-first-fpdus",
             .clause = "MPA-7.1.2-11",
             .what = "Eight FPDUs come in one segment as soon as the Reply is there: all are taken.",
             .needs = kListens}) = [](Scene& scene) {
    // In the flight that acknowledges the Reply, and more after it.
    const Answered answered = expect_accepted(scene, ordinary_request(scene));
    Conversation& by = *answered.by;
    Burst flight(by);
    for (int i = 0; i < 8; ++i) flight.add(by.make().write({}, {}, {}));
    flight.send();
    scene.expect_alive(by);
  };

  // MPA-8-01: Error 1 is detected: TCP connection closed, terminated or lost, by timeout, excessive retries, RST or
  // FIN.
  cases.add({.name = "request-fin",
             .clause = "MPA-8-01",
             .what = "A FIN comes at each point of the startup: the peer closes its end, and sends no FPDU.",
             .needs = kListens,
             .also = {"MPA-7.1.2-17", "MPA-7.2-01"}}) = [](Scene& scene) {
    const auto open = [&]() -> Conversation& { return *expect_accepted(scene, ordinary_request(scene)).by; };
    Conversation& nothing = scene.dial();
    nothing.shut();
    nothing.expect_end("the connection was closed without an octet");
    Conversation& behind_request = scene.dial();
    behind_request.send_frame(for_peer(scene, ordinary_request(scene)));
    behind_request.shut();
    behind_request.expect_end_sometime("a FIN came after the Request", scene.patience());
    Conversation& behind_reply = open();
    behind_reply.shut();
    expect_end_without_fpdu(behind_reply, "a FIN came after the Reply");
    Conversation& in_the_first = open();
    const auto octets = in_the_first.fpdu(in_the_first.make().write({}, {}, {}));
    in_the_first.send(Bytes(octets).first(octets.size() / 2));
    in_the_first.shut();
    expect_end_without_fpdu(in_the_first, "a FIN came in the middle of the first FPDU");
  };

  // MPA-8-01: Error 1 is detected: TCP connection closed, terminated or lost, by timeout, excessive retries, RST or
  // FIN.
  cases.add({.name = "request-reset",
             .clause = "MPA-8-01",
             .what = "An RST comes at each point of the startup: the peer takes new connections as before.",
             .needs = kListens}) = [](Scene& scene) {
    scene.dial().reset();
    Conversation& behind_request = scene.dial();
    behind_request.send_frame(for_peer(scene, ordinary_request(scene)));
    behind_request.reset();
    expect_accepted(scene, ordinary_request(scene)).by->reset();
    Conversation& in_the_first = *expect_accepted(scene, ordinary_request(scene)).by;
    const auto octets = in_the_first.fpdu(in_the_first.make().write({}, {}, {}));
    in_the_first.send(Bytes(octets).first(octets.size() / 2));
    in_the_first.reset();
    Conversation& behind_it = *expect_accepted(scene, ordinary_request(scene)).by;
    behind_it.send_ulpdu(behind_it.make().write({}, {}, {}));
    behind_it.reset();
  };

  // MPA-7.1.2-05: On a well-formed Request with unacceptable Private Data the Responder should answer with a Reply
  // with R=1.
  cases.add({.name = "request-rejected",
             .clause = "MPA-7.1.2-05",
             .what = "The ULP does not accept the Private Data: a Reply with R comes, and nothing after it.",
             .needs = kListens | kOrders,
             .also = {"MPA-7.1.1-16", "MPA-7.1.2-07", "MPA-7.1.2-21", "MPA2-9.1-11", "MPA2-9.1-12", "MPA2-10-02"}}) =
      [](Scene& scene) {
        // TCP stays open, or the peer's ULP closes it: the outside cannot tell which of them did.
        for (const StartUp& start_up : requests_of_each_kind(scene)) {
          const Answered answered = ask_for_rejection(scene, start_up);
          if (start_up.enhanced.has_value() != answered.reply.frame.enhanced.has_value())
            fail("the rejecting Reply is enhanced where the Request is not, or the other way round");
          if (!answered.by->octets(1, scene.quiet()).empty()) fail("octets came after a rejecting Reply");
        }
      };

  // MPA-7.1.2-07: After rejecting, the Responder leaves MPA and leaves the TCP connection open.
  cases.add({.name = "request-rejected-then-fpdu",
             .clause = "MPA-7.1.2-07",
             .what = "An RDMA Write comes after a rejecting Reply: the peer has left MPA, and nothing is placed.",
             .needs = kListens | kRegions | kSessions | kOrders,
             .also = {"MPA-7.1.1-16"}}) = [](Scene& scene) {
    scene.connect();
    const Region target = scene.region(Region::kPlain, kReadWrite);
    const StartUp start_up = ordinary_request(scene);
    const Answered answered = ask_for_rejection(scene, start_up, scene.advert().session);
    Conversation& by = *answered.by;
    by.exchange().prober_breaks_startup = true;
    by.start_fpdus(start_up, answered.reply.frame);
    by.send_ulpdu(by.make().write(target.stag, target.offset, pattern(64)));
    PeerFpdu fpdu;
    if (by.next_any(fpdu, scene.quiet()) == Came::kFpdu) fail("an FPDU came after a rejecting Reply");
    scene.expect_untouched(target, 0, 64);
  };
}

}  // namespace weft::probe
