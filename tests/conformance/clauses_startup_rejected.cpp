// SPDX-License-Identifier: Apache-2.0
// RFC 5044 section 7.1 and RFC 6581 section 9: what may follow a Reply that rejects.
#include <catch2/catch.hpp>

#include "tests/conformance/conversation.hpp"

namespace weft::conformance::test::startup_rejected_clauses {

TEST_CASE("an FPDU after a rejecting Reply", "[rfc5044/7.1.1][MPA-7.1.1-16]") {
  Conversation broken;
  broken.reply.flags = 0x60;
  Script script = broken.startup();
  SECTION("is a violation") {
    script.send(End::kFirst, broken.initiator.add(send(7, pattern(30))));
    CHECK(violations(script.audit()) == Clauses{"MPA-7.1.1-16"});
  }
  SECTION("is one of the Responder, too") {
    script.send(End::kSecond, broken.responder.add(send(1, pattern(30))));
    CHECK(violations(script.audit()) == Clauses{"MPA-7.1.1-16"});
  }
  SECTION("is told once") {
    script.send(End::kFirst, broken.initiator.add(send(1, pattern(30))));
    script.send(End::kSecond, broken.responder.add(send(1, pattern(30))));
    script.send(End::kFirst, broken.initiator.add(send(2, pattern(30))));
    CHECK(violations(script.audit()) == Clauses{"MPA-7.1.1-16"});
  }
  SECTION("but the TCP connection is the ULP's, whatever it sends") {
    script.send(End::kFirst, octets("GET / HTTP/1.0\r\n\r\n")).send(End::kSecond, octets("404"));
    script.close(End::kSecond).close(End::kFirst);
    CHECK(listed(script.audit()) == Clauses{});
  }
}

TEST_CASE("an FPDU that the Initiator sent before it could read that it is rejected",
          "[rfc5044/7.1.2][MPA-7.1.2-13][MPA-7.1.1-16]") {
  Conversation broken;
  broken.reply.flags = 0x60;
  Script script = Script::with_handshake();
  script.send(End::kFirst, build(broken.request)).send(End::kFirst, broken.initiator.add(send(1, pattern(30))));
  script.send(End::kSecond, build(broken.reply));
  CHECK(violations(script.audit()) == Clauses{"MPA-7.1.2-13"});
}

// RFC 6581 has a Terminate where RFC 5044 has no FPDU: both readings are accepted.
TEST_CASE("a Terminate of the Responder before the Initiator's first FPDU",
          "[rfc6581/9.1][rfc6581/9.3][MPA-7.1.1-16][MPA-7.1.2-17]") {
  const auto judged = [](bool reject, bool enhanced, unsigned code) {
    Conversation talk = enhanced ? enhanced_conversation(1, 4, 4, reject ? 16 : 1) : Conversation{};
    if (reject) talk.reply.flags |= 0x20;
    const Octets error{std::byte{0x20}, static_cast<std::byte>(code), {}, {}};
    Script script = talk.startup();
    script.send(End::kSecond, talk.responder.add(untagged(7, 2, 1, error))).close(End::kSecond).close(End::kFirst);
    return violations(script.audit());
  };
  CHECK(judged(true, true, 6) == Clauses{});
  CHECK(judged(true, true, 5) == Clauses{});
  CHECK(judged(true, true, 2) == Clauses{"MPA-7.1.1-16"});
  CHECK(judged(true, false, 6) == Clauses{"MPA-7.1.1-16"});
  CHECK(judged(false, true, 5) == Clauses{});
  CHECK(judged(false, true, 6) == Clauses{});
  CHECK(judged(false, true, 2) == Clauses{"MPA-7.1.2-17"});
  CHECK(judged(false, false, 5) == Clauses{"MPA-7.1.2-17"});
}

// RFC 5044 has both ends leave MPA, so that other octets are the ULP's. A Terminate with the code of RFC 6581 is judged.
TEST_CASE("a Terminate that goes with a rejecting Reply is judged as any other",
          "[rfc6581/9.1][MPA-4.4-13][DDP-4.1-11][DDP-4.1-13][RDMAP-4.1-17][RDMAP-4.8-11][RDMAP-5.4-02]") {
  const auto judged = [](const Octets& ulpdu, const FpduStream::Wrong& wrong = {}, unsigned flags = 0) {
    Conversation talk = enhanced_conversation(1, 4, 4, 16);
    talk.reply.flags |= 0x20;
    talk.request.flags |= flags;
    talk.responder = FpduStream(true, flags != 0);
    Script script = talk.startup();
    script.send(End::kSecond, talk.responder.add(ulpdu, wrong)).close(End::kSecond).close(End::kFirst);
    return violations(script.audit());
  };
  const auto changed = [](std::size_t at, unsigned octet) {
    Octets ulpdu = untagged(7, 2, 1, {std::byte{0x20}, std::byte{6}, {}, {}});
    ulpdu[at] = static_cast<std::byte>(octet);
    return ulpdu;
  };
  const Octets good = changed(0, 0x41);
  const FpduStream::Wrong flipped{.crc_flip = 1};
  CHECK(judged(good) == Clauses{});
  CHECK(judged(good, flipped) == Clauses{"MPA-4.4-13"});
  CHECK(judged(good, {}, 0x80) == Clauses{});
  CHECK(judged(good, flipped, 0x80) == Clauses{"MPA-4.4-13"});
  CHECK(judged(changed(0, 0x51)) == Clauses{"DDP-4.1-11"});
  CHECK(judged(changed(0, 0x42)) == Clauses{"DDP-4.1-13"});
  CHECK(judged(changed(1, 0x87)) == Clauses{"RDMAP-4.1-17"});
  CHECK(judged(changed(9, 3)) == Clauses{"RDMAP-5.4-02"});
  CHECK(judged(changed(13, 2)) == Clauses{"DDP-4.3-11"});
  CHECK(judged(changed(17, 4)) == Clauses{"DDP-4.3-15"});
  CHECK(judged(changed(20, 1)) == Clauses{"RDMAP-4.8-11"});
  for (const unsigned code : {5U, 7U}) {
    CHECK(judged(changed(19, code)) == Clauses{});
    CHECK(judged(changed(19, code), flipped) == Clauses{"MPA-4.4-13"});
  }
  CHECK(judged(changed(19, 4)) == Clauses{"MPA-7.1.1-16"});
  CHECK(judged(changed(19, 4), flipped) == Clauses{});  // no FPDU
  CHECK(judged(send(1, pattern(30)), flipped) == Clauses{});
}

TEST_CASE("of an unenhanced rejection no Terminate is known, and a bad CRC makes octets of the ULP of it",
          "[rfc5044/7.1.1][MPA-7.1.1-16]") {
  Conversation talk;
  talk.reply.flags = 0x60;
  Script script = talk.startup();
  const Octets ulpdu = untagged(7, 2, 1, {std::byte{0x20}, std::byte{6}, {}, {}});
  script.send(End::kSecond, talk.responder.add(ulpdu, {.crc_flip = 1})).close(End::kSecond).close(End::kFirst);
  CHECK(violations(script.audit()) == Clauses{});
}

}  // namespace weft::conformance::test::startup_rejected_clauses
