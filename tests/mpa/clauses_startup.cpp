// SPDX-License-Identifier: Apache-2.0
// RFC 5044 section 7.1: the startup frames and who may do what when.
#include <catch2/catch.hpp>

#include "support.hpp"

using namespace weft;
using namespace weft::mpa;
using namespace weft::mpa::test;

namespace {

const Policy kRevision1{.revision = 1};

Initiator started(const Policy& policy = kRevision1) {
  Initiator initiator(policy);
  REQUIRE(initiator.start({}));
  return initiator;
}

std::optional<Fault> responder_fault(const Octets& octets, const Policy& policy = {}) {
  Responder responder(policy);
  const auto step = responder.receive(octets);
  REQUIRE((fault(step).has_value() == (responder.phase() == Phase::kFailed)));
  return fault(step);
}

std::optional<Fault> initiator_fault(const Octets& octets, const Policy& policy = kRevision1) {
  Initiator initiator = started(policy);
  const auto step = initiator.receive(octets);
  REQUIRE((fault(step).has_value() == (initiator.phase() == Phase::kFailed)));
  return fault(step);
}

Octets with_flags(Octets octets, unsigned flags) {
  octets[16] |= static_cast<std::byte>(flags);
  return octets;
}
Octets with_revision(Octets octets, unsigned revision) {
  octets[17] = static_cast<std::byte>(revision);
  return octets;
}

const Octets kRequest = vector_named("D-req-v1");
const Octets kReply = vector_named("D-rep-v1");

Responder deciding(const Octets& request = kRequest) {
  Responder responder(Policy{});
  REQUIRE(outcome<RequestReceived>(responder.receive(request)));
  return responder;
}

}  // namespace

TEST_CASE("a startup frame is key, flags, revision, length and private data, without Markers, CRC or padding",
          "[rfc5044/7.1.1][rfc5044/7.1][MPA-7.1.1-01][MPA-7.1-05][MPA-7.1.1-24][MPA-7.1.1-30][MPA-7.1.1-23]") {
  for (const std::size_t size : {0u, 1u, 2u, 3u, 5u, 512u}) {
    Initiator initiator(Policy{.revision = 1, .markers = true});
    const Octets data = pattern(size);
    const Octets octets = copy(initiator.start(data).value());
    const Octets head = from_text("MPA ID Req Frame") + from_hex("c001");
    REQUIRE(octets == head + Octets{std::byte(size >> 8), std::byte(size & 0xff)} + data);
  }
}

TEST_CASE("the initiator sends the Request key, the responder the Reply key",
          "[rfc5044/7.1.1][rfc5044/7.1.2][MPA-7.1.1-02][MPA-7.1.1-04][MPA-7.1.2-01]") {
  Initiator initiator(kRevision1);
  REQUIRE(copy(Bytes(initiator.start({}).value()).first(16)) == from_hex("4D504120494420526571204672616D65"));
  REQUIRE(copy(Bytes(deciding().accept({})->octets).first(16)) == from_hex("4D504120494420526570204672616D65"));
}

TEST_CASE(
    "any other key closes the connection with a local error",
    "[rfc5044/7.1.1][rfc5044/7.1.2][rfc5044/8][MPA-7.1.1-03][MPA-7.1.1-05][MPA-7.1.2-04][MPA-7.1.2-14][MPA-7.1.2-18]"
    "[MPA-7.1.3-02][MPA-8-04][MPA-8-09]") {
  for (std::size_t i = 0; i < 16; ++i) {
    Octets request = kRequest;
    Octets reply = kReply;
    request[i] ^= std::byte{1};
    reply[i] ^= std::byte{2};
    REQUIRE(responder_fault(request) == Fault::kBadKey);
    REQUIRE(initiator_fault(reply) == Fault::kBadKey);
  }
  REQUIRE(std::to_underlying(wire_code(Fault::kBadKey)) == 4);
}

TEST_CASE("a Request answered by a Request is recognised as a clash of initiators",
          "[rfc5044/7.1][rfc5044/7.1.2][MPA-7.1-09][MPA-7.1.2-25][MPA-2-03]") {
  REQUIRE(initiator_fault(kRequest) == Fault::kRoleClash);
  REQUIRE(initiator_fault(vector_named("D-req-v2-p2p"), Policy{}) == Fault::kRoleClash);
}

