// SPDX-License-Identifier: Apache-2.0
// FPDUs that are the payload of another one, such as those of a capture that is sent as a file, after a gap of the capture.
// The gap is in front of them, so they look like those of the stream until they break off.
#include <gmock/gmock.h>

#include "mpa/fpdu.hpp"
#include "tests/conformance/conversation.hpp"

using namespace weft::conformance;
using namespace weft::conformance::test;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

namespace {

// The MSN rises by two: a violation if these FPDUs are those of the stream.
Octets wrong_sends(const Octets& last) {
  FpduStream stream(true, false);
  return stream.add(send(4, pattern(40))) + stream.add(send(6, pattern(40))) + stream.add(send(7, last));
}
const Octets kWrongSends = wrong_sends(pattern(40));
const Octets kRest = pattern(16);             // so that none of them ends with the payload
constexpr std::ptrdiff_t kHeaderOfSend = 20;  // ULPDU_Length and DDP header

struct Nested : testing::Test {
  Conversation conversation{};
  Script script = conversation.startup();

  // Those of the header, say.
  void lose_octets(std::uint64_t octets) { script.gap(End::kFirst, octets); }
  void send(const Octets& octets) { script.send(End::kFirst, octets); }
  // An FPDU with this payload, without its header.
  Octets payload_and_crc(const Octets& payload) {
    const Octets fpdu = conversation.initiator.add(test::send(1, payload));
    return {fpdu.begin() + kHeaderOfSend, fpdu.end()};
  }
};

TEST_F(Nested, FpdusThatBreakOffAreNotJudged) {
  lose_octets(20);
  send(payload_and_crc(kWrongSends + kRest));
  send(conversation.initiator.add(test::send(2, pattern(50))));
  script.close(End::kFirst);
  const auto audit = script.audit();
  EXPECT_THAT(violations(audit), IsEmpty());
  EXPECT_GE(audit.tally(Direction::kFromInitiator).octets_unread, 20 + kWrongSends.size());
}

TEST_F(Nested, FpdusOfTheStreamThatEndWithItAreJudged) {
  lose_octets(20);
  send(Octets(4) + kWrongSends);  // within a packet
  script.close(End::kFirst);
  EXPECT_THAT(violations(script.audit()), ElementsAre("DDP-4.3-10"));
}

TEST_F(Nested, AnFpduThatTheEndOfTheStreamCutsProvesNothing) {
  lose_octets(20);
  send(kWrongSends + Octets(kWrongSends.begin(), kWrongSends.begin() + 30));
  script.close(End::kFirst);
  EXPECT_THAT(violations(script.audit()), IsEmpty());
}

TEST_F(Nested, FpdusThatTheCaptureCutsAreJudgedIfTheyBeginAPacket) {
  lose_octets(20);
  send(kWrongSends);
  EXPECT_THAT(violations(script.audit()), ElementsAre("DDP-4.3-10"));
}

TEST_F(Nested, FpdusThatTheCaptureCutsAreNotJudgedWithinAPacket) {
  lose_octets(20);
  send(Octets(4) + kWrongSends);
  EXPECT_THAT(violations(script.audit()), IsEmpty());
}

// Otherwise a direction with short requests would not be judged for thousands of them.
TEST_F(Nested, FpdusThatBeginTwoPacketsAreJudgedBeforeTheyBreakOff) {
  lose_octets(20);
  FpduStream stream(true, false);
  for (const unsigned msn : {4U, 6U, 7U}) send(stream.add(test::send(msn, pattern(40))));
  send(pattern(400));
  EXPECT_THAT(violations(script.audit()), Contains("DDP-4.3-10"));
}

TEST_F(Nested, FpdusWithMarkersThatAreTheirsAreJudged) {
  conversation.reply.flags = 0xc0;
  script = conversation.startup();
  FpduStream stream(true, true);
  const Octets lost = stream.add(test::send(3, pattern(100)));
  lose_octets(lost.size() - 4);
  const Octets rest = stream.add(test::send(4, pattern(40))) + stream.add(test::send(6, pattern(600)));
  send(Octets(lost.end() - 4, lost.end()) + rest + pattern(400));
  EXPECT_THAT(violations(script.audit()), Contains("DDP-4.3-10"));
}

TEST_F(Nested, AfterFpdusThatBrokeOffNoneThatTheCaptureCutsIsJudged) {
  lose_octets(20);
  send(payload_and_crc(kWrongSends + kRest));
  lose_octets(400);
  send(kWrongSends);
  EXPECT_THAT(violations(script.audit()), IsEmpty());
}

TEST_F(Nested, FpdusThatAreLongerThanTheLongestOneAreJudged) {
  lose_octets(20);
  send(Octets(4) + wrong_sends(pattern(weft::mpa::kMaxFpduSize - 1000)) +
       FpduStream(true, false).add(test::send(8, pattern(900))));
  send(pattern(400));
  EXPECT_THAT(violations(script.audit()), Contains("DDP-4.3-10"));
}

// Its ULPDU_Length may be right, as the octets that the capture lacks would show.
TEST_F(Nested, AnFpduThatTheCaptureCutsMayHaveFpdusInside) {
  const Octets fpdu = conversation.initiator.add(test::send(1, kWrongSends + pattern(500)));
  send({fpdu.begin(), fpdu.end() - 40});
  EXPECT_THAT(violations(script.audit()), IsEmpty());
  Script lost = script;
  lost.gap(End::kFirst, 40).send(End::kFirst, conversation.initiator.add(test::send(2, pattern(50))));
  EXPECT_THAT(violations(lost.audit()), IsEmpty());
}

TEST_F(Nested, AnFpduThatTheEndOfTheStreamCutsHasAWrongLength) {
  send(conversation.initiator.add(test::send(1, pattern(50)), {.length = 2000}));
  for (const unsigned msn : {2U, 3U, 4U}) send(conversation.initiator.add(test::send(msn, pattern(50))));
  script.close(End::kFirst);
  EXPECT_THAT(violations(script.audit()), Contains("MPA-4.1-02"));
}

// The Request is captured last, as it was sent again: the end that was taken for the Initiator is the Responder.
TEST(Roles, ALateRequestExchangesTheDirectionsOfFindings) {
  Script script = Script::mid_connection();
  FpduStream responder(true, false);
  script.send(End::kFirst, pattern(100));
  for (const unsigned msn : {4U, 6U, 7U}) script.send(End::kSecond, responder.add(send(msn, pattern(40))));
  const auto before = listed(script.audit());
  EXPECT_THAT(before, ElementsAre(HasSubstr("DDP-4.3-10 responder")));
  Script late = Script::mid_connection();
  FpduStream stream(true, false);
  for (const unsigned msn : {4U, 6U, 7U}) late.send(End::kFirst, stream.add(send(msn, pattern(40))));
  EXPECT_THAT(listed(late.audit()), ElementsAre(HasSubstr("DDP-4.3-10 initiator")));
  late.send(End::kSecond, build(Frame{}));
  for (const unsigned msn : {8U, 9U}) late.send(End::kFirst, stream.add(send(msn, pattern(40))));
  EXPECT_THAT(listed(late.audit()), ElementsAre(HasSubstr("DDP-4.3-10 responder")));
}

}  // namespace
