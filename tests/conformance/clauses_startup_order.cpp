// SPDX-License-Identifier: Apache-2.0
// RFC 5044 section 7.1.2: who had to wait for whom at the start, by the acknowledgment numbers.
#include <catch2/catch.hpp>

#include "tests/conformance/conversation.hpp"

namespace weft::conformance::test::startup_order_clauses {

TEST_CASE("the acknowledgment number tells what had arrived, and not the order of the capture",
          "[rfc5044/7.1.2][MPA-7.1.2-12][MPA-7.1.2-13][MPA-7.1.2-17][MPA-7.1.1-16]") {
  Conversation talk;
  const Octets request = build(talk.request), reply = build(talk.reply);
  const Octets first = talk.initiator.add(send(1, pattern(30))), answer = talk.responder.add(send(1, pattern(30)));
  using Acknowledged = std::optional<std::uint64_t>;
  const auto judged = [](const Script& script) { return violations(script.audit()); };
  const auto split = [&](Acknowledged acknowledged) {
    Script script = Script::with_handshake();
    script.send(End::kFirst, {request.begin(), request.begin() + 10}).send(End::kSecond, reply, acknowledged);
    return judged(script.send(End::kFirst, {request.begin() + 10, request.end()}).send(End::kFirst, first));
  };
  const auto replied = [&](Acknowledged acknowledged) {
    Script script = Script::with_handshake();
    return judged(script.send(End::kFirst, request).send(End::kSecond, reply, acknowledged).send(End::kFirst, first));
  };
  SECTION("of the Reply") {
    CHECK(split(20) == Clauses{});
    CHECK(split(std::nullopt) == Clauses{});
    CHECK(replied(20) == Clauses{});
    CHECK(replied(std::nullopt) == Clauses{});
    for (const std::uint64_t acknowledged : {0U, 10U, 19U}) {
      CHECK(split(acknowledged) == Clauses{"MPA-7.1.2-12"});
      CHECK(replied(acknowledged) == Clauses{"MPA-7.1.2-12"});
    }
  }
  SECTION("of the Initiator's first FPDU") {
    const auto early = [&](bool before, Acknowledged acknowledged) {
      Script script = Script::with_handshake();
      script.send(End::kFirst, request);
      if (before) script.send(End::kFirst, first, acknowledged);
      script.send(End::kSecond, reply);
      if (!before) script.send(End::kFirst, first, acknowledged);
      return judged(script);
    };
    for (const bool before : {true, false}) {
      CHECK(early(before, 20) == Clauses{});
      CHECK(early(before, std::nullopt) == Clauses{});
      CHECK(early(before, 19) == Clauses{"MPA-7.1.2-13"});
      CHECK(early(before, 0) == Clauses{"MPA-7.1.2-13"});
    }
  }
  SECTION("of the Responder's first FPDU") {
    const auto unfenced = [&](bool before, Acknowledged acknowledged) {
      Script script = talk.startup();
      if (before) script.send(End::kSecond, answer, acknowledged);
      script.send(End::kFirst, first);
      if (!before) script.send(End::kSecond, answer, acknowledged);
      return judged(script);
    };
    const std::uint64_t all = 20 + first.size();
    for (const bool before : {true, false}) {
      CHECK(unfenced(before, all) == Clauses{});
      CHECK(unfenced(before, std::nullopt) == Clauses{});
      CHECK(unfenced(before, all - 1) == Clauses{"MPA-7.1.2-17"});
      CHECK(unfenced(before, 20) == Clauses{"MPA-7.1.2-17"});
    }
  }
  SECTION("of an FPDU after a rejection") {
    talk.reply.flags = 0x60;
    const auto rejected = [&](Acknowledged acknowledged) {
      Script script = talk.startup();
      return judged(script.send(End::kFirst, first, acknowledged));
    };
    CHECK(rejected(20) == Clauses{"MPA-7.1.1-16"});
    CHECK(rejected(19) == Clauses{"MPA-7.1.2-13"});
    CHECK(rejected(std::nullopt) == Clauses{"MPA-7.1.1-16"});
  }
}

TEST_CASE("the end of the Responder decides nothing that the Initiator has yet to show",
          "[rfc5044/7.1.1][rfc5044/7.1.2][MPA-7.1.2-12][MPA-7.1.2-17][MPA-7.1.1-23]") {
  Conversation talk;
  SECTION("of its first FPDU, which a part of the Initiator's had reached") {
    Script script = talk.startup();
    script.send(End::kSecond, talk.responder.add(send(1, pattern(30))), 21).close(End::kSecond);
    CHECK(violations(script.send(End::kFirst, talk.initiator.add(send(1, pattern(30)))).audit()) ==
          Clauses{"MPA-7.1.2-17"});
  }
  SECTION("of a Reply that seems to come too early, because the Request's PD_Length is too large") {
    talk.request.private_data = pattern(50);
    talk.request.pd_length = 60;
    const Octets first = talk.initiator.add(send(1, pattern(30)));
    Script script = talk.startup();
    script.close(End::kSecond).send(End::kFirst, first);
    for (const unsigned msn : {2U, 3U}) script.send(End::kFirst, talk.initiator.add(send(msn, pattern(30))));
    CHECK(violations(script.audit()) == Clauses{"MPA-7.1.1-23"});
  }
}

TEST_CASE("a PD_Length that counts whole FPDUs is one finding, and nobody else's",
          "[rfc5044/7.1.1][MPA-7.1.1-23][MPA-7.1.2-12][MPA-7.1.2-13][MPA-7.1.2-17][DDP-4.3-11]") {
  const auto counted = [](bool of_request, unsigned fpdus, bool crc, unsigned more = 0) {
    Conversation talk;
    if (!crc) {
      talk.request.flags = talk.reply.flags = 0;
      talk.initiator = talk.responder = FpduStream(false, false);
    }
    (of_request ? talk.request : talk.reply).pd_length = 56 * fpdus + more;
    Script script = talk.startup();
    for (const unsigned msn : {1U, 2U, 3U, 4U}) {
      script.send(End::kFirst, talk.initiator.add(send(msn, pattern(30))));
      script.send(End::kSecond, talk.responder.add(send(msn, pattern(30))));
    }
    return violations(script.close(End::kFirst).close(End::kSecond).audit());
  };
  for (const bool of_request : {true, false}) {
    for (const bool crc : {true, false}) {
      CHECK(counted(of_request, 0, crc) == Clauses{});
      for (const unsigned fpdus : {1U, 2U}) CHECK(counted(of_request, fpdus, crc) == Clauses{"MPA-7.1.1-23"});
      CHECK(counted(of_request, 1, crc, 4) == Clauses{"MPA-7.1.1-23"});
    }
  }
}

TEST_CASE("what the capture lost of the Responder may have been the rest of its Reply",
          "[rfc5044/7.1.1][rfc5044/7.1.2][MPA-7.1.2-13][MPA-7.1.1-23]") {
  const auto lost = [](End of) {
    Conversation talk;
    Script script = talk.startup();
    script.send(End::kFirst, talk.initiator.add(send(1, pattern(30))), 19);
    return violations(script.gap(of, 60).audit());
  };
  CHECK(lost(End::kSecond) == Clauses{});
  CHECK(lost(End::kFirst) == Clauses{"MPA-7.1.2-13"});
}

TEST_CASE("an FPDU behind a Reply that came too early is not blamed for the same",
          "[rfc5044/7.1.2][MPA-7.1.2-12][MPA-7.1.2-17]") {
  Conversation talk;
  Script script = Script::with_handshake();
  script.send(End::kFirst, build(talk.request)).send(End::kSecond, build(talk.reply), 19);
  script.send(End::kSecond, talk.responder.add(send(1, pattern(30))), 20);
  CHECK(violations(script.audit()) == Clauses{"MPA-7.1.2-12"});
}

}  // namespace weft::conformance::test::startup_order_clauses