TEST_CASE("M speaks for the direction towards its sender", "[rfc5044/7.1.1][MPA-7.1.1-06]") {
  for (const bool ours : {false, true}) {
    for (const bool theirs : {false, true}) {
      Initiator initiator = started(Policy{.revision = 1, .markers = ours});
      const auto agreement = outcome<Agreement>(initiator.receive(with_flags(kReply, theirs ? 0x80 : 0)));
      REQUIRE(agreement->inbound().markers == ours);
      REQUIRE(agreement->outbound().markers == theirs);
      Responder responder(Policy{.markers = ours});
      const auto request = outcome<RequestReceived>(responder.receive(with_flags(kRequest, theirs ? 0x80 : 0)));
      REQUIRE(request->markers_wanted == theirs);
      const auto reply = responder.accept({});
      REQUIRE(reply->agreement.inbound().markers == ours);
      REQUIRE(reply->agreement.outbound().markers == theirs);
      REQUIRE(((reply->octets[16] & std::byte{0x80}) != std::byte{0}) == ours);
    }
  }
}

TEST_CASE("R is zero in a Request and not looked at there", "[rfc5044/7.1.1][MPA-7.1.1-14][MPA-7.1.1-15]") {
  Initiator initiator(Policy{});
  REQUIRE((initiator.start({}).value()[16] & std::byte{0x20}) == std::byte{0});
  REQUIRE(responder_fault(with_flags(kRequest, 0x20)) == std::nullopt);
}

TEST_CASE("R in a Reply is the verdict; MPA is left and the connection stays open",
          "[rfc5044/7.1.1][rfc5044/"
          "7.1.2][MPA-7.1.1-16][MPA-7.1.2-05][MPA-7.1.2-06][MPA-7.1.2-07][MPA-7.1.2-15][MPA-7.1.2-21]") {
  Responder responder = deciding();
  const Octets rejecting = copy(responder.reject(from_text("no")).value());
  REQUIRE(responder.phase() == Phase::kRejected);
  REQUIRE_FALSE(may_send_fpdus(responder.phase()));
  REQUIRE((rejecting[16] & std::byte{0x20}) != std::byte{0});
  Initiator initiator = started();
  const Octets arrived = rejecting + from_text("now for something else");  // outlives the private data, a span of it
  const auto step = initiator.receive(arrived);
  REQUIRE(copy(outcome<Rejection>(step)->private_data) == from_text("no"));
  REQUIRE(step.consumed == rejecting.size());  // the rest is the ULP's
  REQUIRE(initiator.phase() == Phase::kRejected);
  REQUIRE_FALSE(may_send_fpdus(initiator.phase()));
}

TEST_CASE("reserved bits are sent as zero and not looked at",
          "[rfc5044/7.1.1][rfc6581/6][MPA-7.1.1-17][MPA-7.1.1-18][MPA2-6-04][MPA2-6-05]") {
  for (const std::uint8_t revision : {std::uint8_t{1}, std::uint8_t{2}}) {
    Initiator initiator(Policy{.revision = revision});
    const unsigned flags = std::to_integer<unsigned>(initiator.start({}).value()[16]);
    REQUIRE((flags & (revision == 1 ? 0x1fu : 0x0fu)) == 0);
  }
  REQUIRE(responder_fault(with_flags(kRequest, 0x1f)) == std::nullopt);
  REQUIRE(initiator_fault(with_flags(kReply, 0x1f)) == std::nullopt);
  REQUIRE(responder_fault(with_flags(vector_named("D-req-v2-p2p"), 0x0f)) == std::nullopt);
  REQUIRE(initiator_fault(with_flags(vector_named("D-rep-v2-p2p"), 0x0f), Policy{.peer_to_peer = true}) ==
          std::nullopt);
  Responder answered = deciding(with_flags(kRequest, 0x1f));
  REQUIRE((answered.accept({})->octets[16] & std::byte{0x1f}) == std::byte{0});
}

