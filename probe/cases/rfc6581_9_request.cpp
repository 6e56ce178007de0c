// SPDX-License-Identifier: Apache-2.0
// Enhanced connection establishment, RFC 6581: what a Responder answers.
#include <fmt/format.h>

#include "probe/cases/startups.hpp"

namespace weft::probe {
namespace enhanced_request_cases {
namespace {

constexpr std::uint16_t kLeftToUlp = 0x3FFF;

mpa::EnhancedData data_of(const Answered& answered) {
  if (!answered.reply.frame.enhanced) fail("an enhanced Request got an unenhanced Reply");
  return *answered.reply.frame.enhanced;
}

Answered expect_enhanced(Scene& scene, const mpa::EnhancedData& data) {
  Answered answered = expect_accepted(scene, enhanced_request(data));
  static_cast<void>(data_of(answered));
  return answered;
}

// RFC 6581 has a peer of RFC 5044 alone close, and RFC 5044 lets it answer by its own revision, or go on where it can
// interoperate.
void expect_plain_reply(Conversation& by) {
  const StartUp request = plain_request(2);
  const PeerFrame reply = by.expect_frame(mpa::FrameKind::kReply);
  by.start_fpdus(request, reply.frame);
  PeerFpdu fpdu;
  if (reply.frame.reject || by.next(fpdu, by.patience()) != Came::kNothing) return;
  warn("the peer knows no enhanced startup, and accepted an enhanced Request instead of closing (MPA2-10-10)");
}

mpa::EnhancedData offer(const mpa::RtrTypes& types) { return {.peer_to_peer = true, .rtr = types, .ird = 4, .ord = 4}; }

mpa::RtrTypes types_of(unsigned bits) {
  return {.send = (bits & 1U) != 0, .write = (bits & 2U) != 0, .read = (bits & 4U) != 0};
}

unsigned bits_of(const mpa::RtrTypes& types) {
  return (types.send ? 1U : 0U) | (types.write ? 2U : 0U) | (types.read ? 4U : 0U);
}

void read_as_rtr(Scene& scene, StartUp request) {
  const Answered answered = expect_accepted(scene, request);
  const mpa::EnhancedData data = data_of(answered);
  if (!data.rtr.any()) fail("A is 1 in the Reply, and none of B, C and D is (MPA2-9.2-11)");
  if (!data.rtr.read) not_applicable("the peer does not take an RDMA Read as RTR");
  if (data.ird == 0) warn("the Reply names the RDMA Read as RTR, and its IRD is 0");
  answered.by->expect_empty_read();
}

// The RTR of one kind.
void indicate(Conversation& by, unsigned bit) {
  if (bit == 1) by.send_ulpdu(by.make().send({}));
  if (bit == 2) by.send_ulpdu(by.make().write({}, {}, {}));
  if (bit == 4) by.expect_empty_read();
}

}  // namespace
}  // namespace enhanced_request_cases

void add_enhanced_request_cases(Cases& cases) {
  using namespace enhanced_request_cases;
  // MPA2-10-02: An enhanced Responder answers an enhanced Request with an enhanced Reply.
  cases.add(
      {.name = "enhanced-answered",
       .clause = "MPA2-10-02",
       .what = "The Request is enhanced: so is the Reply, with revision 2; or the peer has no RFC 6581, and closes.",
       .needs = kListens,
       .also = {"MPA2-10-03", "MPA2-10-08", "MPA2-10-10", "MPA2-6-07"}}) = [](Scene& scene) {
    // A peer of RFC 5044 alone closes.
    Conversation& by = scene.dial();
    by.send_frame(for_peer(scene, {}));
    auto octets = by.octets(mpa::kFixedFrameSize, by.patience());
    if (octets.empty()) {
      by.expect_end("the Request is enhanced, and there is no Reply");
      return;
    }
    if (octets.size() < mpa::kFixedFrameSize) fail("less than a Reply came");
    if ((octets[16] & std::byte{0x10}) == std::byte{} && !scene.offers(kEnhanced)) {
      by.give_back({.octets = octets});
      return expect_plain_reply(by);
    }
    if ((octets[16] & std::byte{0x10}) == std::byte{}) fail("an enhanced Request got a Reply without S");
    if (std::to_integer<unsigned>(octets[17]) < 2)
      fail(fmt::format("the Reply has S, and revision {}", std::to_integer<unsigned>(octets[17])));
  };

  // MPA2-6-11: If S is set, Private Data begins with the enhanced connection establishment data.
  cases.add({.name = "enhanced-cut-short",
             .clause = "MPA2-6-11",
             .what = "S is set, and the Private Data has 0 to 3 octets: the peer closes, or rejects.",
             .needs = kListens | kEnhanced,
             .also = {"MPA2-6-03", "MPA2-12-01"}}) = [](Scene& scene) {
    // By implication: refused by the end of the connection or by a Reply with R.
    for (std::size_t size = 0; size < mpa::kEnhancedDataSize; ++size) {
      StartUp start_up = plain_request(2);
      start_up.enhanced_flag = true;
      start_up.private_data.resize(size);
      Conversation& by = begin_wrongly(scene, forge(mpa::FrameKind::kRequest, start_up));
      const auto octets = by.octets(mpa::kFixedFrameSize, by.patience());
      if (octets.empty()) {
        by.expect_end("S is set, and there is no enhanced data");
      } else if (octets.size() < mpa::kFixedFrameSize || (octets[16] & std::byte{0x20}) == std::byte{}) {
        fail(fmt::format("the peer accepted S with Private Data of {} octets", size));
      }
    }
  };

  // MPA2-9-03: ULP Private Data follows the field, so its maximum shrinks by 4 octets to 508.
  cases.add({.name = "enhanced-private-data-508",
             .clause = "MPA2-9-03",
             .what = "The ULP's part of the Private Data has 508 octets, the most there is: the Request is accepted.",
             .needs = kListens | kEnhanced,
             .also = {"MPA2-6-10"}}) = [](Scene& scene) {
    const auto answered = accepted_unless_too_long(scene, {}, 508);
    if (!answered) warn("the peer closed the connection upon 508 octets: its application's buffer may be smaller");
    expect_works(scene, *answered->by);
  };

  // MPA2-9.1-10: The Responder's ORD never exceeds the IRD announced by the Initiator.
  cases.add({.name = "enhanced-ird",
             .clause = "MPA2-9.1-10",
             .what = "Our IRD is 0, 1, 2 and 0x3FFE: the Reply's ORD is never above it.",
             .needs = kListens | kEnhanced,
             .also = {"MPA2-9.1-02", "MPA2-9.1-05", "MPA2-9.1-08", "MPA2-12-01"}}) = [](Scene& scene) {
    for (const std::uint16_t ird : std::initializer_list<std::uint16_t>{0, 1, 2, 0x3FFE}) {
      const Answered answered = expect_enhanced(scene, {.ird = ird, .ord = 4});
      if (data_of(answered).ord > ird)
        fail(fmt::format("our IRD is {}, and the Reply's ORD {}", ird, data_of(answered).ord));
      answered.by->send_ulpdu(answered.by->make().write({}, {}, {}));
      // A peer that can only be asked to read may not where our IRD is 0.
      if (ird > 0 || scene.offers(kReceives)) scene.expect_alive(*answered.by);
    }
  };

  // MPA2-12-01: Implementations should sanity check received ORD, IRD and RTR flags.
  cases.add({.name = "enhanced-ord",
             .clause = "MPA2-12-01",
             .what = "Our ORD is 0, 1, 2 and 0x3FFE: the Request is accepted, with the IRD that the peer supports.",
             .needs = kListens | kEnhanced,
             .also = {"MPA2-9.1-04"}}) = [](Scene& scene) {
    for (const std::uint16_t ord : std::initializer_list<std::uint16_t>{0, 1, 2, 0x3FFE}) {
      const Answered answered = expect_enhanced(scene, {.ird = 4, .ord = ord});
      // More than any peer has: that its IRD is less is no finding (MPA2-9.1-04).
      answered.by->exchange().prober_breaks_startup = ord == 0x3FFE;
      if (data_of(answered).ird == kLeftToUlp)
        warn(fmt::format("our ORD is {}, and the Reply's IRD leaves it to the ULP", ord));
      answered.by->send_ulpdu(answered.by->make().write({}, {}, {}));
      if (data_of(answered).ird > 0) scene.expect_alive(*answered.by);
    }
  };

  // MPA2-9.1-20: On Initiator ORD 0x3FFF the Responder leaves its IRD unchanged and replies with IRD 0x3FFF.
  cases.add({.name = "enhanced-ord-unnegotiated",
             .clause = "MPA2-9.1-20",
             .what = "Our ORD is 0x3FFF: the Reply's IRD is 0x3FFF.",
             .needs = kListens | kEnhanced,
             .also = {"MPA2-9.1-19"}}) = [](Scene& scene) {
    const Answered answered = expect_enhanced(scene, {.ird = 4, .ord = kLeftToUlp});
    if (data_of(answered).ird != kLeftToUlp)
      fail(fmt::format("our ORD is 0x3FFF, and the Reply's IRD {:#x}; 0x3FFF was due", data_of(answered).ird));
    expect_works(scene, *answered.by);
  };

  // MPA2-9.1-22: On Initiator IRD 0x3FFF the Responder leaves its ORD unchanged and replies with ORD 0x3FFF.
  cases.add({.name = "enhanced-ird-unnegotiated",
             .clause = "MPA2-9.1-22",
             .what = "Our IRD is 0x3FFF: the Reply's ORD is 0x3FFF.",
             .needs = kListens | kEnhanced,
             .also = {"MPA2-9.1-19"}}) = [](Scene& scene) {
    const Answered answered = expect_enhanced(scene, {.ird = kLeftToUlp, .ord = 4});
    if (data_of(answered).ord != kLeftToUlp)
      fail(fmt::format("our IRD is 0x3FFF, and the Reply's ORD {:#x}; 0x3FFF was due", data_of(answered).ord));
    expect_works(scene, *answered.by);
  };

  // MPA2-9.2-19: With A=0 received, B, C and D are ignored.
  cases.add({.name = "enhanced-client-server",
             .clause = "MPA2-9.2-19",
             .what = "A is 0, and B, C and D have every value: they are ignored, and are 0 in the Reply, as A is.",
             .needs = kListens | kEnhanced,
             .also = {"MPA2-9.2-17", "MPA2-9.2-18"}}) = [](Scene& scene) {
    for (unsigned bits = 0; bits < 8; ++bits) {
      const Answered answered =
          expect_enhanced(scene, {.peer_to_peer = false, .rtr = types_of(bits), .ird = 4, .ord = 4});
      if (data_of(answered).peer_to_peer) fail("A is 0 in the Request, and 1 in the Reply (MPA2-9.2-17)");
      if (data_of(answered).rtr.any()) fail("the Reply has A = 0, and B, C or D is set (MPA2-9.2-18)");
      expect_works(scene, *answered.by);
    }
  };

  // MPA2-9.2-11: If it supports none of the offered types the Responder still sets at least one type it supports.
  cases.add(
      {.name = "enhanced-rtr-offers",
       .clause = "MPA2-9.2-11",
       .what = "A is 1, and B, C and D have every value: the Reply has A, and names those in common, or else any.",
       .needs = kListens | kEnhanced,
       .also = {"MPA2-9.2-05", "MPA2-9.2-06", "MPA2-9.2-07", "MPA2-9.2-09"}}) = [](Scene& scene) {
    const auto answer = [&](unsigned bits) {
      return ask(scene, for_peer(scene, enhanced_request(offer(types_of(bits)))));
    };
    const Answered every = answer(7);
    if (every.reply.frame.reject) fail("every RTR kind was offered, and the Reply rejects (MPA2-9.2-05)");
    const unsigned supported = bits_of(data_of(every).rtr);
    if (supported == 0) fail("every RTR kind was offered, and the Reply names none (MPA2-9.2-05)");
    unsigned unnamed = 0;
    for (unsigned bits = 0; bits < 7; ++bits) {
      if (bits == 0 && answer(bits).reply.frame.reject) continue;  // a Request that names none is wrong (MPA2-9.2-04)
      const mpa::EnhancedData data = data_of(expect_enhanced(scene, offer(types_of(bits))));
      if (!data.peer_to_peer) fail("A is 1 in the Request, and 0 in the Reply (MPA2-9.2-06)");
      if (!data.rtr.any()) fail("A is 1 in the Reply, and none of B, C and D is (MPA2-9.2-11)");
      unnamed |= bits & supported & ~bits_of(data.rtr);
    }
    if (unnamed != 0) warn("an RTR kind that the peer supports was offered, and its Reply does not name it");
  };

  // MPA2-9.1-09: The Responder may raise its IRD if the Initiator ORD is too small for the selected model, for
  // instance to 1 for a zero-length Read RTR when Initiator ORD is 0.
  cases.add(
      {.name = "enhanced-rtr-read-ord-0",
       .clause = "MPA2-9.1-09",
       .what = "Our ORD is 0, and an RDMA Read is the only RTR offered: if the peer names it, the peer accepts it.",
       .needs = kListens | kEnhanced}) = [](Scene& scene) {
    read_as_rtr(scene, enhanced_request({.peer_to_peer = true, .rtr = types_of(4), .ird = 4, .ord = 0}));
  };

  // MPA2-9.1-09: The Responder may raise its IRD if the Initiator ORD is too small for the selected model, for
  // instance to 1 for a zero-length Read RTR when Initiator ORD is 0.
  cases.add(
      {.name = "enhanced-rtr-read-ird-0",
       .clause = "MPA2-9.1-09",
       .what = "The peer's application has an IRD of 0, and an RDMA Read is the only RTR offered: where the peer names "
               "it, it takes it.",
       .needs = kListens | kEnhanced | kOrders}) = [](Scene& scene) {
    StartUp request = enhanced_request({.peer_to_peer = true, .rtr = types_of(4), .ird = 4, .ord = 1});
    request.private_data = serialize(Wish{.ird = 0});
    read_as_rtr(scene, request);
  };

  // MPA2-3-04: MPA Fencing is the Responder logic that transfers no ULP message until the Initiator's first message
  // has arrived.
  cases.add(
      {.name = "enhanced-rtr",
       .clause = "MPA2-3-04",
       .what =
           "Each RTR kind that is negotiated, alone and beside others: the peer waits for it, and goes on after it.",
       .needs = kListens | kEnhanced,
       .also = {"MPA2-3-03", "MPA-7.1.2-17"}}) = [](Scene& scene) {
    // Each kind that the Reply names, alone and together with others; nothing comes before it.
    for (unsigned bits = 1; bits < 8; ++bits) {
      for (const unsigned bit : {1U, 2U, 4U}) {
        if ((bits & bit) == 0) continue;
        const Answered answered = expect_enhanced(scene, offer(types_of(bits)));
        if ((bits_of(data_of(answered).rtr) & bit) == 0) continue;
        if (bits == bit) answered.by->expect_silence(scene.quiet(), "the RTR indication has not come yet");
        indicate(*answered.by, bit);
        scene.expect_alive(*answered.by);
      }
    }
  };

  // MPA2-8-01: Any error in enhanced connection establishment produces a Terminate message to the peer.
  cases.add(
      {.name = "enhanced-rtr-other",
       .clause = "MPA2-8-01",
       .what = "The first FPDU is no RTR of the kind offered: the peer goes on, or ends the stream by a Terminate.",
       .needs = kListens | kEnhanced}) = [](Scene& scene) {
    // Write and Read are named, one of them in the Request and one first on the wire. The RFC binds the Initiator: a
    // Responder may go on, or end the stream.
    for (const unsigned offered : {1U, 2U, 4U}) {
      for (const unsigned sent : {1U, 2U, 4U}) {
        if (sent == offered) continue;
        const Answered answered = expect_enhanced(scene, offer(types_of(offered)));
        Conversation& by = *answered.by;
        by.exchange().prober_breaks_startup = true;
        if (sent == 1) by.send_ulpdu(by.make().send({}));
        if (sent == 2) by.send_ulpdu(by.make().write({}, {}, {}));
        if (sent == 4) by.send_ulpdu(by.make().read_request({.sink_stag = {7}, .sink_offset = {0x1234}}));
        PeerFpdu fpdu;
        Came came = by.next(fpdu, scene.quiet());
        const bool told = came == Came::kFpdu && fpdu.is(rdmap::Opcode::kTerminate);
        if (told) {
          by.shut();
          by.expect_end("a Terminate came");
        } else if (came == Came::kFin || came == Came::kReset) {
          warn("the peer ended the connection without a Terminate, which it could send (MPA2-8-01)");
        } else {
          by.send_ulpdu(by.make().write({}, {}, {}));
          if (scene.offers(kOrders)) scene.expect_alive(by);
        }
      }
    }
  };

  // MPA2-4.2-01: Generation and reception of FPDUs are unchanged by enhanced connection establishment.
  cases.add({.name = "enhanced-rtr-and-traffic",
             .clause = "MPA2-4.2-01",
             .what = "FPDUs come in the segment of the RTR, after it: all are taken.",
             .needs = kListens | kEnhanced}) = [](Scene& scene) {
    const Answered answered = expect_enhanced(scene, offer(types_of(2)));
    if (!data_of(answered).rtr.write) not_applicable("the peer does not take an RDMA Write as RTR");
    Conversation& by = *answered.by;
    Burst flight(by);
    for (int i = 0; i < 3; ++i) flight.add(by.make().write({}, {}, {}));
    flight.send();
    scene.expect_alive(by);
  };

  // MPA2-9.3-03: Then the Initiator adapts its IRD/ORD and sends the RTR message, or a Terminate if no type matches.
  cases.add({.name = "enhanced-terminate-first",
             .clause = "MPA2-9.3-03",
             .what = "The first FPDU is a Terminate about the startup: the peer ends the connection and sends no FPDU.",
             .needs = kListens | kEnhanced}) = [](Scene& scene) {
    // An Initiator that finds no matching kind, or has no IRD: its Terminate is the first FPDU.
    for (const auto& error : {kEnhancedFailure, kInsufficientIrd, kNoMatchingRtr}) {
      const Answered answered = expect_enhanced(scene, kEveryRtr);
      Conversation& by = *answered.by;
      by.send_ulpdu(by.make().terminate(rdmap::make_terminate(error)));
      by.shut();
      expect_end_without_fpdu(by, "a Terminate came as the first FPDU");
    }
  };
}

}  // namespace weft::probe
