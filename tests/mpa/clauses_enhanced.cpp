// SPDX-License-Identifier: Apache-2.0
// RFC 6581: enhanced connection establishment.
#include <catch2/catch.hpp>

#include "support.hpp"

using namespace weft;
using namespace weft::mpa;
using namespace weft::mpa::test;

namespace {

using Values = std::initializer_list<std::uint16_t>;
constexpr RtrTypes kAllTypes{true, true, true};

StartupFrame enhanced(FrameKind kind, const EnhancedData& data) {
  StartupFrame result = frame(kind, 2);
  result.enhanced = data;
  return result;
}

Responder asked(const EnhancedData& data, const Policy& policy = {}) {
  Responder responder(policy);
  REQUIRE(outcome<RequestReceived>(responder.receive(octets_of(enhanced(FrameKind::kRequest, data)))));
  return responder;
}

StartupFrame parsed(Bytes octets, FrameKind kind) { return parse_startup_frame(octets, kind)->value(); }

EnhancedData answer(const EnhancedData& data, const Policy& policy = {}) {
  Responder responder = asked(data, policy);
  return parsed(responder.accept({})->octets, FrameKind::kReply).enhanced.value();
}

Initiator::Step replied(const Policy& policy, const EnhancedData& data) {
  Initiator initiator(policy);
  REQUIRE(initiator.start({}));
  return initiator.receive(octets_of(enhanced(FrameKind::kReply, data)));
}

Agreement agreed(const Policy& policy, const EnhancedData& data) {
  return outcome<Agreement>(replied(policy, data)).value();
}

std::optional<EnhancedData> asks(const Policy& policy) {
  Initiator initiator(policy);
  return parsed(initiator.start({}).value(), FrameKind::kRequest).enhanced;
}

RtrTypes types(unsigned bits) { return {(bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0}; }

}  // namespace

// --- Section 6: the frame

TEST_CASE("S says whether private data begins with the enhanced data, and PD_Length counts both",
          "[rfc6581/6][rfc6581/9][MPA2-6-01][MPA2-6-02][MPA2-6-03][MPA2-6-06][MPA2-6-10][MPA2-6-11][MPA2-10-07]") {
  const Octets with = vector_named("D-req-v2-p2p");
  REQUIRE(parsed(with, FrameKind::kRequest).enhanced);
  REQUIRE(parsed(with, FrameKind::kRequest).private_data.size() == 3);
  Octets without = with;
  without[16] &= std::byte{0xef};
  REQUIRE_FALSE(parsed(without, FrameKind::kRequest).enhanced);
  REQUIRE(parsed(without, FrameKind::kRequest).private_data.size() == 7);
  Octets short_one = vector_named("D-req-v2-cs");
  short_one[19] = std::byte{3};
  Responder responder(Policy{});
  REQUIRE(fault(responder.receive(short_one)) == Fault::kEnhancedDataMissing);
}

TEST_CASE("enhanced features go with revision two, plain frames may say one", "[rfc6581/6][MPA2-6-07][MPA2-6-08]") {
  Initiator two(Policy{});
  REQUIRE(parsed(two.start({}).value(), FrameKind::kRequest).revision == 2);
  Initiator one(Policy{.revision = 1});
  const StartupFrame plain = parsed(one.start({}).value(), FrameKind::kRequest);
  REQUIRE(plain.revision == 1);
  REQUIRE_FALSE(plain.enhanced);
}

TEST_CASE("revision 1 Requests are accepted by a host of revision 2",
          "[rfc6581/6][rfc6581/10][MPA2-6-09][MPA2-10-06]") {
  Responder responder(Policy{.revision = 2});
  REQUIRE(outcome<RequestReceived>(responder.receive(vector_named("D-req-v1-m-pd"))));
  const StartupFrame reply = parsed(responder.accept({})->octets, FrameKind::kReply);
  REQUIRE(reply.revision == 1);
  REQUIRE_FALSE(reply.enhanced);
}

TEST_CASE("the enhanced data is A B IRD C D ORD in network order",
          "[rfc6581/9][rfc6581/5][MPA2-9-01][MPA2-9-02][MPA2-9-04][MPA2-5-01]") {
  const auto data_of = [](const char* hex) {
    return parsed(from_text("MPA ID Req Frame") + from_hex("50020004") + from_hex(hex), FrameKind::kRequest).enhanced;
  };
  REQUIRE(data_of("80000000") == EnhancedData{.peer_to_peer = true, .rtr = {}, .ird = 0, .ord = 0});
  REQUIRE(data_of("40000000") == EnhancedData{.peer_to_peer = false, .rtr = {true, false, false}, .ird = 0, .ord = 0});
  REQUIRE(data_of("00008000") == EnhancedData{.peer_to_peer = false, .rtr = {false, true, false}, .ird = 0, .ord = 0});
  REQUIRE(data_of("00004000") == EnhancedData{.peer_to_peer = false, .rtr = {false, false, true}, .ird = 0, .ord = 0});
  REQUIRE(data_of("3ffe0102") == EnhancedData{.peer_to_peer = false, .rtr = {}, .ird = 0x3ffe, .ord = 0x0102});
}

TEST_CASE("ULP private data shrinks to 508 octets", "[rfc6581/9][MPA2-9-03][MPA2-7-07]") {
  REQUIRE(Initiator(Policy{}).start(pattern(509)).error() == Misuse::kPrivateDataTooLong);
  Initiator initiator(Policy{});
  const Octets request = copy(initiator.start(pattern(508)).value());
  REQUIRE(request.size() == 532);
  Responder responder(Policy{});
  REQUIRE(copy(outcome<RequestReceived>(responder.receive(request))->private_data) == pattern(508));
  REQUIRE(responder.accept(pattern(509)).error() == Misuse::kPrivateDataTooLong);
}

// --- Section 9.1: IRD and ORD

TEST_CASE("the responder sees the initiator's depths and the initiator the responder's, on accept and on reject",
          "[rfc6581/9.1][MPA2-9.1-07][MPA2-9.1-17][MPA2-9.1-01][MPA2-9.1-03][RDMAP-6.1-04]") {
  REQUIRE(asks(Policy{.ird = 11, .ord = 22}) == EnhancedData{.peer_to_peer = false, .rtr = {}, .ird = 11, .ord = 22});
  Responder responder(Policy{});
  const auto request = outcome<RequestReceived>(responder.receive(
      octets_of(enhanced(FrameKind::kRequest, {.peer_to_peer = false, .rtr = {}, .ird = 11, .ord = 22}))));
  REQUIRE(request->peer_ird == 11);
  REQUIRE(request->peer_ord == 22);
  const Agreement agreement = agreed(Policy{}, {.peer_to_peer = false, .rtr = {}, .ird = 33, .ord = 44});
  REQUIRE(agreement.peer_ird == 33);
  REQUIRE(agreement.peer_ord == 44);
  Initiator initiator(Policy{});
  REQUIRE(initiator.start({}));
  StartupFrame rejecting = enhanced(FrameKind::kReply, {.peer_to_peer = false, .rtr = {}, .ird = 5, .ord = 6});
  rejecting.reject = true;
  const auto rejection = outcome<Rejection>(initiator.receive(octets_of(rejecting)));
  REQUIRE(rejection->peer_ird == 5);
  REQUIRE(rejection->peer_ord == 6);
}

TEST_CASE("a rejection tells the initiator that the responder has no ready-to-receive type",
          "[rfc6581/9.2][MPA2-9.2-11]") {
  const Policy asking{.peer_to_peer = true};
  for (const bool mirrored : {true, false}) {
    for (const bool named : {true, false}) {
      Initiator initiator(asking);
      REQUIRE(initiator.start({}));
      StartupFrame rejecting =
          enhanced(FrameKind::kReply, {.peer_to_peer = mirrored, .rtr = {.send = named}, .ird = 5, .ord = 6});
      rejecting.reject = true;
      const auto rejection = outcome<Rejection>(initiator.receive(octets_of(rejecting)));
      REQUIRE(rejection->takes_no_rtr == (mirrored && !named));
    }
  }
}

TEST_CASE("the responder's ORD is at most the initiator's IRD, and the Reply says what is used",
          "[rfc6581/9.1][MPA2-9.1-02][MPA2-9.1-05][MPA2-9.1-06][MPA2-9.1-08][MPA2-9.1-10]") {
  for (const std::uint16_t ird : Values{0, 1, 16, 0x3ffe}) {
    for (const std::uint16_t own : Values{0, 1, 8, 0x3ffe}) {
      Responder responder = asked({.peer_to_peer = false, .rtr = {}, .ird = ird, .ord = 4}, Policy{.ord = own});
      const auto reply = responder.accept({});
      const std::uint16_t expected = std::min(ird, own);
      REQUIRE(parsed(reply->octets, FrameKind::kReply).enhanced->ord == expected);
      REQUIRE(reply->agreement.ord == expected);
    }
  }
}

TEST_CASE("the responder's IRD in the Reply is the one in force", "[rfc6581/9.1][MPA2-9.1-04]") {
  for (const std::uint16_t own : Values{0, 1, 8, 0x3ffe}) {
    Responder responder = asked({.peer_to_peer = false, .rtr = {}, .ird = 1, .ord = 8}, Policy{.ird = own});
    const auto reply = responder.accept({});
    REQUIRE(parsed(reply->octets, FrameKind::kReply).enhanced->ird == own);
    REQUIRE(reply->agreement.ird == own);
  }
}

TEST_CASE("the responder makes room for a Read RTR", "[rfc6581/9.1][MPA2-9.1-09]") {
  const Policy reads_only{.rtr = {false, false, true}, .ird = 0};
  REQUIRE(answer({.peer_to_peer = true, .rtr = {false, false, true}, .ird = 0, .ord = 0}, reads_only).ird == 1);
}

TEST_CASE("a rejecting responder may name the ORD that it needs", "[rfc6581/9.1][MPA2-9.1-11]") {
  Responder responder = asked({.peer_to_peer = false, .rtr = {}, .ird = 2, .ord = 2});
  const StartupFrame reply = parsed(responder.reject({}, {.ird = {}, .ord = 40}).value(), FrameKind::kReply);
  REQUIRE(reply.reject);
  REQUIRE(reply.enhanced->ord == 40);
}

TEST_CASE("the initiator's ORD is at most the responder's IRD", "[rfc6581/9.1][rfc6581/3][MPA2-9.1-14][MPA2-3-02]") {
  for (const std::uint16_t theirs : Values{0, 1, 200}) {
    REQUIRE(agreed(Policy{.ord = 128}, {.peer_to_peer = false, .rtr = {}, .ird = theirs, .ord = 0}).ord ==
            std::min<std::uint16_t>(theirs, 128));
  }
}

TEST_CASE("an initiator that cannot serve the responder's ORD ends with a Terminate of code 6",
          "[rfc6581/9.1][MPA2-9.1-13][MPA2-9.1-15][MPA2-9.1-16]") {
  const auto step = replied(Policy{.ird = 128}, {.peer_to_peer = false, .rtr = {}, .ird = 1, .ord = 0x3ffe});
  const auto failure = outcome<StartupFailure>(step);
  REQUIRE(failure->fault == Fault::kInsufficientIrd);
  REQUIRE(std::to_underlying(wire_code(failure->fault)) == 6);
  REQUIRE(failure->terminate_in);
  REQUIRE(agreed(Policy{.ird = 128}, {.peer_to_peer = false, .rtr = {}, .ird = 1, .ord = 128}).ird == 128);
}

TEST_CASE("0x3FFF leaves the value to the ULP: the responder answers in kind and keeps its own",
          "[rfc6581/9.1][MPA2-9.1-19][MPA2-9.1-20][MPA2-9.1-22]") {
  const EnhancedData no_ord{.peer_to_peer = false, .rtr = {}, .ird = 5, .ord = kNoNegotiation};
  const EnhancedData no_ird{.peer_to_peer = false, .rtr = {}, .ird = kNoNegotiation, .ord = 5};
  const Policy own{.ird = 30, .ord = 40};
  REQUIRE(answer(no_ord, own).ird == kNoNegotiation);
  REQUIRE(answer(no_ord, own).ord == 5);
  REQUIRE(answer(no_ird, own).ord == kNoNegotiation);
  REQUIRE(answer(no_ird, own).ird == 30);
  REQUIRE(asked(no_ord, own).accept({})->agreement.ird == 30);
  REQUIRE(asked(no_ird, own).accept({})->agreement.ord == 40);
  REQUIRE(asked(no_ird, own).accept({})->agreement.peer_ird == std::nullopt);
}

TEST_CASE("0x3FFF in the Reply leaves the initiator's values alone", "[rfc6581/9.1][MPA2-9.1-21][MPA2-9.1-23]") {
  const Policy own{.ird = 30, .ord = 40};
  REQUIRE(agreed(own, {.peer_to_peer = false, .rtr = {}, .ird = kNoNegotiation, .ord = 1}).ord == 40);
  REQUIRE(agreed(own, {.peer_to_peer = false, .rtr = {}, .ird = 1, .ord = kNoNegotiation}).ird == 30);
}

// --- Section 9.2: peer-to-peer

TEST_CASE("the Request says peer-to-peer with A and all types that we can send",
          "[rfc6581/9.2][rfc6581/"
          "5][MPA2-9.2-01][MPA2-9.2-02][MPA2-9.2-03][MPA2-9.2-04][MPA2-9.2-16][MPA2-9.2-18][MPA2-5-02]") {
  for (unsigned bits = 1; bits < 8; ++bits) {
    REQUIRE(asks(Policy{.peer_to_peer = true, .rtr = types(bits)})->rtr == types(bits));
    REQUIRE(asks(Policy{.peer_to_peer = true, .rtr = types(bits)})->peer_to_peer);
    REQUIRE(asks(Policy{.peer_to_peer = false, .rtr = types(bits)})->rtr == RtrTypes{});
    REQUIRE_FALSE(asks(Policy{.peer_to_peer = false, .rtr = types(bits)})->peer_to_peer);
  }
}

TEST_CASE("the Reply mirrors A, and the types with it", "[rfc6581/9.2][MPA2-9.2-06][MPA2-9.2-17][MPA2-9.2-18]") {
  REQUIRE(answer({.peer_to_peer = true, .rtr = kAllTypes, .ird = 1, .ord = 1}).peer_to_peer);
  const EnhancedData client_server = answer({.peer_to_peer = false, .rtr = kAllTypes, .ird = 1, .ord = 1});
  REQUIRE_FALSE(client_server.peer_to_peer);
  REQUIRE(client_server.rtr == RtrTypes{});
}

TEST_CASE("the responder names what it can of what was offered, and never nothing",
          "[rfc6581/9.2][MPA2-9.2-05][MPA2-9.2-07][MPA2-9.2-09][MPA2-9.2-11]") {
  for (unsigned offered = 0; offered < 8; ++offered) {
    for (unsigned supported = 1; supported < 8; ++supported) {
      const RtrTypes named =
          answer({.peer_to_peer = true, .rtr = types(offered), .ird = 1, .ord = 1}, Policy{.rtr = types(supported)})
              .rtr;
      REQUIRE(named == types((offered & supported) != 0 ? offered & supported : supported));
    }
  }
}

TEST_CASE("the initiator opens with one of the common types",
          "[rfc6581/9.2][rfc6581/1.1][rfc6581/9.3][MPA2-9.2-12][MPA2-1.1-02][MPA2-9.3-03]") {
  for (unsigned ours = 1; ours < 8; ++ours) {
    for (unsigned theirs = 1; theirs < 8; ++theirs) {
      if ((ours & theirs) == 0) continue;
      const Agreement agreement = agreed(Policy{.peer_to_peer = true, .rtr = types(ours)},
                                         {.peer_to_peer = true, .rtr = types(theirs), .ird = 1, .ord = 1});
      REQUIRE(agreement.rtr);
      REQUIRE((1u << std::to_underlying(*agreement.rtr) & ours & theirs) != 0);
    }
  }
}

TEST_CASE("a Reply may name fewer types than offered, or others besides", "[rfc6581/9.2][MPA2-9.2-08][MPA2-9.2-10]") {
  const Policy writes_and_reads{.peer_to_peer = true, .rtr = types(6)};
  const Agreement fewer = agreed(writes_and_reads, {.peer_to_peer = true, .rtr = types(4), .ird = 1, .ord = 1});
  REQUIRE(fewer.rtr == Rtr::kRead);
  const Agreement more = agreed(writes_and_reads, {.peer_to_peer = true, .rtr = types(3), .ird = 1, .ord = 1});
  REQUIRE(more.rtr == Rtr::kWrite);
  REQUIRE(more.rtr_common == types(2));
}

TEST_CASE(
    "an initiator without Reads of its own has one outstanding for the ready-to-receive Read, and no other changes",
    "[rfc6581/9.1][MPA2-9.1-06][MPA2-9.1-09][MPA2-9.1-14]") {
  const auto ord = [](unsigned rtr, std::uint16_t wanted) {
    const Agreement agreement = agreed(Policy{.peer_to_peer = true, .rtr = types(rtr), .ord = wanted},
                                       {.peer_to_peer = true, .rtr = types(rtr), .ird = 16, .ord = 1});
    return agreement.ord;
  };
  constexpr unsigned kWrite = 2, kRead = 4;
  REQUIRE(ord(kRead, 0) == 1);
  REQUIRE(ord(kRead, 9) == 9);
  REQUIRE(ord(kWrite, 0) == 0);
  REQUIRE(ord(kWrite, 9) == 9);
}

TEST_CASE("the exchange runs Request, Reply, first message, and changes nothing about FPDUs",
          "[rfc6581/9.3][rfc6581/4.2][MPA2-9.3-01][MPA2-9.3-02][MPA2-4.2-01]") {
  Initiator initiator(Policy{.markers = true, .peer_to_peer = true, .ird = 7, .ord = 9});
  const Octets request = copy(initiator.start({}).value());
  REQUIRE(parsed(request, FrameKind::kRequest).enhanced ==
          EnhancedData{.peer_to_peer = true, .rtr = {false, true, true}, .ird = 7, .ord = 9});
  Responder responder(Policy{.ird = 5, .ord = 100});
  REQUIRE(outcome<RequestReceived>(responder.receive(request)));
  const Octets reply = copy(responder.accept({})->octets);
  REQUIRE(parsed(reply, FrameKind::kReply).enhanced ==
          EnhancedData{.peer_to_peer = true, .rtr = {false, true, true}, .ird = 5, .ord = 7});
  const Agreement agreement = outcome<Agreement>(initiator.receive(reply)).value();
  FpduSender sender(agreement.outbound());
  REQUIRE(seal(sender, pattern(600)) == reference_fpdu(pattern(600), false, 0));
  REQUIRE(read_all(FpduReceiver(agreement.inbound()), reference_fpdu(pattern(600), true, 0)).ulpdus.size() == 1);
}

TEST_CASE("no common type ends with a Terminate of code 7",
          "[rfc6581/9.2][rfc6581/9.3][MPA2-9.2-13][MPA2-9.2-14][MPA2-9.3-03]") {
  for (const unsigned theirs : {0u, 1u}) {
    const auto failure =
        outcome<StartupFailure>(replied(Policy{.peer_to_peer = true, .rtr = types(6)},
                                        {.peer_to_peer = true, .rtr = types(theirs), .ird = 1, .ord = 1}));
    REQUIRE(failure->fault == Fault::kNoMatchingRtr);
    REQUIRE(std::to_underlying(wire_code(failure->fault)) == 7);
    REQUIRE(failure->terminate_in);
  }
}

TEST_CASE("with A=0 the types are ignored", "[rfc6581/9.2][MPA2-9.2-19]") {
  Responder responder(Policy{});
  const auto request = outcome<RequestReceived>(responder.receive(
      octets_of(enhanced(FrameKind::kRequest, {.peer_to_peer = false, .rtr = kAllTypes, .ird = 1, .ord = 1}))));
  REQUIRE_FALSE(request->peer_to_peer);
  REQUIRE(request->rtr_offered == RtrTypes{});
  REQUIRE(responder.accept({})->agreement.rtr_common == RtrTypes{});
  const Agreement agreement = agreed(Policy{}, {.peer_to_peer = false, .rtr = kAllTypes, .ird = 1, .ord = 1});
  REQUIRE(agreement.rtr == std::nullopt);
  REQUIRE(agreement.rtr_common == RtrTypes{});
}

TEST_CASE("a Reply whose A differs from the Request's is refused",
          "[rfc6581/9.2][rfc6581/12][MPA2-9.2-06][MPA2-12-01]") {
  REQUIRE(fault(replied(Policy{.peer_to_peer = true}, {.peer_to_peer = false, .rtr = {}, .ird = 1, .ord = 1})) ==
          Fault::kModelNotMirrored);
  REQUIRE(fault(replied(Policy{}, {.peer_to_peer = true, .rtr = kAllTypes, .ird = 1, .ord = 1})) ==
          Fault::kModelNotMirrored);
}

TEST_CASE("every combination of depths and types is survived", "[rfc6581/12][MPA2-12-01]") {
  for (const std::uint16_t ird : Values{0, 1, 0x3ffe, 0x3fff}) {
    for (const std::uint16_t ord : Values{0, 1, 0x3ffe, 0x3fff}) {
      for (unsigned bits = 0; bits < 16; ++bits) {
        const EnhancedData data{.peer_to_peer = (bits & 8) != 0, .rtr = types(bits), .ird = ird, .ord = ord};
        const auto reply = asked(data).accept({});
        REQUIRE(reply);
        REQUIRE(reply->agreement.ird.value_or(0) <= 128);
        REQUIRE(reply->agreement.ord.value_or(0) <= 128);
        const auto step = replied(Policy{.peer_to_peer = data.peer_to_peer}, data);
        REQUIRE((outcome<Agreement>(step) || outcome<StartupFailure>(step)));
      }
    }
  }
}

// --- Section 10: interoperability

TEST_CASE("an enhanced Request is asked for, and answered, only when enhanced functions are wanted",
          "[rfc6581/10][MPA2-10-01][MPA2-10-05]") {
  REQUIRE(asks(Policy{}));
  REQUIRE_FALSE(asks(Policy{.enhanced = false}));
  REQUIRE_FALSE(asks(Policy{.revision = 1}));
}

TEST_CASE("enhanced Requests get enhanced Replies, plain ones plain Replies, and both get their own revision back",
          "[rfc6581/10][rfc6581/9.3][MPA2-10-02][MPA2-10-04][MPA2-10-08][MPA2-10-09][MPA2-9.3-02]") {
  for (const bool reject : {false, true}) {
    const auto reply_to = [reject](const Octets& request) {
      Responder responder(Policy{});
      REQUIRE(outcome<RequestReceived>(responder.receive(request)));
      return parsed(copy(reject ? responder.reject({}).value() : responder.accept({})->octets), FrameKind::kReply);
    };
    REQUIRE(reply_to(vector_named("D-req-v2-cs")).enhanced);
    REQUIRE(reply_to(vector_named("D-req-v2-cs")).revision == 2);
    REQUIRE_FALSE(reply_to(octets_of(frame(FrameKind::kRequest, 2))).enhanced);
    REQUIRE(reply_to(octets_of(frame(FrameKind::kRequest, 2))).revision == 2);
    REQUIRE_FALSE(reply_to(octets_of(frame(FrameKind::kRequest, 1))).enhanced);
    REQUIRE(reply_to(octets_of(frame(FrameKind::kRequest, 1))).revision == 1);
  }
}

TEST_CASE("the initiator refuses a Reply of the wrong kind", "[rfc6581/10][MPA2-10-02][MPA2-10-04]") {
  Initiator wants(Policy{});
  REQUIRE(wants.start({}));
  REQUIRE(fault(wants.receive(octets_of(frame(FrameKind::kReply, 2)))) == Fault::kReplyNotEnhanced);
  REQUIRE(fault(replied(Policy{.enhanced = false}, {.peer_to_peer = false, .rtr = {}, .ird = 1, .ord = 1})) ==
          Fault::kReplyEnhanced);
  REQUIRE(fault(replied(Policy{.revision = 1}, {.peer_to_peer = false, .rtr = {}, .ird = 1, .ord = 1})) ==
          Fault::kReplyEnhanced);
}

TEST_CASE("a host of revision 1 refuses revision 2, and its peer may try again with revision 1",
          "[rfc6581/10][MPA2-10-03][MPA2-10-10][MPA2-10-11][MPA2-10-12]") {
  Initiator initiator(Policy{});
  Responder old(Policy{.revision = 1});
  REQUIRE(fault(old.receive(initiator.start({}).value())) == Fault::kUnsupportedRevision);
  const StartupFailure failure = initiator.closed();
  REQUIRE(failure.fault == Fault::kClosedInStartup);
  REQUIRE(failure.retry_with_revision_1);
  Initiator again(Policy{.revision = 1});
  Responder same(Policy{.revision = 1});
  REQUIRE(outcome<RequestReceived>(same.receive(again.start({}).value())));
  REQUIRE(outcome<Agreement>(again.receive(same.accept({})->octets)));
}