TEST_CASE("a revision that we cannot speak closes the connection; ours is one or two",
          "[rfc5044/7.1.1][rfc5044/C.2.2][MPA-7.1.1-19][MPA-7.1.1-20][MPA-7.1.1-21][MPA-C.2.2-01]") {
  for (const unsigned revision : {0u, 3u, 4u, 255u}) {
    REQUIRE(responder_fault(with_revision(kRequest, revision)) == Fault::kUnsupportedRevision);
    REQUIRE(initiator_fault(with_revision(kReply, revision)) == Fault::kUnsupportedRevision);
  }
  REQUIRE(responder_fault(vector_named("D-req-rdmac")) == Fault::kUnsupportedRevision);
  Initiator initiator(kRevision1);
  REQUIRE(initiator.start({}).value()[17] == std::byte{1});
}

TEST_CASE("the revision received is reported", "[rfc5044/7.1.1][rfc5044/3][MPA-7.1.1-22][MPA-3-14]") {
  Responder responder(Policy{});
  REQUIRE(outcome<RequestReceived>(responder.receive(kRequest))->revision == 1);
  REQUIRE(responder.accept({})->agreement.revision == 1);
  Responder second(Policy{});
  REQUIRE(outcome<RequestReceived>(second.receive(vector_named("D-req-v2-cs")))->revision == 2);
  Initiator initiator = started();
  REQUIRE(outcome<Agreement>(initiator.receive(kReply))->revision == 1);
}

TEST_CASE("PD_Length has to fit what is there: too long is a stream cut short, too short leaves surplus octets",
          "[rfc5044/7.1.1][rfc5044/7.1.2][MPA-7.1.1-25][MPA-7.1.2-29][MPA-7.1.2-30]") {
  Octets too_long = kRequest;
  too_long[19] = std::byte{5};
  Responder responder(Policy{});
  REQUIRE(outcome<NeedMore>(responder.receive(too_long))->missing == 5);
  REQUIRE(responder.closed().fault == Fault::kStartupCutShort);
  REQUIRE(wire_code(Fault::kStartupCutShort) == ErrorCode::kInvalidStartupFrame);
  REQUIRE(responder_fault(kRequest + from_text("x")) == Fault::kSurplusAfterRequest);
  REQUIRE(initiator_fault(kReply + from_text("x")) == Fault::kSurplusAfterReply);
}

TEST_CASE("surplus octets are found as well when they come later", "[rfc5044/7.1.1][MPA-7.1.1-25]") {
  Responder responder = deciding();
  REQUIRE(fault(responder.receive(from_text("x"))) == Fault::kSurplusAfterRequest);
  REQUIRE(responder.accept({}).error() == Misuse::kWrongPhase);
  Initiator initiator = started();
  REQUIRE(outcome<Agreement>(initiator.receive(kReply)));
  REQUIRE(fault(initiator.receive(from_text("x"))) == Fault::kSurplusAfterReply);
}

TEST_CASE("private data is at most 512 octets, in both directions",
          "[rfc5044/7.1.1][rfc5044/7.1.2][MPA-7.1.1-26][MPA-7.1.1-28][MPA-7.1.2-27][MPA-7.1.2-28]") {
  for (const unsigned length : {513u, 0x7fffu, 0xffffu}) {
    Octets request = kRequest;
    Octets reply = kReply;
    request[18] = reply[18] = static_cast<std::byte>(length >> 8);
    request[19] = reply[19] = static_cast<std::byte>(length & 0xff);
    REQUIRE(responder_fault(request) == Fault::kPrivateDataTooLong);
    REQUIRE(initiator_fault(reply) == Fault::kPrivateDataTooLong);
  }
  REQUIRE(Initiator(kRevision1).start(pattern(513)).error() == Misuse::kPrivateDataTooLong);
  REQUIRE(deciding().accept(pattern(513)).error() == Misuse::kPrivateDataTooLong);
  REQUIRE(deciding().accept(pattern(512)).has_value());
}

