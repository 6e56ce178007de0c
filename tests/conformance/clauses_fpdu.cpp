// SPDX-License-Identifier: Apache-2.0
// RFC 5044 sections 3, 4, 5.1 and 7.2: FPDUs, their CRCs, Markers, place in TCP segments, and the end.
#include <catch2/catch.hpp>

#include "tests/conformance/conversation.hpp"

namespace weft::conformance::test::fpdu_clauses {
namespace {

using Wrong = FpduStream::Wrong;

// Four FPDUs, of which the second is `wrong`.
Script with_second(Conversation& conversation, const Wrong& wrong, std::size_t payload = 41) {
  Script script = conversation.startup();
  script.send(End::kFirst, conversation.initiator.add(send(1, pattern(30))));
  script.send(End::kFirst, conversation.initiator.add(send(2, pattern(payload, 2)), wrong));
  script.send(End::kFirst, conversation.initiator.add(send(3, pattern(41, 3))));
  script.send(End::kFirst, conversation.initiator.add(send(4, pattern(41, 4))));
  script.close(End::kFirst);
  return script;
}
Clauses second(const Wrong& wrong, std::size_t payload = 41, bool crc = true) {
  Conversation conversation;
  if (!crc) {
    conversation.request.flags = conversation.reply.flags = 0;
    conversation.initiator = FpduStream(false, false);
  }
  return violations(with_second(conversation, wrong, payload).audit());
}

// With Markers from the Initiator; the FPDU that holds the Marker at 512 is `wrong`.
Clauses marked(const Wrong& wrong, std::size_t before = 30) {
  Conversation conversation;
  conversation.reply.flags = 0xc0;
  conversation.initiator = FpduStream(true, true);
  Script script = conversation.startup();
  script.send(End::kFirst, conversation.initiator.add(send(1, pattern(before))));
  script.send(End::kFirst, conversation.initiator.add(send(2, pattern(600)), wrong));
  script.send(End::kFirst, conversation.initiator.add(send(3, pattern(600))));
  return violations(script.audit());
}

}  // namespace

TEST_CASE("a PAD that is not zero", "[rfc5044/4.1][MPA-4.1-03]") {
  Octets pad;
  put(pad, 0x0a, 1);
  // 18 + 41 octets and the length field leave 3 octets of PAD; 43 leave 1.
  const ConnectionAudit audit = [&] {
    Conversation conversation;
    return with_second(conversation, {.pad = pad}, 43).audit();
  }();
  REQUIRE(violations(audit) == Clauses{"MPA-4.1-03"});
  const Finding& finding = audit.findings().all()[0];
  CHECK(finding.direction == Direction::kFromInitiator);
  CHECK(finding.place == Place{7, kPayloadAt + 63});
  CHECK(finding.stream_offset == 20 + 56 + 63);
  CHECK(finding.excerpt.octets[finding.excerpt.mark] == std::byte{0x0a});
  CHECK(finding.excerpt.marked == 1);
}

TEST_CASE("a ULPDU longer than there may be", "[rfc5044/3][MPA-3-05]") {
  CHECK(second({}, 64768 - 18) == Clauses{});
  CHECK(second({}, 64769 - 18) == Clauses{"MPA-3-05"});
  CHECK(second({}, 65000, false) == Clauses{"MPA-3-05"});
}

TEST_CASE("a wrong CRC is one finding, and the FPDU is not judged further", "[rfc5044/4.4][MPA-4.4-13]") {
  CHECK(second({}) == Clauses{});
  CHECK(second({.crc_flip = 0x100}) == Clauses{"MPA-4.4-13"});
  Octets pad;
  put(pad, 0x0a, 1);
  CHECK(second({.pad = pad, .crc_flip = 1}, 43) == Clauses{"MPA-4.4-13"});
  CHECK(second({.crc_flip = 0x100}, 41, false) == Clauses{});  // not in use
}

TEST_CASE("every CRC in the wrong octet order is one cause", "[rfc5044/4.4][MPA-4.4-13]") {
  Conversation conversation;
  Script script = conversation.startup();
  for (unsigned i = 1; i < 6; ++i) {
    FpduStream alone(true, false);
    const Octets good = alone.add(send(i, pattern(40)));
    Octets swapped(good.begin(), good.end() - 4);
    for (std::size_t k = 1; k <= 4; ++k) swapped.push_back(good[good.size() - k]);
    script.send(End::kFirst, swapped);
  }
  const ConnectionAudit audit = script.audit();
  REQUIRE(violations(audit) == Clauses{"MPA-4.4-13"});
  CHECK(audit.findings().all()[0].message.contains("other order"));
  CHECK(audit.tally(Direction::kFromInitiator).bad_crcs == 5);
}

TEST_CASE("CRCs in use that are not generated are one cause", "[rfc5044/7.1.1][MPA-7.1.1-11]") {
  Conversation conversation;
  conversation.request.flags = 0;  // the Reply asks alone
  conversation.initiator = FpduStream(false, false);
  Script script = conversation.startup();
  for (unsigned i = 1; i < 6; ++i) script.send(End::kFirst, conversation.initiator.add(send(i, pattern(40))));
  CHECK(violations(script.audit()) == Clauses{"MPA-7.1.1-11"});
}

TEST_CASE("a ULPDU_Length that leads nowhere", "[rfc5044/4.1][MPA-4.1-02]") {
  for (const bool crc : {true, false}) {
    CHECK(second({.length = 63}, 41, crc) == Clauses{"MPA-4.1-02"});  // 59 would be right
    CHECK(second({.length = 51}, 41, crc) == Clauses{"MPA-4.1-02"});
    CHECK(second({.length = 40000}, 41, crc) == Clauses{"MPA-4.1-02"});  // more than there is
  }
}

TEST_CASE("a ULPDU_Length that leads to zeros of the next FPDU", "[rfc5044/4.1][MPA-4.1-02]") {
  for (const unsigned opcode : {0U, 2U}) {  // a Write, a Read Response
    Conversation conversation;
    Script script = conversation.startup();
    script.send(End::kFirst, conversation.initiator.add(send(1, pattern(8)), {.length = 18 + 8 + 4}));
    script.send(End::kFirst, conversation.initiator.add(tagged(opcode, 0, 0x1000, {})));
    script.send(End::kFirst, conversation.initiator.add(send(2, pattern(8))));
    CHECK(violations(script.audit()) == Clauses{"MPA-4.1-02"});
  }
}

TEST_CASE("FIN inside an FPDU", "[rfc5044/7.2][MPA-7.2-01]") {
  Conversation conversation;
  Script script = conversation.startup();
  const Octets fpdu = conversation.initiator.add(send(1, pattern(40)));
  script.send(End::kFirst, {fpdu.begin(), fpdu.end() - 1});
  SECTION("is a violation") {
    script.close(End::kFirst);
    CHECK(violations(script.audit()) == Clauses{"MPA-7.2-01"});
  }
  SECTION("but after a wrong CRC nobody knows where one begins") {
    Conversation broken;
    Script script_with_both = broken.startup();
    script_with_both.send(End::kFirst, broken.initiator.add(send(1, pattern(40)), {.crc_flip = 1}));
    script_with_both.send(End::kFirst, {fpdu.begin(), fpdu.end() - 1}).close(End::kFirst);
    CHECK(violations(script_with_both.audit()) == Clauses{"MPA-4.4-13"});
  }
  SECTION("a reset may come at any time") {
    script.close(End::kFirst, Closing::kReset);
    CHECK(violations(script.audit()) == Clauses{});
  }
  SECTION("the end of the capture, too") { CHECK(violations(script.audit()) == Clauses{}); }
}

TEST_CASE("Markers as they should be",
          "[rfc5044/4.2][rfc5044/4.3][MPA-4.2-02][MPA-4.2-05][MPA-4.3-05][MPA-4.3-07]"
          "[MPA-4.3-12][MPA-7.1.1-07][MPA-7.1.1-08]") {
  for (std::size_t before = 0; before < 600; before += 7) CHECK(marked({}, before) == Clauses{});
}

TEST_CASE("what is wrong in a Marker", "[rfc5044/4.2][rfc5044/4.3][MPA-4.2-02][MPA-4.2-05][MPA-4.3-05]") {
  // 4 for the first Marker, 2 + 48 + 2 + 4: the second FPDU begins at 60, its Marker at 512 tells 452.
  CHECK(marked({.marker = 452}) == Clauses{});
  CHECK(marked({.marker = 0x00010000 | 452}) == Clauses{"MPA-4.2-02"});
  CHECK(marked({.marker = 453}) == Clauses{"MPA-4.2-05"});
  CHECK(marked({.marker = 456}) == Clauses{"MPA-4.3-05"});
  CHECK(marked({.marker = 0}) == Clauses{"MPA-4.3-05"});
}

TEST_CASE("a Marker between two FPDUs", "[rfc5044/4.3][MPA-4.3-07]") {
  // 4 + 2 + 18 + 484 + 4 = 512.
  CHECK(marked({.marker = 0}, 484) == Clauses{});
  CHECK(marked({.marker = 512}, 484) == Clauses{"MPA-4.3-07"});
}

TEST_CASE("the first Marker of a direction", "[rfc5044/4.3][MPA-4.3-12]") {
  Conversation conversation;
  conversation.reply.flags = 0xc0;
  conversation.initiator = FpduStream(true, true);
  Script script = conversation.startup();
  script.send(End::kFirst, conversation.initiator.add(send(1, pattern(30)), {.marker = 8}));
  script.send(End::kFirst, conversation.initiator.add(send(2, pattern(30))));
  CHECK(violations(script.audit()) == Clauses{"MPA-4.3-12"});
}

TEST_CASE("the last FPDU of a stream with Markers may lack them",
          "[rfc5044/7.1.1][rfc5044/7.2][MPA-7.1.1-08][MPA-7.2-01]") {
  for (const bool crc : {true, false}) {
    Conversation talk{
        .request = {.flags = crc ? 0x40U : 0U}, .reply = {.key = kReplyKey, .flags = crc ? 0xc0U : 0x80U}, .crc = crc};
    FpduStream with(crc, true), without(crc, false);
    const auto judged = [&](const Octets& last) {
      Script script = talk.startup();
      script.send(End::kFirst, FpduStream(with).add(send(1, pattern(300)))).send(End::kFirst, last);
      return violations(script.close(End::kFirst).close(End::kSecond).audit());
    };
    const Octets good = FpduStream(without).add(send(2, pattern(1400)));
    CHECK(judged(good) == Clauses{crc ? "MPA-7.1.1-08" : "MPA-7.2-01"});  // which a CRC proves
    CHECK(judged(Octets(good.begin(), good.end() - 4)) == Clauses{"MPA-7.2-01"});
  }
}

TEST_CASE("Markers go with the other end's M", "[rfc5044/7.1.1][MPA-7.1.1-07][MPA-7.1.1-08]") {
  for (const bool crc : {true, false}) {
    Conversation conversation;
    conversation.request.flags = conversation.reply.flags = crc ? 0x40 : 0;
    conversation.initiator = FpduStream(crc, true);
    conversation.responder = FpduStream(crc, false);
    CHECK(violations(conversation.whole().audit()) == Clauses{"MPA-7.1.1-07"});
    conversation.reply.flags |= 0x80;
    conversation.initiator = FpduStream(crc, false);
    conversation.responder = FpduStream(crc, false);
    CHECK(violations(conversation.whole().audit()) == Clauses{"MPA-7.1.1-08"});
  }
}

TEST_CASE("a ULPDU larger than the MULPDU", "[rfc5044/3][MPA-3-03]") {
  Conversation conversation;
  Script script = conversation.startup(1460);
  script.send(End::kFirst, conversation.initiator.add(send(1, pattern(1454 - 18))));
  CHECK(warnings(script.audit()) == Clauses{});
  script.send(End::kFirst, conversation.initiator.add(send(2, pattern(1455 - 18))));
  CHECK(warnings(script.audit()) == Clauses{"MPA-3-03"});
  Conversation tiny;  // below an EMSS of 128 nothing is asked for
  Script small = tiny.startup(100);
  small.send(End::kFirst, tiny.initiator.add(send(1, pattern(400))));
  CHECK(warnings(small.audit()) == Clauses{});
}

TEST_CASE("TCP segments that do not begin with an FPDU", "[rfc5044/5.1][MPA-5.1-04]") {
  Conversation conversation;
  Script script = conversation.startup();
  const Octets fpdu = conversation.initiator.add(send(1, pattern(100)));
  script.send(End::kFirst, {fpdu.begin(), fpdu.begin() + 50});
  script.send(End::kFirst, {fpdu.begin() + 50, fpdu.end()});
  const ConnectionAudit audit = script.audit();
  REQUIRE(warnings(audit) == Clauses{"MPA-5.1-04"});
  CHECK(audit.findings().all()[0].message.starts_with("1 of 2 "));
  CHECK(violations(audit) == Clauses{});
  SECTION("in one with a wrong CRC they may well begin with an FPDU: its length may be wrong") {
    Conversation broken;
    Script with_damage = broken.startup();
    const Octets bad = broken.initiator.add(send(1, pattern(100)), {.crc_flip = 1});
    with_damage.send(End::kFirst, {bad.begin(), bad.begin() + 50}).send(End::kFirst, {bad.begin() + 50, bad.end()});
    with_damage.send(End::kFirst, broken.initiator.add(send(2, pattern(30))));
    CHECK(warnings(with_damage.audit()) == Clauses{});
  }
}

}  // namespace weft::conformance::test::fpdu_clauses
