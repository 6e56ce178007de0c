// SPDX-License-Identifier: Apache-2.0
// RFC 5044 section 7.1.2: startup frames that were never sent, and what was sent in their place. Where the capture does
// not show all of a direction, none of this is said.
#include <catch2/catch.hpp>

#include "tests/conformance/conversation.hpp"

namespace weft::conformance::test::startup_missing_clauses {
namespace {

constexpr End kI = End::kFirst, kR = End::kSecond;
using Why = NoFrame::Why;

Octets first(const Octets& all, std::size_t count) {
  return {all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count)};
}

struct Case {
  Conversation talk{};
  Octets request = build(talk.request);
  Octets reply = build(talk.reply);
  Script script = Script::with_handshake();
  unsigned sent[2] = {0, 0};

  Case& octets_of(End from, const Octets& octets) {
    script.send(from, octets);
    return *this;
  }
  Case& fpdus(End from, unsigned count) {
    for (unsigned i = 0; i < count; ++i) {
      FpduStream& stream = from == kI ? talk.initiator : talk.responder;
      script.send(from, stream.add(send(++sent[from == kI ? 0 : 1], pattern(60))));
    }
    return *this;
  }
  Case& close() {
    script.close(kI).close(kR);
    return *this;
  }
};

}  // namespace

TEST_CASE("FPDUs of the Initiator, and never a Reply", "[rfc5044/7.1.2][MPA-7.1.2-13]") {
  Case broken;
  broken.octets_of(kI, broken.request).fpdus(kI, 3);
  SECTION("to the end of the connection") { broken.close(); }
  SECTION("to the end of the capture") {}
  SECTION("and more of them than are looked at while a Reply is waited for") {
    for (int i = 0; i < 200; ++i) {
      broken.script.send(kI, broken.talk.initiator.add(send(4 + static_cast<unsigned>(i), pattern(3000))));
    }
  }
  const ConnectionAudit audit = broken.script.audit();
  CHECK(violations(audit) == Clauses{"MPA-7.1.2-13"});
  CHECK(audit.facts().no_reply.why == Why::kNoneSent);
  CHECK(audit.tally(Direction::kFromInitiator).fpdus >= 3);
  CHECK_FALSE(audit.tally(Direction::kFromInitiator).mid_stream);
}

TEST_CASE("a Reply that comes after the Initiator's FPDUs", "[rfc5044/7.1.2][MPA-7.1.2-13]") {
  // They wait for the Reply up to a bound, and are judged without one then.
  const auto judged = [](std::optional<std::uint64_t> acknowledged) {
    Case late;
    late.octets_of(kI, late.request);
    for (unsigned i = 0; i < 100; ++i) {
      late.script.send(kI, late.talk.initiator.add(send(1 + i, pattern(3000))), acknowledged);
    }
    late.octets_of(kR, late.reply).close();
    return violations(late.script.audit());
  };
  CHECK(judged(0) == Clauses{"MPA-7.1.2-13"});
  CHECK(judged(19) == Clauses{"MPA-7.1.2-13"});
  CHECK(judged(20) == Clauses{});
  CHECK(judged(std::nullopt) == Clauses{});
}

TEST_CASE("an FPDU without a frame is shown from its first octet", "[rfc5044/7.1.2][MPA-7.1.2-24]") {
  Case broken;
  broken.octets_of(kI, broken.request).fpdus(kR, 1).close();
  const ConnectionAudit audit = broken.script.audit();
  REQUIRE(audit.findings().all().size() == 1);
  const Finding& finding = audit.findings().all()[0];
  CHECK(finding.stream_offset == 0);
  CHECK(finding.place == Place{5, kPayloadAt});
  CHECK(finding.excerpt.mark == 0);
  CHECK(finding.excerpt.marked == 64);  // as much of it as an excerpt marks
}

