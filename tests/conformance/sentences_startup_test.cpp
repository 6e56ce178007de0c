// SPDX-License-Identifier: Apache-2.0
// What findings about the startup say: the values that were there, and where.
#include <gmock/gmock.h>

#include "tests/conformance/conversation.hpp"

namespace weft::conformance::test {
namespace {

std::vector<std::string> told(const Script& script) {
  const ConnectionAudit audit = script.audit();
  std::vector<std::string> sentences;
  for (const Finding& finding : audit.findings().all()) sentences.push_back(finding.message);
  return sentences;
}
using testing::ElementsAre;

TEST(StartupSentences, OfAFrameThatWasCutShort) {
  const Octets request = build({.private_data = zeros(8)});
  const auto cut = [&](std::size_t size) {
    Script script = Script::with_handshake();
    script.send(End::kFirst, {request.begin(), request.begin() + static_cast<std::ptrdiff_t>(size)});
    return told(script.close(End::kFirst).close(End::kSecond));
  };
  EXPECT_THAT(cut(19), ElementsAre("The direction ended 19 octets into the startup frame."));
  EXPECT_THAT(cut(20), ElementsAre("The direction ended 20 octets into the startup frame, whose PD_Length is 8."));
}

TEST(StartupSentences, OfASecondRequest) {
  Conversation clash;
  clash.reply.key = "MPA ID Req Frame";
  EXPECT_THAT(told(clash.startup()),
              ElementsAre("A Request is answered by a second Request: both ends are Initiators."));
}

TEST(StartupSentences, OfReservedBits) {
  Conversation broken;
  broken.request.flags = 0x4b;
  EXPECT_THAT(told(broken.startup()), ElementsAre("The reserved bits are 0x0b, not 0."));
}

TEST(StartupSentences, OfDepths) {
  EXPECT_THAT(told(enhanced_conversation(4, 4, 4, 5).startup()),
              ElementsAre("The ORD of the Reply is 5, the IRD of the Request 4."));
  EXPECT_THAT(told(enhanced_conversation(4, 7, 6, 4).startup()),
              ElementsAre("The IRD of the Reply is 6, the ORD of the Request 7: the Initiator has to keep fewer Reads "
                          "outstanding than it wanted."));
}

TEST(StartupSentences, OfWhatWasNotWaitedFor) {
  Conversation early;
  Script script = Script::with_handshake();
  const Octets request = build(early.request);
  script.send(End::kFirst, request).send(End::kSecond, build(early.reply), 10);
  EXPECT_THAT(
      told(script),
      ElementsAre("The Reply begins in packet 5, which acknowledges 10 octets; the Request ends at 20, in packet 4."));
  Script unfenced = early.startup();
  unfenced.send(End::kSecond, early.responder.add(send(1, pattern(3))));
  EXPECT_THAT(told(unfenced),
              ElementsAre("The Responder's first FPDU is in packet 6, which acknowledges 20 octets; the "
                          "Request ends at 20, in packet 4."));
  unfenced.send(End::kFirst, early.initiator.add(send(1, pattern(2))));
  EXPECT_THAT(told(unfenced),
              ElementsAre("The Responder's first FPDU is in packet 6, which acknowledges 20 octets; the "
                          "Initiator's first FPDU ends at 48, in packet 7."));
}

// RFC 6581 section 10: a responder that knows revision 2 answers in kind, also when it rejects.
TEST(StartupSentences, OfARejectionWithoutEnhancedData) {
  Conversation broken = enhanced_conversation(4, 4, 4, 4);
  broken.reply = {.key = kReplyKey, .flags = 0x60, .revision = 2};
  EXPECT_THAT(told(broken.startup()), ElementsAre("S is clear in the Reply and set in the Request."));
}

// A message that cannot be read is not blamed for being no ready-to-receive indication as well.
TEST(StartupSentences, OfAFirstMessageThatNobodyCanRead) {
  Conversation conversation = enhanced_conversation(0x8004, 0x4004, 0x8004, 0x4004);
  Script script = conversation.startup();
  Octets request = read_request(1, 0);
  request.pop_back();
  script.send(End::kFirst, conversation.initiator.add(request));
  EXPECT_THAT(violations(script.audit()), ElementsAre("RDMAP-4.4-01"));
}

}  // namespace
}  // namespace weft::conformance::test
