// SPDX-License-Identifier: Apache-2.0
// What findings about FPDUs and messages say: the values that were there, and where.
#include <gmock/gmock.h>

#include "tests/conformance/exchange.hpp"

namespace weft::conformance::test {
namespace {

using testing::ElementsAre;

TEST(Sentences, OfUlpdusThatAreTooLong) {
  Conversation conversation;
  Script script = conversation.startup(1460);
  for (const std::size_t ulpdu : {1454U, 1460U, 1458U}) {
    script.send(End::kFirst, conversation.initiator.add(write(pattern(ulpdu - 14))));
  }
  const ConnectionAudit audit = script.audit();
  ASSERT_EQ(audit.findings().all().size(), 1U);
  const Finding& finding = audit.findings().all()[0];
  EXPECT_EQ(
      finding.message,
      "2 of 3 ULPDUs are longer than the MULPDU of 1454 that the MSS option allows; the longest has 1460 octets.");
  EXPECT_EQ(finding.stream_offset, 20U + 1460U) << "the first of them, after the Request and an FPDU";
}

TEST(Sentences, OfTcpSegmentsThatBeginInAnFpdu) {
  Conversation conversation;
  Script script = conversation.startup();
  const Octets fpdu = conversation.initiator.add(send(1, pattern(100)));
  script.send(End::kFirst, {fpdu.begin(), fpdu.begin() + 50}).send(End::kFirst, {fpdu.begin() + 50, fpdu.end()});
  const ConnectionAudit audit = script.audit();
  ASSERT_EQ(audit.findings().all().size(), 1U);
  const Finding& finding = audit.findings().all()[0];
  EXPECT_EQ(finding.message, "1 of 2 TCP segments do not begin with an FPDU.");
  EXPECT_EQ(finding.place.octet, 0U) << "of no octet in particular";
  EXPECT_EQ(finding.stream_offset, 20U + 50U);
}

TEST(Sentences, OfRdmapsReservedBits) {
  const Octets ulpdu = send(1, pattern(9));
  const unsigned control = std::to_integer<unsigned>(ulpdu[1]);
  EXPECT_THAT(Exchange().initiator(changed(ulpdu, 1, control | 0x10)).told(),
              ElementsAre("the Rsv bits are 01, not 00 (control octet 53)"));
  EXPECT_THAT(Exchange().initiator(changed(ulpdu, 1, control | 0x20)).told(),
              ElementsAre("the Rsv bits are 10, not 00 (control octet 63)"));
}

TEST(Sentences, OfTheReservedBitsOfATerminate) {
  const Octets written = write(pattern(30));
  TerminateMessage message = over(written);
  message.reserved = 0x1234;
  EXPECT_THAT(Exchange().initiator(written).responder(message.ulpdu()).told(),
              ElementsAre("the reserved bits are 0x1234, not 0"));
}

TEST(Sentences, OfATerminateThatEndsInFrontOfItsHeader) {
  EXPECT_THAT(Exchange().responder(TerminateMessage{.bits = 0xc0, .length = 44}.ulpdu()).told(),
              testing::Contains("the Terminate has 6 octets; M=1 D=1 R=0 announce 20"));
}

// Two Reads into one buffer are told apart by their order alone.
TEST(Sentences, OfTheOlderOfTwoReadsIntoOneBuffer) {
  const Read longer{.msn = 1, .size = 24}, shorter{.msn = 2, .size = 8};
  const auto answer = [&] { return Exchange().initiator(longer.request()).initiator(shorter.request()); };
  EXPECT_THAT(answer().responder(longer.response()).responder(shorter.response()).found(), ElementsAre());
  EXPECT_THAT(answer().responder(shorter.response()).found(), ElementsAre(testing::HasSubstr("RDMAP-4.4-07")));
}

}  // namespace
}  // namespace weft::conformance::test