TEST_CASE("what the capture lost is not said to be missing",
          "[rfc5044/7.1.2][MPA-7.1.2-01][MPA-7.1.2-12][MPA-7.1.2-13][MPA-7.1.2-24]") {
  Case clean;
  SECTION("the Reply") {
    clean.octets_of(kI, clean.request).script.gap(kR, clean.reply.size());
    clean.fpdus(kI, 3).fpdus(kR, 3).close();
    CHECK(clean.script.audit().facts().no_reply.why == Why::kNotCaptured);
  }
  SECTION("the Reply, as TCP finds at the end") {
    clean.octets_of(kI, clean.request).fpdus(kI, 3).script.gap(kR, clean.reply.size());
    CHECK(clean.script.audit().facts().no_reply.why == Why::kNotCaptured);
  }
  SECTION("the Request") {
    clean.script.gap(kI, clean.request.size());
    clean.octets_of(kR, clean.reply).fpdus(kI, 3).fpdus(kR, 3).close();
    CHECK(clean.script.audit().facts().no_request.why == Why::kNotCaptured);
  }
  SECTION("the beginning") {
    clean.script = Script::mid_connection();
    clean.fpdus(kI, 3).fpdus(kR, 3).close();
    CHECK(clean.script.audit().facts().no_reply.why == Why::kNotCaptured);
  }
  CHECK(clean.script.audit().iwarp());
  CHECK(listed(clean.script.audit()) == Clauses{});
}

TEST_CASE("FPDUs of the Responder, and never a Reply", "[rfc5044/7.1.2][MPA-7.1.2-24]") {
  Case broken;
  broken.octets_of(kI, broken.request);
  SECTION("alone") {
    broken.fpdus(kR, 1).close();
    CHECK(violations(broken.script.audit()) == Clauses{"MPA-7.1.2-24"});
  }
  SECTION("without CRCs") {
    broken.talk.responder = FpduStream(false, false);
    broken.request = build({.flags = 0});
    broken.script = Script::with_handshake();
    broken.octets_of(kI, broken.request).fpdus(kR, 3).close();
    CHECK(violations(broken.script.audit()) == Clauses{"MPA-7.1.2-24"});
  }
  SECTION("with zeros for the CRCs that the Request asked for") {
    broken.talk.responder = FpduStream(false, false);
    broken.fpdus(kR, 3).close();
    CHECK(violations(broken.script.audit()) == Clauses{"MPA-7.1.2-24", "MPA-7.1.1-11"});
  }
  SECTION("and of the Initiator, who did not wait: each end breaks its own rule") {
    broken.fpdus(kI, 1).fpdus(kR, 1).close();
    const ConnectionAudit audit = broken.script.audit();
    CHECK(violations(audit) == Clauses{"MPA-7.1.2-24", "MPA-7.1.2-13"});
    CHECK(audit.tally(Direction::kFromInitiator).fpdus == 1);
    CHECK(audit.tally(Direction::kFromResponder).fpdus == 1);
  }
}

TEST_CASE("FPDUs, and no frame in either direction", "[rfc5044/7.1.2][MPA-7.1.2-24]") {
  Case broken;
  broken.fpdus(kI, 2).fpdus(kR, 2).close();
  const ConnectionAudit audit = broken.script.audit();
  CHECK(violations(audit) == Clauses{"MPA-7.1.2-24", "MPA-7.1.2-24"});
  CHECK(audit.iwarp());
  CHECK_FALSE(audit.roles_known());
  CHECK(audit.facts().no_request.why == Why::kNoneSent);
}

TEST_CASE("a Reply, and never a Request", "[rfc5044/7.1.2][MPA-7.1.2-12][MPA-7.1.2-01]") {
  Case broken;
  broken.octets_of(kR, broken.reply);
  SECTION("nor anything else") {
    broken.close();
    CHECK(violations(broken.script.audit()) == Clauses{"MPA-7.1.2-12"});
  }
  SECTION("but FPDUs") {
    broken.fpdus(kI, 2).fpdus(kR, 1).close();
    CHECK(violations(broken.script.audit()) == Clauses{"MPA-7.1.2-01", "MPA-7.1.2-12"});
  }
}

