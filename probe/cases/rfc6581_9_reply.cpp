// SPDX-License-Identifier: Apache-2.0
// The enhanced Reply, RFC 6581: what an Initiator makes of it.
#include <fmt/format.h>

#include <array>

#include "probe/cases/cases.hpp"
#include "probe/cases/errors.hpp"
#include "probe/scene.hpp"
#include "probe/way_listening.hpp"

namespace weft::probe {
namespace enhanced_reply_cases {
namespace {

// A connection whose Request is enhanced, and a Reply that fits.
struct Asked {
  Conversation& by;
  PeerFrame request;
  StartUp reply;

  [[nodiscard]] const mpa::EnhancedData& wants() const { return *request.frame.enhanced; }
  void answer() const {
    by.send_frame(reply);
    by.start_fpdus(reply, request.frame);
  }
};
Asked ask(Scene& scene) {
  Conversation& by = scene.dial();
  PeerFrame request = by.expect_frame(mpa::FrameKind::kRequest);
  if (!request.frame.enhanced) not_applicable("the peer's Request is not enhanced (RFC 6581)");
  StartUp reply = fitting_reply(request.frame);
  return {by, std::move(request), reply};
}
Asked ask_peer_to_peer(Scene& scene) {
  Asked asked = ask(scene);
  if (!asked.wants().peer_to_peer) not_applicable("the peer's Request is of the client-server model (A is 0)");
  return asked;
}

// The first FPDU, which is no Terminate.
PeerFpdu expect_start(Conversation& by) {
  PeerFpdu first = by.expect_fpdu("the initiator's first FPDU");
  if (first.is(rdmap::Opcode::kTerminate)) fail("the peer's first FPDU is a Terminate; the Reply fits its Request");
  return first;
}

// Returns whether the peer's Request, with which the exchange begins, is enhanced: its S flag.
bool asked_enhanced(const Conversation& by) {
  const auto& first = by.exchange().parts.front().octets;
  return first.size() > mpa::kKeySize && (first[mpa::kKeySize] & std::byte{0x10}) != std::byte{};
}

constexpr std::array<std::uint16_t, 4> kDepths{0, 1, 0x3FFE, 0x3FFF};

}  // namespace
}  // namespace enhanced_reply_cases

void add_enhanced_reply_cases(Cases& cases) {
  using namespace enhanced_reply_cases;
  // MPA2-9.1-15: An Initiator without the resources for the required IRD sends a Terminate saying so and terminates
  // the connection.
  cases.add({.name = "enhanced-reply-ord-too-great",
             .clause = "MPA2-9.1-15",
             .what = "The Responder's ORD is 16382, more than the Request's IRD: Terminate 2/0/06.",
             .needs = kConnects | kEnhanced,
             .also = {"MPA2-9.1-13", "MPA2-9.1-16", "MPA2-8-01", "RDMAP-IANA-3.3-06"}}) = [](Scene& scene) {
    Asked asked = ask(scene);
    if (asked.wants().ird == mpa::kNoNegotiation) not_applicable("the peer does not negotiate its IRD");
    if (asked.wants().ird == 0x3FFE) not_applicable("the peer's IRD is the greatest that there is");
    asked.reply.enhanced->ord = 0x3FFE;
    asked.answer();
    asked.by.expect_terminate({kInsufficientIrd});
  };

  // MPA2-9.1-14: On an accepting Reply the Initiator sets its ORD to at most the Responder IRD.
  cases.add({.name = "enhanced-reply-one-read",
             .clause = "MPA2-9.1-14",
             .what = "The Responder's IRD is 1, and the peer has three Reads to do: they come one at a time.",
             .needs = kConnects | kOrders | kEnhanced}) = [](Scene& scene) {
    // The peer has more Reads to do than our IRD allows: one at a time.
    ask(scene).by.shut();  // an Initiator that does not ask is not told our IRD
    Conversation& by = scene.connect({.start_up = {.enhanced = mpa::EnhancedData{.ird = 1, .ord = 1}}});
    if (!asked_enhanced(by)) not_applicable("the peer's Request is not enhanced (RFC 6581): no IRD is negotiated");
    static_cast<void>(scene.order(
        by, {.operation = Order::kRead, .count = 3, .length = 64, .stag = Scene::kOwnStag, .offset = {0x1000}}));
    for (int i = 0; i < 3; ++i) {
      const auto request = by.expect_read_request(64);
      by.expect_silence(scene.quiet(), "one Read is outstanding, and the Responder's IRD is 1 (MPA2-9.1-14)",
                        message_of(rdmap::Opcode::kReadRequest));
      by.send_ulpdu(by.make().read_response(request.sink_stag, request.sink_offset, pattern(request.size)));
    }
    scene.expect_alive(by);
  };

  // MPA2-9.1-23: On Responder ORD 0x3FFF the Initiator leaves its IRD unchanged.
  cases.add({.name = "enhanced-reply-no-negotiation",
             .clause = "MPA2-9.1-23",
             .what = "IRD and ORD of the Reply are 0x3FFF: the peer keeps its own, and goes on.",
             .needs = kConnects | kStream | kEnhanced,
             .also = {"MPA2-9.1-21"}}) = [](Scene& scene) {
    Asked asked = ask(scene);
    asked.reply.enhanced->ird = asked.reply.enhanced->ord = mpa::kNoNegotiation;
    asked.answer();
    expect_start(asked.by);
  };

  // MPA2-12-01: Implementations should sanity check received ORD, IRD and RTR flags.
  cases.add({.name = "enhanced-reply-extremes",
             .clause = "MPA2-12-01",
             .what = "IRD and ORD of the Reply are 0, 1, 0x3FFE and 0x3FFF in all pairs: the peer keeps working.",
             .needs = kConnects | kStream | kEnhanced}) = [](Scene& scene) {
    // How the peer reacts is its own affair; after each a fresh connection works.
    for (const std::uint16_t ird : kDepths) {
      for (const std::uint16_t ord : kDepths) {
        Asked asked = ask(scene);
        asked.reply.enhanced->ird = ird;
        asked.reply.enhanced->ord = ord;
        asked.answer();
        asked.by.expect_fpdu("the initiator's first FPDU, or a Terminate");
        asked.by.shut();
      }
    }
  };

  // MPA2-9.2-19: With A=0 received, B, C and D are ignored.
  cases.add({.name = "enhanced-reply-flags-without-model",
             .clause = "MPA2-9.2-19",
             .what = "B, C and D are set in the Reply and A is not: the peer ignores them.",
             .needs = kConnects | kStream | kEnhanced}) = [](Scene& scene) {
    Asked asked = ask(scene);
    if (asked.wants().peer_to_peer) not_applicable("the peer's Request is of the peer-to-peer model (A is 1)");
    asked.reply.enhanced->rtr = {.send = true, .write = true, .read = true};
    asked.answer();
    expect_start(asked.by);
  };

  // MPA2-12-01: Implementations should sanity check received ORD, IRD and RTR flags.
  cases.add(
      {.name = "enhanced-reply-model",
       .clause = "MPA2-12-01",
       .what =
           "A is 0 in the Request and 1 in the Reply, with D alone: the peer ends the connection, or sends the RTR.",
       .needs = kConnects | kStream | kEnhanced}) = [](Scene& scene) {
    // A is 0 in the Request and 1 in the Reply, which names the RDMA Read alone. An Initiator that checks the flags
    // ends the connection, and one that takes the Reply at its word sends that Read (MPA2-9.2-12).
    Asked asked = ask(scene);
    if (asked.wants().peer_to_peer) not_applicable("the peer's Request is of the peer-to-peer model (A is 1)");
    asked.by.exchange().prober_breaks_startup = true;
    asked.reply.enhanced->peer_to_peer = true;
    asked.reply.enhanced->rtr = {.send = false, .write = false, .read = true};
    asked.answer();
    PeerFpdu first;
    const Came came = asked.by.next_any(first, asked.by.patience());
    if (came == Came::kFin || came == Came::kReset) return;
    const bool reads = first.is(rdmap::Opcode::kReadRequest);
    const bool tells = first.is(rdmap::Opcode::kTerminate);
    if (came != Came::kFpdu || (!reads && !tells))
      warn("A is 0 in the Request and 1 in the Reply, and the peer goes on as if it were 0 in both");
  };

  // MPA2-9.2-13: An Initiator that can generate none of the types named by the Responder sends a Terminate about the
  // failed negotiation and terminates the connection.
  cases.add({.name = "enhanced-reply-no-common-rtr",
             .clause = "MPA2-9.2-13",
             .what = "The Reply names no ready-to-receive type that the Request has: Terminate 2/0/07.",
             .needs = kConnects | kEnhanced,
             .also = {"MPA2-9.2-14", "MPA2-8-01", "RDMAP-IANA-3.3-07"}}) = [](Scene& scene) {
    for (const bool none : {true, false}) {
      Asked asked = ask_peer_to_peer(scene);
      const mpa::RtrTypes& wants = asked.wants().rtr;
      asked.reply.enhanced->rtr = {
          .send = !none && !wants.send, .write = !none && !wants.write, .read = !none && !wants.read};
      asked.answer();
      asked.by.expect_terminate({kNoMatchingRtr});
    }
  };

  // MPA2-9.2-12: On an accepting Reply with A=1 the Initiator generates one of the negotiated RTR indications.
  cases.add({.name = "enhanced-reply-rtr",
             .clause = "MPA2-9.2-12",
             .what = "The Reply names one ready-to-receive type: it is the first message, and has no octets.",
             .needs = kConnects | kEnhanced}) = [](Scene& scene) {
    using rdmap::Opcode;
    const auto one_type = [&](bool mpa::RtrTypes::* type, Opcode opcode) {
      Asked asked = ask_peer_to_peer(scene);
      if (!(asked.wants().rtr.*type)) return;
      asked.reply.enhanced->rtr = {};
      asked.reply.enhanced->rtr.*type = true;
      asked.answer();
      const PeerFpdu first = asked.by.expect_fpdu("the peer's ready-to-receive message");
      if (!first.is(opcode))
        fail(fmt::format("the peer's first FPDU is no {}, which the Reply names alone", rdmap::row(opcode).name));
      if (opcode != Opcode::kReadRequest && !first.payload().empty())
        fail("the peer's ready-to-receive message has a payload, and must have none");
      if (opcode != Opcode::kReadRequest) return;
      const auto read = rdmap::parse_read_request(first.payload());
      if (!read || read->size != 0) fail("the peer's ready-to-receive Read is not one of no octets");
    };
    one_type(&mpa::RtrTypes::send, Opcode::kSend);
    one_type(&mpa::RtrTypes::write, Opcode::kWrite);
    one_type(&mpa::RtrTypes::read, Opcode::kReadRequest);
  };
}

}  // namespace weft::probe
