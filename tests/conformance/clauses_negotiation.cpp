// SPDX-License-Identifier: Apache-2.0
// RFC 6581 sections 5, 9 and 10: what Request and Reply say together, and the ready-to-receive indication.
#include <catch2/catch.hpp>

#include "tests/conformance/conversation.hpp"

namespace weft::conformance::test::negotiation_clauses {
namespace {

constexpr unsigned kA = 0x8000;  // in the IRD word
constexpr unsigned kB = 0x4000;
constexpr unsigned kC = 0x8000;  // in the ORD word
constexpr unsigned kD = 0x4000;

Clauses frames(const Conversation& conversation) { return violations(conversation.startup().audit()); }

// Both frames name `types`; the Initiator begins with `first`.
Clauses peer_to_peer(unsigned request_types, unsigned reply_types, const Octets& first) {
  const auto b = [](unsigned types) { return types & 1 ? kB : 0U; };
  const auto cd = [](unsigned types) { return (types & 2 ? kC : 0U) | (types & 4 ? kD : 0U); };
  Conversation conversation = enhanced_conversation(kA | b(request_types) | 4, cd(request_types) | 4,
                                                    kA | b(reply_types) | 4, cd(reply_types) | 4);
  Script script = conversation.startup();
  script.send(End::kFirst, conversation.initiator.add(first));
  return violations(script.audit());
}
constexpr unsigned kSendType = 1;
constexpr unsigned kWriteType = 2;
constexpr unsigned kReadType = 4;

}  // namespace

TEST_CASE("enhanced frames that agree have no finding",
          "[rfc6581/9][MPA2-9.1-04][MPA2-9.1-08][MPA2-9.2-04][MPA2-9.2-06][MPA2-9.2-09][MPA2-9.2-17][MPA2-9.2-18]"
          "[MPA2-10-02][MPA2-10-04][MPA2-6-07][MPA2-6-11]") {
  CHECK(frames(enhanced_conversation(8, 4, 4, 8)) == Clauses{});
  CHECK(frames(enhanced_conversation(kA | 8, kC | kD | 4, kA | 4, kC | 8)) == Clauses{});
  CHECK(warnings(enhanced_conversation(8, 4, 4, 8).startup().audit()) == Clauses{});
}

TEST_CASE("the facts tell how many Requests may be outstanding", "[rfc6581/9.1][MPA2-9.1-06][MPA2-9.1-19]") {
  const ConnectionAudit audit = enhanced_conversation(8, 4, 5, 7).startup().audit();
  CHECK(audit.facts().request_limit(Direction::kFromInitiator) == 5);
  CHECK(audit.facts().request_limit(Direction::kFromResponder) == 8);
  const ConnectionAudit left = enhanced_conversation(0x3fff, 4, 5, 7).startup().audit();
  CHECK_FALSE(left.facts().request_limit(Direction::kFromResponder));
  CHECK_FALSE(Conversation{}.startup().audit().facts().request_limit(Direction::kFromInitiator));
}

TEST_CASE("types without the peer-to-peer model", "[rfc6581/9.2][MPA2-9.2-18]") {
  CHECK(frames(enhanced_conversation(kB | 4, 4, 4, 4)) == Clauses{"MPA2-9.2-18"});
  CHECK(frames(enhanced_conversation(4, 4, 4, kD | 4)) == Clauses{"MPA2-9.2-18"});
}

TEST_CASE("the peer-to-peer model without types", "[rfc6581/9.2][MPA2-9.2-04][MPA2-9.2-09]") {
  CHECK(frames(enhanced_conversation(kA | 4, 4, kA | 4, kC | 4)) == Clauses{"MPA2-9.2-04"});
  CHECK(frames(enhanced_conversation(kA | 4, kC | 4, kA | 4, 4)) == Clauses{"MPA2-9.2-09"});
}

TEST_CASE("what a Request without A meant by its types is not guessed from the Reply", "[rfc6581/9.2][MPA2-9.2-18]") {
  CHECK(frames(enhanced_conversation(kB | 4, 4, kA | 4, kC | 4)) == Clauses{"MPA2-9.2-18"});
}

TEST_CASE("the Reply mirrors A", "[rfc6581/9.2][MPA2-9.2-06][MPA2-9.2-17]") {
  CHECK(frames(enhanced_conversation(kA | 4, kC | 4, 4, 4)) == Clauses{"MPA2-9.2-06"});
  CHECK(frames(enhanced_conversation(kA | 4, kC | 4, 4, kC | 4)) == Clauses{"MPA2-9.2-06"});
  CHECK(frames(enhanced_conversation(4, 4, kA | 4, kC | 4)) == Clauses{"MPA2-9.2-17"});
  Conversation rejected = enhanced_conversation(kA | 4, kC | 4, 4, 4);
  rejected.reply.flags |= 0x20;
  CHECK(frames(rejected) == Clauses{});
}

TEST_CASE("a Request with A and without a type is one finding, whatever the Reply says", "[rfc6581/9.2][MPA2-9.2-04]") {
  for (const unsigned types : {0U, kC | 0U}) {
    Conversation broken = enhanced_conversation(kA | 4, 4, kA | 4, types | 4);
    broken.reply.flags |= 0x20;
    CHECK(frames(broken) == Clauses{"MPA2-9.2-04"});
  }
}

TEST_CASE("the Reply is enhanced if the Request is", "[rfc6581/10][MPA2-10-02][MPA2-10-04]") {
  Conversation broken = enhanced_conversation(4, 4, 4, 4);
  broken.reply = {.key = kReplyKey, .flags = 0x40, .revision = 2};
  CHECK(frames(broken) == Clauses{"MPA2-10-02"});
  broken.reply = {.key = kReplyKey, .flags = 0x60, .revision = 1};  // an end that knows no revision 2 may refuse
  CHECK(frames(broken) == Clauses{});
  broken = enhanced_conversation(4, 4, 4, 4);
  broken.request = {.flags = 0x40, .revision = 2};
  CHECK(frames(broken) == Clauses{"MPA2-10-04"});
}

TEST_CASE("the Responder's ORD is at most the Initiator's IRD", "[rfc6581/9.1][MPA2-9.1-08][MPA2-9.1-19]") {
  CHECK(frames(enhanced_conversation(4, 4, 4, 5)) == Clauses{"MPA2-9.1-08"});
  CHECK(frames(enhanced_conversation(4, 4, 4, 0x3fff)) == Clauses{});
  Conversation rejected = enhanced_conversation(4, 4, 4, 5);  // tells the ORD that it needs (MPA2-9.1-11)
  rejected.reply.flags |= 0x20;
  CHECK(frames(rejected) == Clauses{});
}

TEST_CASE("a Responder's IRD below the Initiator's ORD is worth a warning", "[rfc6581/9.1][MPA2-9.1-04]") {
  CHECK(warnings(enhanced_conversation(4, 5, 4, 4).startup().audit()) == Clauses{"MPA2-9.1-04"});
  CHECK(warnings(enhanced_conversation(4, 0x3fff, 4, 4).startup().audit()) == Clauses{});  // MPA2-9.1-20
}

TEST_CASE("a depth that the Request leaves to the ULP is left in the Reply, too",
          "[rfc6581/9.1][MPA2-9.1-19][MPA2-9.1-20][MPA2-9.1-22]") {
  CHECK(frames(enhanced_conversation(0x3fff, 0x3fff, 0x3fff, 0x3fff)) == Clauses{});
  CHECK(frames(enhanced_conversation(4, 0x3fff, 4, 4)) == Clauses{"MPA2-9.1-20"});
  CHECK(frames(enhanced_conversation(4, 0x3fff, 0, 4)) == Clauses{"MPA2-9.1-20"});
  CHECK(frames(enhanced_conversation(4, 0x3fff, 0x3fff, 4)) == Clauses{});
  CHECK(frames(enhanced_conversation(0x3fff, 4, 4, 5)) == Clauses{"MPA2-9.1-22"});
  CHECK(frames(enhanced_conversation(0x3fff, 4, 4, 0)) == Clauses{"MPA2-9.1-22"});
  CHECK(frames(enhanced_conversation(0x3fff, 4, 4, 0x3fff)) == Clauses{});
  SECTION("the Responder may leave what the Request names") {
    CHECK(frames(enhanced_conversation(4, 4, 0x3fff, 0x3fff)) == Clauses{});
    CHECK(warnings(enhanced_conversation(4, 4, 0x3fff, 0x3fff).startup().audit()) == Clauses{});
  }
  SECTION("the flags beside a depth are no part of it") {
    CHECK(frames(enhanced_conversation(kA | kB | 0x3fff, kC | 4, kA | kB | 4, kC | 0x3fff)) == Clauses{});
    CHECK(frames(enhanced_conversation(kA | kB | 0x3fff, kC | 4, kA | kB | 4, kC | 4)) == Clauses{"MPA2-9.1-22"});
  }
  SECTION("a rejecting Reply names the depth that it needs") {
    Conversation rejected = enhanced_conversation(0x3fff, 0x3fff, 4, 5);
    rejected.reply.flags |= 0x20;
    CHECK(frames(rejected) == Clauses{});
  }
}

TEST_CASE("CRCs that neither end asked for are worth a warning", "[rfc5044/4.4][MPA-4.4-05]") {
  Conversation off;
  off.request.flags = off.reply.flags = 0;
  CHECK(warnings(off.startup().audit()) == Clauses{"MPA-4.4-05"});
  off.reply.flags = 0x40;
  CHECK(warnings(off.startup().audit()) == Clauses{});
}

TEST_CASE("the first FPDU of a peer-to-peer connection", "[rfc6581/5][rfc6581/9.2][MPA2-5-03][MPA2-9.2-12]") {
  CHECK(peer_to_peer(kSendType, kSendType, send(1, {})) == Clauses{});
  CHECK(peer_to_peer(kWriteType, kWriteType, write({})) == Clauses{});
  CHECK(peer_to_peer(kReadType, kReadType, read_request(1, 0)) == Clauses{});
  CHECK(peer_to_peer(kReadType, kWriteType, terminate_message()) == Clauses{});
  CHECK(peer_to_peer(kSendType, kSendType, send(1, pattern(4))) == Clauses{"MPA2-5-03"});
  CHECK(peer_to_peer(kReadType, kReadType, read_request(1, 8)) == Clauses{"MPA2-5-03"});
  CHECK(peer_to_peer(kSendType | kWriteType, kSendType, write({})) == Clauses{"MPA2-9.2-12"});
  Conversation client_server = enhanced_conversation(4, 4, 4, 4);
  CHECK(violations(client_server.whole().audit()) == Clauses{});
  SECTION("and no later one") {
    Conversation conversation = enhanced_conversation(kA | kB | 4, kC | 4, kA | kB | 4, kC | 4);
    Script script = conversation.startup();
    script.send(End::kFirst, conversation.initiator.add(write({})));
    script.send(End::kFirst, conversation.initiator.add(send(1, pattern(4))));
    CHECK(violations(script.audit()) == Clauses{});
  }
  SECTION("is of no wrong type where a frame names none, which is told of the frame") {
    CHECK(peer_to_peer(0, kWriteType, write({})) == Clauses{"MPA2-9.2-04"});
    CHECK(peer_to_peer(kWriteType, 0, write({})) == Clauses{"MPA2-9.2-09"});
  }
  SECTION("is not blamed for being none where nobody knows what it is") {
    CHECK(peer_to_peer(kSendType, kSendType, untagged(12, 0, 1, pattern(4))) == Clauses{"RDMAP-4.1-22"});
    CHECK(peer_to_peer(kSendType, kSendType, tagged(3, 0x1234, 0, pattern(4))) == Clauses{"RDMAP-5.3-01"});
  }
  SECTION("is not known where the capture does not show it, or its CRC is wrong") {
    const auto behind = [](End gap, bool broken) {
      Conversation conversation = enhanced_conversation(kA | kB | 4, kC | 4, kA | kB | 4, kC | 4);
      Script script = conversation.startup();
      const Octets first = conversation.initiator.add(send(1, {}), {.crc_flip = broken ? 1U : 0U});
      if (gap == End::kSecond || broken) script.send(End::kFirst, first);
      if (!broken) script.gap(gap, first.size());
      for (const unsigned msn : {2U, 3U, 4U}) {
        script.send(End::kFirst, conversation.initiator.add(send(msn, pattern(4))));
      }
      return violations(script.audit());
    };
    CHECK(behind(End::kFirst, false) == Clauses{});
    CHECK(behind(End::kFirst, true) == Clauses{"MPA-4.4-13"});
  }
  SECTION("is judged whatever the capture lacks of the Responder") {
    Conversation conversation = enhanced_conversation(kA | kB | 4, kC | 4, kA | kB | 4, kC | 4);
    Script script = conversation.startup();
    script.gap(End::kSecond, 60).send(End::kFirst, conversation.initiator.add(send(1, pattern(4))));
    CHECK(violations(script.audit()) == Clauses{"MPA2-5-03"});
  }
  SECTION("is that of both frames, or of none") {
    Conversation added = enhanced_conversation(4, 4, kA | 4, kC | 4);
    Script script = added.startup();
    script.send(End::kFirst, added.initiator.add(send(1, pattern(4))));
    CHECK(violations(script.audit()) == Clauses{"MPA2-9.2-17"});
    Conversation dropped = enhanced_conversation(kA | 4, kC | 4, 4, 4);
    script = dropped.startup();
    script.send(End::kFirst, dropped.initiator.add(send(1, pattern(4))));
    CHECK(violations(script.audit()) == Clauses{"MPA2-9.2-06"});
  }
}

TEST_CASE("findings about depths name the octets of the Reply",
          "[rfc6581/9.1][MPA2-9.1-04][MPA2-9.1-08][MPA2-9.1-20][MPA2-9.1-22]") {
  const auto offset = [](const Conversation& conversation, std::string_view clause) {
    const ConnectionAudit audit = conversation.startup().audit();
    REQUIRE(audit.findings().all().size() == 1);
    const Finding& finding = audit.findings().all()[0];
    CHECK(finding.rule->clause == clause);
    CHECK(finding.excerpt.marked == 2);
    CHECK(finding.place.octet == kPayloadAt + finding.stream_offset);
    return finding.stream_offset;
  };
  CHECK(offset(enhanced_conversation(4, 8, 7, 4), "MPA2-9.1-04") == 20);
  CHECK(offset(enhanced_conversation(4, 4, 4, 5), "MPA2-9.1-08") == 22);
  CHECK(offset(enhanced_conversation(4, 0x3fff, 4, 4), "MPA2-9.1-20") == 20);
  CHECK(offset(enhanced_conversation(0x3fff, 4, 4, 4), "MPA2-9.1-22") == 22);
}

}  // namespace weft::conformance::test::negotiation_clauses