TEST_CASE("what answers the Request is no Reply", "[rfc5044/7.1.1][MPA-7.1.1-04]") {
  Case broken;
  broken.octets_of(kI, broken.request);
  SECTION("another protocol") {
    broken.octets_of(kR, octets("HTTP/1.0 400 Bad Request\r\n\r\n")).close();
    const ConnectionAudit audit = broken.script.audit();
    CHECK(violations(audit) == Clauses{"MPA-7.1.1-04"});
    CHECK(audit.facts().no_reply.why == Why::kMalformed);
    CHECK(audit.facts().no_reply.packet == 5);
  }
  SECTION("a few octets of it") {
    broken.octets_of(kR, octets("no")).close();
    CHECK(violations(broken.script.audit()) == Clauses{"MPA-7.1.1-04"});
  }
  SECTION("a frame with another key: the rest of it counts") {
    broken.talk.reply.key = "what is this key";
    broken.talk.reply.flags = 0x80;  // Markers towards the Responder
    broken.talk.initiator = FpduStream(true, true);
    broken.octets_of(kR, build(broken.talk.reply)).fpdus(kI, 3).fpdus(kR, 3).close();
    const ConnectionAudit audit = broken.script.audit();
    CHECK(violations(audit) == Clauses{"MPA-7.1.1-04"});
    CHECK(audit.tally(Direction::kFromInitiator).fpdus == 3);
  }
  SECTION("after other octets it may be the ULP's, whose protocol is not known") {
    Case delayed;
    delayed.octets_of(kI, octets("iWARP?")).octets_of(kR, octets("yes")).octets_of(kI, delayed.request);
    delayed.octets_of(kR, octets("sorry, I was wrong about that")).close();
    CHECK(listed(delayed.script.audit()) == Clauses{});
  }
}

TEST_CASE("a Request without an answer is no fault", "[rfc5044/7.1.2][MPA-7.1.2-04]") {
  Case clean;
  clean.octets_of(kI, clean.request);
  SECTION("of a capture that ends") {}
  SECTION("that is closed upon") { clean.script.close(kR).close(kI); }
  SECTION("that is reset") { clean.script.close(kR, Closing::kReset); }
  CHECK(listed(clean.script.audit()) == Clauses{});
  CHECK(clean.script.audit().facts().no_reply.why == Why::kNoneSent);
}

TEST_CASE("a frame that the end of the direction cuts", "[rfc5044/7.1.1][MPA-7.1.1-23]") {
  for (const std::size_t size : {8U, 10U, 15U, 16U, 19U}) {
    Case broken;
    broken.octets_of(kI, first(broken.request, size)).close();
    CHECK(violations(broken.script.audit()) == Clauses{"MPA-7.1.1-23"});
    Case answer;
    answer.octets_of(kI, answer.request).octets_of(kR, first(answer.reply, size)).close();
    CHECK(violations(answer.script.audit()) == Clauses{"MPA-7.1.1-23"});
    Case reset;
    reset.octets_of(kI, first(reset.request, size)).script.close(kI, Closing::kReset);
    CHECK(listed(reset.script.audit()) == Clauses{});
  }
  Case begun;
  begun.octets_of(kI, first(begun.request, 18)).script.close(kI, Closing::kReset);
  const ConnectionAudit audit = begun.script.audit();
  CHECK(audit.facts().no_request.why == Why::kUnfinished);
  CHECK(audit.facts().no_request.packet == 4);
  Case hardly;  // nothing that only MPA sends
  hardly.octets_of(kI, octets("MPA ID ")).close();
  CHECK_FALSE(hardly.script.audit().iwarp());
}

