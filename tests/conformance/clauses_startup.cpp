// SPDX-License-Identifier: Apache-2.0
// RFC 5044 section 7.1 and RFC 6581 section 6: startup frames, and who may send what when.
#include <catch2/catch.hpp>

#include <algorithm>

#include "tests/conformance/conversation.hpp"

namespace weft::conformance::test::startup_clauses {
namespace {

Clauses judge(Conversation conversation) { return violations(conversation.whole().audit()); }

}  // namespace

TEST_CASE("a clean connection has no finding",
          "[rfc5044/7.1.1][MPA-7.1.1-02][MPA-7.1.1-04][MPA-7.1.1-14][MPA-7.1.1-17][MPA-7.1.1-19][MPA-7.1.1-23]"
          "[MPA-7.1.1-28][MPA-7.1.2-12][MPA-7.1.2-13][MPA-7.1.2-17][MPA-4.1-03][MPA-4.4-13][MPA-7.2-01]") {
  for (const unsigned revision : {1U, 2U, 3U}) {  // revision 2 without S, and what may come
    Conversation clean;
    clean.request.revision = clean.reply.revision = revision;
    clean.request.private_data = pattern(512);
    clean.reply.private_data = pattern(3);
    const ConnectionAudit audit = clean.whole().audit();
    CHECK(listed(audit) == Clauses{});
    CHECK(audit.iwarp());
    CHECK(audit.roles_known());
    CHECK(audit.tally(Direction::kFromInitiator).fpdus == 3);
    CHECK(audit.tally(Direction::kFromInitiator).by_opcode[3].octets == 771);
    CHECK(audit.tally(Direction::kFromResponder).by_opcode[3].messages == 1);
    CHECK(audit.facts().request->private_data.size() == 512);
  }
}

TEST_CASE("the end that sends the Request is the Initiator, whichever opened the connection", "[rfc5044/2][MPA-2-03]") {
  Conversation clean;
  Script script = Script::with_handshake();
  script.send(End::kSecond, build(clean.request)).send(End::kFirst, build(clean.reply));
  script.send(End::kSecond, clean.initiator.add(send(1, pattern(30))));
  const ConnectionAudit audit = script.audit();
  CHECK(audit.initiator() == End::kSecond);
  CHECK(listed(audit) == Clauses{});
  CHECK(audit.tally(Direction::kFromInitiator).fpdus == 1);
}

TEST_CASE("octets before MPA are no fault", "[rfc5044/1.2][MPA-1.2-02]") {
  Conversation clean;
  Script script = Script::with_handshake();
  script.send(End::kFirst, octets("login please")).send(End::kSecond, octets("welcome to MPA ID land"));
  script.send(End::kFirst, build(clean.request)).send(End::kSecond, build(clean.reply));
  script.send(End::kFirst, clean.initiator.add(send(1, pattern(30))));
  const ConnectionAudit audit = script.audit();
  CHECK(listed(audit) == Clauses{});
  CHECK(audit.tally(Direction::kFromInitiator).streaming_octets == 12);
  CHECK(audit.tally(Direction::kFromResponder).streaming_octets == 22);
  CHECK(audit.tally(Direction::kFromInitiator).fpdus == 1);
}

TEST_CASE("a wrong key of the Initiator", "[rfc5044/7.1.1][MPA-7.1.1-02]") {
  Conversation broken;
  broken.request.key = "MPA id Req Frame";
  CHECK(judge(broken) == Clauses{"MPA-7.1.1-02"});
  broken.request.key = "mpa ID Req Frame";
  CHECK(judge(broken) == Clauses{"MPA-7.1.1-02"});
  broken.request.key = "NVMe/TCP is here";  // only the Reply tells that this was to be a Request
  CHECK(judge(broken) == Clauses{"MPA-7.1.1-02"});
}

TEST_CASE("a wrong key of the Responder, or a second Request", "[rfc5044/7.1.1][MPA-7.1.1-04]") {
  Conversation broken;
  broken.reply.key = "MPA ID Rex Frame";
  CHECK(judge(broken) == Clauses{"MPA-7.1.1-04"});
  broken.reply.key = "MPA ID Req Frame";
  Script clash = broken.startup();
  CHECK(violations(clash.audit()) == Clauses{"MPA-7.1.1-04"});
}

TEST_CASE("R in a Request", "[rfc5044/7.1.1][MPA-7.1.1-14]") {
  Conversation broken;
  broken.request.flags = 0x60;
  CHECK(judge(broken) == Clauses{"MPA-7.1.1-14"});
}

TEST_CASE("reserved bits of a startup frame", "[rfc5044/7.1.1][rfc6581/6][MPA-7.1.1-17][MPA2-6-04][MPA2-6-07]") {
  Conversation broken;
  broken.request.flags = 0x41;
  CHECK(judge(broken) == Clauses{"MPA-7.1.1-17"});
  broken.request.flags = 0x50;
  CHECK(judge(broken) == Clauses{"MPA2-6-07"});
  broken.request = {.flags = 0x48, .revision = 2};
  broken.reply.revision = 2;
  CHECK(judge(broken) == Clauses{"MPA2-6-04"});
}

TEST_CASE("S with a revision that has none is one finding, also where the answer took it for S",
          "[rfc6581/6][MPA2-6-07]") {
  Conversation broken = enhanced_conversation(4, 4, 4, 4);
  broken.request.revision = 1;
  CHECK(judge(broken) == Clauses{"MPA2-6-07"});
  CHECK(judge(enhanced_conversation(4, 4, 4, 4)) == Clauses{});
}

// "Two or higher" with S. Without S it may be one, and so it may be higher.
TEST_CASE("a revision that no RFC defines is allowed", "[rfc5044/7.1.1][rfc6581/6][MPA-7.1.1-19][MPA2-6-07]") {
  for (const unsigned revision : {1U, 2U, 3U, 6U, 255U}) {
    CAPTURE(revision);
    Conversation plain;
    plain.reply.revision = revision;
    CHECK(judge(plain) == Clauses{});
    plain.request.revision = revision;
    CHECK(judge(plain) == Clauses{});
    if (revision == 1) continue;
    Conversation talk = enhanced_conversation(4, 4, 4, 4);
    talk.reply.revision = revision;
    CHECK(judge(talk) == Clauses{});
    talk.request.revision = revision;
    CHECK(judge(talk) == Clauses{});
  }
  const auto rule = std::ranges::find(all_rules(), std::string_view("MPA-7.1.1-19"), &Rule::clause);
  CHECK((*rule)->sentence == "The revision of MPA is 1; RFC 6581 allows 2 or higher.");
}

TEST_CASE("revision 0", "[rfc5044/7.1.1][MPA-7.1.1-19]") {
  Conversation broken;
  broken.reply.revision = 0;
  CHECK(judge(broken) == Clauses{"MPA-7.1.1-19"});
}

TEST_CASE("more private data than there may be", "[rfc5044/7.1.1][MPA-7.1.1-28]") {
  Conversation broken;
  broken.request.private_data = pattern(513);
  CHECK(judge(broken) == Clauses{"MPA-7.1.1-28"});
  broken.request.private_data = {};
  broken.request.pd_length = 600;
  CHECK(judge(broken) == Clauses{"MPA-7.1.1-28"});
}

TEST_CASE("PD_Length and the private data differ", "[rfc5044/7.1.1][MPA-7.1.1-23]") {
  Conversation broken;
  broken.request.private_data = pattern(50);
  SECTION("too small: octets that are no FPDU follow the Request") {
    broken.request.pd_length = 40;
    CHECK(judge(broken) == Clauses{"MPA-7.1.1-23"});
    Conversation again = broken;
    const ConnectionAudit audit = again.whole().audit();
    REQUIRE(audit.findings().all().size() == 1);
    CHECK(audit.findings().all()[0].stream_offset == 18);
    CHECK(audit.findings().all()[0].place.packet == 4);
  }
  SECTION("too large: the FIN comes inside the frame") {
    broken.request.pd_length = 60;
    Script script = Script::with_handshake();
    script.send(End::kFirst, build(broken.request)).close(End::kFirst).close(End::kSecond);
    CHECK(violations(script.audit()) == Clauses{"MPA-7.1.1-23"});
  }
  SECTION("too large: the first FPDUs are taken for private data") {
    broken.request.pd_length = 60;
    CHECK(judge(broken) == Clauses{"MPA-7.1.1-23"});
  }
  SECTION("a capture that ends inside the frame says nothing") {
    broken.request.pd_length = 60;
    Script script = Script::with_handshake();
    script.send(End::kFirst, build(broken.request));
    CHECK(violations(script.audit()) == Clauses{});
  }
}

TEST_CASE("S without room for the enhanced data", "[rfc6581/6][MPA2-6-11]") {
  Conversation broken = enhanced_conversation(4, 4, 4, 4);
  broken.request.private_data = zeros(3);
  CHECK(judge(broken) == Clauses{"MPA2-6-11"});
}

TEST_CASE("a Reply before the Request is complete", "[rfc5044/7.1.2][MPA-7.1.2-12]") {
  Conversation broken;
  const Octets request = build(broken.request);
  Script script = Script::with_handshake();
  script.send(End::kFirst, {request.begin(), request.begin() + 10});
  script.send(End::kSecond, build(broken.reply));
  script.send(End::kFirst, {request.begin() + 10, request.end()});
  script.send(End::kFirst, broken.initiator.add(send(1, pattern(30))));
  CHECK(violations(script.audit()) == Clauses{"MPA-7.1.2-12"});
}

TEST_CASE("an FPDU of the Initiator before the Reply", "[rfc5044/7.1.2][MPA-7.1.2-13]") {
  Conversation broken;
  Script script = Script::with_handshake();
  script.send(End::kFirst, build(broken.request));
  script.send(End::kFirst, broken.initiator.add(send(1, pattern(30))));
  script.send(End::kSecond, build(broken.reply));
  script.send(End::kFirst, broken.initiator.add(send(2, pattern(30))));
  CHECK(violations(script.audit()) == Clauses{"MPA-7.1.2-13"});
}

TEST_CASE("an FPDU of the Responder before the Initiator's", "[rfc5044/7.1.2][MPA-7.1.2-17]") {
  Conversation broken;
  Script script = broken.startup();
  script.send(End::kSecond, broken.responder.add(send(1, pattern(30))));
  SECTION("which comes later") {
    script.send(End::kFirst, broken.initiator.add(send(1, pattern(30))));
    CHECK(violations(script.audit()) == Clauses{"MPA-7.1.2-17"});
  }
  SECTION("which never comes") {
    script.close(End::kFirst);
    CHECK(violations(script.audit()) == Clauses{"MPA-7.1.2-17"});
  }
  SECTION("which the capture lost") {
    script.gap(End::kFirst, 52).send(End::kFirst, broken.initiator.add(send(2, pattern(30))));
    CHECK(violations(script.audit()) == Clauses{});
  }
  SECTION("which the capture lost, and all after it") {
    script.gap(End::kFirst, 52).close(End::kFirst);
    CHECK(violations(script.audit()) == Clauses{});
  }
  SECTION("which the capture does not show: nothing of it had arrived") {
    CHECK(violations(script.audit()) == Clauses{"MPA-7.1.2-17"});
  }
}

TEST_CASE("a Terminate of the Responder that is none is no reason to send first", "[rfc5044/7.1.2][MPA-7.1.2-17]") {
  for (const std::size_t size : {0U, 3U}) {
    Conversation talk = enhanced_conversation(1, 4, 4, 1);
    Script script = talk.startup();
    script.send(End::kSecond, talk.responder.add(untagged(7, 2, 1, zeros(size))))
        .close(End::kSecond)
        .close(End::kFirst);
    CHECK(violations(script.audit()) == Clauses{"RDMAP-4.8-02", "MPA-7.1.2-17"});
  }
}

TEST_CASE("the end of a startup frame and an FPDU in one segment", "[rfc6581/4.3][MPA2-4.3-01]") {
  Conversation odd;
  Script script = Script::with_handshake();
  script.send(End::kFirst, build(odd.request));
  script.send(End::kFirst, odd.initiator.add(send(1, pattern(30))));
  script.send(End::kSecond, build(odd.reply) + odd.responder.add(send(1, pattern(30))));
  CHECK(violations(script.audit()) == Clauses{"MPA-7.1.2-13"});
  CHECK(warnings(script.audit()) == Clauses{"MPA2-4.3-01"});
  Conversation clean;
  CHECK(warnings(clean.whole().audit()) == Clauses{});
}

}  // namespace weft::conformance::test::startup_clauses