TEST_CASE("private data reaches the ULP of the other end",
          "[rfc5044/7.1.1][rfc5044/7.1.2][MPA-7.1.1-27][MPA-7.1.2-02][MPA-7.1.2-10][MPA-7.1-06]") {
  for (const std::size_t size : {0u, 1u, 511u, 512u}) {
    Initiator initiator(kRevision1);
    Responder responder(Policy{});
    const Octets request = copy(initiator.start(pattern(size)).value());
    REQUIRE(copy(outcome<RequestReceived>(responder.receive(request))->private_data) == pattern(size));
    const Octets reply = copy(responder.accept(pattern(512 - size, 3))->octets);
    REQUIRE(copy(outcome<Agreement>(initiator.receive(reply))->private_data) == pattern(512 - size, 3));
  }
}

TEST_CASE("the responder waits for a valid Request before anything else",
          "[rfc5044/7.1.2][MPA-7.1.2-03][MPA-7.1.2-12][MPA-1.2-01]") {
  Responder responder(Policy{});
  REQUIRE(responder.accept({}).error() == Misuse::kWrongPhase);
  REQUIRE(responder.reject({}).error() == Misuse::kWrongPhase);
  REQUIRE(outcome<NeedMore>(responder.receive(Bytes(kRequest).first(19))));
  REQUIRE(responder.accept({}).error() == Misuse::kWrongPhase);
  REQUIRE_FALSE(expects_fpdus(responder.phase()));
  REQUIRE(outcome<RequestReceived>(responder.receive(kRequest)));
  REQUIRE(responder.accept({}));
}

TEST_CASE("an acceptable Request is answered with R=0, and FPDUs may come from then on",
          "[rfc5044/7.1.2][rfc5044/7.1.3][MPA-7.1.2-09][MPA-7.1.2-11][MPA-7.1.3-03]") {
  Responder responder = deciding();
  const auto reply = responder.accept({});
  REQUIRE((reply->octets[16] & std::byte{0x20}) == std::byte{0});
  REQUIRE(expects_fpdus(responder.phase()));
}

TEST_CASE("the initiator sends no FPDU before it has the whole Reply, and may after it",
          "[rfc5044/7.1.2][MPA-7.1.2-13][MPA-7.1.2-16][MPA-7.1.2-24]") {
  Initiator initiator = started();
  for (std::size_t size = 0; size < kReply.size(); ++size) {
    REQUIRE(outcome<NeedMore>(initiator.receive(Bytes(kReply).first(size))));
    REQUIRE_FALSE(may_send_fpdus(initiator.phase()));
  }
  REQUIRE(outcome<Agreement>(initiator.receive(kReply)));
  REQUIRE(may_send_fpdus(initiator.phase()));
  initiator.first_fpdu_sent();
  REQUIRE(initiator.phase() == Phase::kOpen);
  REQUIRE(expects_fpdus(initiator.phase()));
}

TEST_CASE("the responder sends no FPDU before it has received one",
          "[rfc5044/7.1.2][rfc6581/3][MPA-7.1.2-17][MPA2-3-03][MPA2-3-04][MPA2-4.3-02]") {
  for (const char* request : {"D-req-v1", "D-req-v2-cs", "D-req-v2-p2p"}) {
    Responder responder = deciding(vector_named(request));
    REQUIRE_FALSE(may_send_fpdus(responder.phase()));
    REQUIRE(responder.accept({}));
    REQUIRE_FALSE(may_send_fpdus(responder.phase()));
    responder.first_fpdu_received();
    REQUIRE(may_send_fpdus(responder.phase()));
  }
}

TEST_CASE("a timer may end the wait in either role", "[rfc5044/7.1.2][MPA-7.1.2-26][MPA-7.1.2-31]") {
  Responder responder(Policy{});
  REQUIRE(responder.timed_out().fault == Fault::kStartupTimeout);
  REQUIRE(responder.phase() == Phase::kFailed);
  Initiator initiator = started();
  (void)initiator.receive(Bytes(kReply).first(7));
  REQUIRE(initiator.timed_out().fault == Fault::kStartupTimeout);
  REQUIRE(initiator.phase() == Phase::kFailed);
}

TEST_CASE("loss of the TCP connection during startup is error 1", "[rfc5044/8][MPA-8-01]") {
  REQUIRE(wire_code(Responder(Policy{}).closed().fault) == ErrorCode::kConnectionLost);
  REQUIRE(wire_code(started().closed().fault) == ErrorCode::kConnectionLost);
  REQUIRE(wire_code(deciding().closed().fault) == ErrorCode::kConnectionLost);
}