TEST_CASE("octets after a frame in which its sender had to be silent", "[rfc5044/7.1.1][MPA-7.1.1-23]") {
  Case broken;
  const Octets more = octets("twelve more!");
  SECTION("of the Initiator, and never a Reply") {
    broken.octets_of(kI, broken.request + more).close();
    CHECK(violations(broken.script.audit()) == Clauses{"MPA-7.1.1-23"});
  }
  SECTION("one of them") {
    for (const End from : {kI, kR}) {
      Case one;
      one.octets_of(kI, from == kI ? one.request + zeros(1) : one.request);
      one.octets_of(kR, from == kR ? one.reply + zeros(1) : one.reply).close();
      CHECK(violations(one.script.audit()) == Clauses{"MPA-7.1.1-23"});
    }
  }
  SECTION("of the Initiator, and then a Reply that rejects") {
    broken.talk.reply.flags |= 0x20;
    for (const std::size_t size : {1U, 3U, 12U, 400U}) {
      Case refused;
      refused.octets_of(kI, refused.request + pattern(size)).octets_of(kR, build(broken.talk.reply)).close();
      CHECK(violations(refused.script.audit()) == Clauses{"MPA-7.1.1-23"});
      Case after;  // the ULP's
      after.octets_of(kI, after.request).octets_of(kR, build(broken.talk.reply)).octets_of(kI, pattern(size)).close();
      CHECK(listed(after.script.audit()) == Clauses{});
    }
  }
  SECTION("of the Initiator, and then nothing") {
    broken.octets_of(kI, broken.request + more).octets_of(kR, broken.reply).close();
    CHECK(violations(broken.script.audit()) == Clauses{"MPA-7.1.1-23"});
  }
  SECTION("of the Responder") {
    broken.octets_of(kI, broken.request).octets_of(kR, broken.reply + more).fpdus(kI, 2).fpdus(kR, 3).close();
    CHECK(violations(broken.script.audit()) == Clauses{"MPA-7.1.1-23"});
  }
  SECTION("of the Responder, and the frame is shown") {
    broken.octets_of(kI, broken.request).octets_of(kR, broken.reply + more).fpdus(kI, 2).fpdus(kR, 3).close();
    const ConnectionAudit audit = broken.script.audit();
    REQUIRE(audit.findings().all().size() == 1);
    const Finding& finding = audit.findings().all()[0];
    CHECK(finding.place == Place{5, kPayloadAt + 18});
    CHECK(finding.stream_offset == 18);
    CHECK(finding.excerpt.octets == Octets(broken.reply.begin() + 2, broken.reply.end()));
  }
  SECTION("of the Responder, who had received something: an FPDU that is broken") {
    const std::uint64_t behind = broken.request.size() + 1;
    broken.octets_of(kI, broken.request).octets_of(kR, broken.reply);
    broken.script.send(kR, more, behind);
    broken.fpdus(kI, 2).fpdus(kR, 3).close();
    CHECK(violations(broken.script.audit()) == Clauses{"MPA-4.1-02"});
  }
  SECTION("of a frame that is wrong by itself, whose PD_Length says nothing") {
    broken.talk = enhanced_conversation(4, 4, 4, 4);
    broken.talk.request.private_data = zeros(3);  // no room for the enhanced data
    broken.octets_of(kI, build(broken.talk.request) + more).octets_of(kR, build(broken.talk.reply));
    broken.fpdus(kI, 3).close();
    CHECK(violations(broken.script.audit()) == Clauses{"MPA2-6-11", "MPA-4.1-02"});
  }
  SECTION("of the Responder, but later: an FPDU that is broken") {
    broken.octets_of(kI, broken.request).octets_of(kR, broken.reply).fpdus(kI, 2);
    broken.octets_of(kR, more).fpdus(kR, 3).close();
    CHECK(violations(broken.script.audit()) == Clauses{"MPA-4.1-02"});
  }
}

TEST_CASE("a second startup frame of one end", "[rfc5044/1.2][MPA-1.2-01]") {
  Case broken;
  std::string which = "Request";
  broken.octets_of(kI, broken.request);
  SECTION("a Request before the Reply") {
    broken.octets_of(kI, broken.request).octets_of(kR, broken.reply).fpdus(kI, 2).fpdus(kR, 3).close();
  }
  SECTION("a Request, and never a Reply") { broken.octets_of(kI, broken.request).close(); }
  SECTION("a Request before a Reply that rejects") {
    broken.talk.reply.flags |= 0x20;
    broken.octets_of(kI, broken.request).octets_of(kR, build(broken.talk.reply)).close();
  }
  SECTION("a Request after the Reply") { broken.octets_of(kR, broken.reply).octets_of(kI, broken.request).close(); }
  SECTION("a Request among the FPDUs") {
    broken.octets_of(kR, broken.reply).fpdus(kI, 2).octets_of(kI, broken.request).close();
  }
  SECTION("a Reply before the Initiator's first FPDU") {
    which = "Reply";
    broken.octets_of(kR, broken.reply).octets_of(kR, broken.reply).fpdus(kI, 2).fpdus(kR, 3).close();
  }
  SECTION("a Reply in the place of the Responder's first FPDU") {
    which = "Reply";
    broken.octets_of(kR, broken.reply).fpdus(kI, 2).octets_of(kR, broken.reply).close();
  }
  SECTION("a Reply among the FPDUs, which go on after it") {
    which = "Reply";
    broken.octets_of(kR, broken.reply).fpdus(kI, 2).fpdus(kR, 2).octets_of(kR, broken.reply).fpdus(kR, 3).close();
  }
  const ConnectionAudit audit = broken.script.audit();
  CHECK(violations(audit) == Clauses{"MPA-1.2-01"});
  CHECK(audit.findings().all()[0].message ==
        "Here an FPDU should begin, and a second startup frame does: a " + which + ".");
}

TEST_CASE("what looks like a second startup frame and is none", "[rfc5044/1.2][MPA-1.2-01]") {
  Case clean;
  clean.octets_of(kI, clean.request);
  SECTION("the octets of one in an FPDU") {
    clean.octets_of(kR, clean.reply).octets_of(kI, clean.talk.initiator.add(send(1, clean.request))).close();
  }
  SECTION("another attempt on the connection that a rejecting Reply left to the ULP") {
    clean.talk.reply.flags |= 0x20;
    clean.octets_of(kR, build(clean.talk.reply)).octets_of(kI, clean.request).close();
  }
  CHECK(violations(clean.script.audit()) == Clauses{});
}

TEST_CASE("a PD_Length of the Reply that is too large is not the Initiator's fault",
          "[rfc5044/7.1.1][MPA-7.1.1-23][MPA-7.1.2-13]") {
  Case broken;
  broken.talk.reply.private_data = pattern(5);
  broken.talk.reply.pd_length = 70;
  broken.octets_of(kI, broken.request).octets_of(kR, build(broken.talk.reply)).fpdus(kI, 2).fpdus(kR, 4).close();
  CHECK(violations(broken.script.audit()) == Clauses{"MPA-7.1.1-23"});
  Case early;  // here it is
  const Octets reply = build({.key = kReplyKey, .private_data = pattern(70)});
  early.octets_of(kI, early.request).octets_of(kR, first(reply, 40)).fpdus(kI, 1);
  early.octets_of(kR, {reply.begin() + 40, reply.end()}).fpdus(kI, 1).fpdus(kR, 1).close();
  CHECK(violations(early.script.audit()) == Clauses{"MPA-7.1.2-13"});
}

TEST_CASE("two frames of the same kind: who had to wait for whom is not known",
          "[rfc5044/7.1.2][MPA-7.1.1-02][MPA-7.1.1-04][MPA-7.1.2-17]") {
  Case replies;
  replies.octets_of(kI, replies.reply).octets_of(kR, replies.reply).fpdus(kI, 1).fpdus(kR, 1).close();
  CHECK(violations(replies.script.audit()) == Clauses{"MPA-7.1.1-02"});
  Case requests;
  requests.octets_of(kR, requests.request).octets_of(kI, requests.request).fpdus(kI, 1).fpdus(kR, 1).close();
  CHECK(violations(requests.script.audit()) == Clauses{"MPA-7.1.1-04"});
}

TEST_CASE("other protocols break no rule of MPA", "[rfc5044/7.1.2][MPA-7.1.2-24]") {
  Script http = Script::with_handshake();
  http.send(kI, octets("GET /index.html HTTP/1.1\r\nHost: localhost\r\n\r\n"));
  http.send(kR, octets("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")).close(kI).close(kR);
  CHECK_FALSE(http.audit().iwarp());
  Script zeros_only = Script::with_handshake();
  zeros_only.send(kI, zeros(4000)).send(kR, zeros(4000)).close(kI).close(kR);
  CHECK_FALSE(zeros_only.audit().iwarp());
}

}  // namespace weft::conformance::test::startup_missing_clauses
