// SPDX-License-Identifier: Apache-2.0
// The walk over captures that lack something: the beginning, octets in between, one of the directions.
#include "conformance/walk.hpp"

#include <gmock/gmock.h>

#include "tests/conformance/conversation.hpp"

using namespace weft::conformance;
using namespace weft::conformance::test;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

namespace {

Conversation framed(bool crc, bool markers) {
  Conversation result;
  result.request.flags = crc ? 0x40 : 0;
  result.reply.flags = (crc ? 0x40 : 0) | (markers ? 0x80 : 0);
  result.initiator = FpduStream(crc, markers);
  result.responder = FpduStream(crc, false);
  return result;
}

// Sends of many sizes in both directions, several in a packet, one in several packets.
Script long_conversation(bool crc, bool markers) {
  Conversation conversation = framed(crc, markers);
  Script script = conversation.startup();
  unsigned answered = 0;
  for (unsigned i = 1; i <= 40; ++i) {
    const Octets fpdu = conversation.initiator.add(send(i, pattern(i * 97 % 1300, i)));
    const auto cut = fpdu.begin() + static_cast<std::ptrdiff_t>(fpdu.size() / 3);
    if (i % 3 == 0) {
      script.send(End::kFirst, {fpdu.begin(), cut}).send(End::kFirst, {cut, fpdu.end()});
    } else {
      script.send(End::kFirst, fpdu);
    }
    if (i % 4 == 0) script.send(End::kSecond, conversation.responder.add(send(++answered, pattern(i * 31 % 200, i))));
  }
  return script.close(End::kFirst).close(End::kSecond);
}

std::size_t count(const std::vector<std::string>& seen, std::string_view part) {
  return static_cast<std::size_t>(
      std::ranges::count_if(seen, [&](const std::string& text) { return text.contains(part); }));
}

struct Framings : testing::TestWithParam<std::pair<bool, bool>> {
  bool crc = GetParam().first;
  bool markers = GetParam().second;
};
INSTANTIATE_TEST_SUITE_P(CrcAndMarkers, Framings,
                         testing::Values(std::pair{true, false}, std::pair{true, true}, std::pair{false, false},
                                         std::pair{false, true}));

TEST_P(Framings, EveryFpduIsSeenInOrder) {
  const auto seen = long_conversation(crc, markers).walk();
  EXPECT_EQ(count(seen, "initiator fpdu"), 40u);
  EXPECT_EQ(count(seen, "responder fpdu"), 10u);
  EXPECT_EQ(count(seen, "lost"), 0u);
  EXPECT_EQ(seen.back(), "over");
}

// MPA-5.1-06
TEST_P(Framings, AnyChoppingGivesTheSame) {
  const Script script = long_conversation(crc, markers);
  const auto whole = script.walk();
  for (const std::size_t size : {1U, 2U, 3U, 7U, 19U, 100U, 511U}) {
    EXPECT_EQ(script.chopped(size).walk(), whole) << size;
    EXPECT_EQ(listed(script.chopped(size).audit()), listed(script.audit())) << size;
  }
}

// A capture may begin anywhere. What is found then is right, and neither end is blamed.
TEST_P(Framings, ACaptureThatBeginsInTheMiddleIsFollowed) {
  const Script script = long_conversation(crc, markers);
  for (std::size_t skipped = 1; skipped < 1500; skipped += 13) {
    const Script late = script.beheaded(skipped);
    EXPECT_THAT(violations(late.audit()), IsEmpty()) << skipped;
    const auto seen = late.walk();
    EXPECT_GE(count(seen, "initiator fpdu"), 30u) << skipped;
    EXPECT_EQ(count(seen, "lost"), 0u) << skipped;
    EXPECT_GE(count(seen, "initiator resumed"), 1u) << skipped;
  }
}

TEST_P(Framings, AGapOfTheCaptureIsNobodysFault) {
  Conversation conversation = framed(crc, markers);
  Script script = conversation.startup();
  const auto say = [&](unsigned i) { return conversation.initiator.add(send(i, pattern(300, i))); };
  script.send(End::kFirst, say(1)).send(End::kFirst, say(2));
  const Octets lost = say(3);
  const Octets partly = say(4);
  script.gap(End::kFirst, lost.size() + 100);
  script.send(End::kFirst, {partly.begin() + 100, partly.end()});
  for (unsigned i = 5; i < 10; ++i) script.send(End::kFirst, say(i));
  const auto seen = script.walk();
  EXPECT_EQ(count(seen, "initiator fpdu"), 7u);
  EXPECT_EQ(count(seen, "gap at"), 1u);
  EXPECT_EQ(count(seen, "resumed"), 1u);
  EXPECT_THAT(violations(script.audit()), IsEmpty());
}

// A broken connection, in any pieces, breaks the same rules at the same places.
TEST_P(Framings, FindingsDoNotDependOnTheChopping) {
  Conversation conversation = framed(crc, markers);
  Script script = conversation.startup();
  const auto say = [&](unsigned i, const FpduStream::Wrong& wrong = {}) {
    script.send(End::kFirst, conversation.initiator.add(send(i, pattern(300 + i, i)), wrong));
  };
  say(1);
  say(2, {.crc_flip = 4});
  say(3);
  say(4, {.length = 90});
  say(5);
  say(6);
  say(7);
  script.close(End::kFirst);
  const auto whole = listed(script.audit());
  EXPECT_THAT(whole, Contains(HasSubstr("MPA-4.1-02")));
  if (crc) {
    EXPECT_THAT(whole, Contains(HasSubstr("MPA-4.4-13")));
  }
  for (const std::size_t size : {1U, 2U, 5U, 33U, 200U}) EXPECT_EQ(listed(script.chopped(size).audit()), whole) << size;
}

TEST(Walk, OneDirectionAloneIsFollowed) {
  Conversation conversation;
  Script script = Script::with_handshake();
  script.send(End::kFirst, build(conversation.request));
  for (unsigned i = 1; i < 5; ++i) script.send(End::kFirst, conversation.initiator.add(send(i, pattern(50))));
  script.gap(End::kSecond, 20);  // acknowledged
  const auto seen = script.walk();
  EXPECT_EQ(count(seen, "initiator fpdu"), 4u);
  EXPECT_THAT(violations(script.audit()), IsEmpty());
}

TEST(Walk, OctetsOfAnotherProtocolAreGivenUp) {
  Script script = Script::with_handshake();
  for (int i = 0; i < 400; ++i) {
    script.send(End::kFirst, pattern(1448, 1));
    script.send(End::kSecond, octets("HTTP/1.1 200 OK\r\n\r\n"));
  }
  EXPECT_THAT(script.walk(), ElementsAre("over"));
  EXPECT_FALSE(script.audit().iwarp());
}

TEST(Walk, AnotherProtocolInMidConnectionIsGivenUp) {
  Script script = Script::mid_connection();
  Octets misleading;  // what looks like a header everywhere
  for (int i = 0; i < 2000; ++i) put(misleading, 0x0100414000000000, 8);
  for (int i = 0; i < 200; ++i) script.send(End::kFirst, misleading);
  EXPECT_FALSE(script.audit().iwarp());
}

// Three FPDUs in mid-connection, found without a Marker, which may still come, and another one; then octets that are no FPDU,
// and two more.
Script guessed_without_markers(std::size_t octets_of_three, const Octets& behind, unsigned octets_of_fourth = 76) {
  FpduStream stream(true, false);
  Script script = Script::mid_connection();
  script.send(End::kFirst, stream.add(send(1, pattern(316)))).send(End::kFirst, stream.add(send(2, pattern(316))));
  script.send(End::kFirst, stream.add(send(3, pattern(octets_of_three - 2 * 340 - 24))));
  script.send(End::kFirst, stream.add(send(4, pattern(octets_of_fourth)))).send(End::kFirst, behind);
  for (unsigned i = 5; i <= 6; ++i) script.send(End::kFirst, stream.add(send(i, pattern(60))));
  return script.close(End::kFirst).close(End::kSecond);
}

TEST(Walk, AGuessThatThereAreNoMarkersIsOverAfter1024Octets) {
  const auto within = guessed_without_markers(1020, pattern(400)).walk();
  EXPECT_EQ(count(within, "initiator fpdu"), 6u);
  EXPECT_THAT(within, Not(Contains(HasSubstr("lost"))));
  EXPECT_THAT(within, Contains("initiator resumed at 1520 skipped 400"));
  const unsigned longest = weft::mpa::kMaxUlpduLength - 18;  // so they are the payload of no other FPDU
  EXPECT_THAT(guessed_without_markers(1020, pattern(400), longest).walk(), Not(Contains(HasSubstr("lost"))));
  EXPECT_THAT(guessed_without_markers(1024, pattern(400), longest).walk(), Contains(HasSubstr("initiator lost at")));
}

// The last FPDU has 1396 octets, of which Markers may be some: of the next one's place nothing is certain.
TEST(Walk, AGuessThatThereAreNoMarkersIsNotOverBehindALongFpdu) {
  FpduStream markers(false, true);
  Script script = Script::mid_connection();
  for (const unsigned octets : {100U, 1400U, 1400U, 40U, 40U})
    script.send(End::kFirst, markers.add(send(1, pattern(octets))));
  EXPECT_THAT(script.close(End::kFirst).walk(), Not(Contains(HasSubstr("lost"))));
}

// So a guess never lasts into what a startup frame has agreed, however near after it the frame is.
TEST(Walk, BehindAnFpduInMidConnectionNoStartupFrameIsLookedFor) {
  for (const std::size_t before : {1020U, 1024U}) {
    const auto seen = guessed_without_markers(before, build(Frame{})).walk();
    EXPECT_THAT(seen, Not(Contains(HasSubstr("frame")))) << before;
    EXPECT_EQ(count(seen, "initiator fpdu"), 6u) << before;
  }
}

// The Responder waits in the capture's order for what the Initiator sent before, even while that is looked at.
TEST(Walk, TheOrderOfTheCaptureIsKeptWhileAFrameIsInDoubt) {
  Conversation conversation;
  Script script = conversation.startup();
  script.send(End::kFirst, conversation.initiator.add(send(1, pattern(30))));
  script.send(End::kFirst, conversation.initiator.add(send(2, pattern(31)), {.crc_flip = 1}));
  script.send(End::kSecond, conversation.responder.add(send(1, pattern(32))));
  script.send(End::kFirst, conversation.initiator.add(send(3, pattern(33))));
  EXPECT_THAT(script.walk(), ElementsAre("initiator frame 20", "responder frame 20", "initiator fpdu 48 at 20",
                                         "initiator fpdu 49 at 76 bad", "responder fpdu 50 at 20",
                                         "initiator fpdu 51 at 132", "over"));
}

TEST(Walk, PlacesAreThoseOfThePackets) {
  Conversation conversation;
  Script script = conversation.startup();
  const Octets fpdu = conversation.initiator.add(send(1, pattern(100)));
  script.send(End::kFirst, {fpdu.begin(), fpdu.begin() + 10});
  script.send(End::kFirst, {fpdu.begin() + 10, fpdu.end()});
  Walk walk;
  std::vector<Piece> pieces;
  ConnectionAudit audit(0);
  walk.feed(TcpOpened{{}, {}, true});
  const Octets request = build(conversation.request);
  const Octets reply = build(conversation.reply);
  const auto feed = [&](End from, std::span<const std::byte> octets, Place place, std::uint64_t offset) {
    walk.feed(TcpOctets{from, octets, place, offset});
    while (const auto seen = walk.next()) {
      if (const auto* f = std::get_if<FpduSeen>(&*seen)) pieces.push_back(f->piece);
    }
  };
  feed(End::kFirst, request, {4, 66}, 0);
  feed(End::kSecond, reply, {5, 66}, 0);
  feed(End::kFirst, std::span(fpdu).first(10), {7, 54}, 20);
  feed(End::kFirst, std::span(fpdu).subspan(10), {9, 60}, 30);
  ASSERT_EQ(pieces.size(), 1u);
  EXPECT_EQ(pieces[0].first, (Place{7, 54}));
  EXPECT_EQ(pieces[0].last, (Place{9, 60 + static_cast<std::uint32_t>(fpdu.size()) - 11}));
  EXPECT_EQ(pieces[0].stream_offset, 20u);
}

TEST(Walk, AnOctetOfTheUlpduIsFoundBehindMarkers) {
  Conversation conversation = framed(true, true);
  Script script = conversation.startup();
  const Octets ulpdu = send(1, pattern(1200));
  const Octets fpdu = conversation.initiator.add(ulpdu);
  Walk walk;
  const Octets request = build(conversation.request);
  const Octets reply = build(conversation.reply);
  walk.feed(TcpOctets{End::kFirst, request, {1, 0}, 0});
  while (walk.next()) {
  }
  walk.feed(TcpOctets{End::kSecond, reply, {2, 0}, 0});
  while (walk.next()) {
  }
  walk.feed(TcpOctets{End::kFirst, fpdu, {3, 0}, 20});
  const auto seen = walk.next();
  const auto* found = std::get_if<FpduSeen>(&*seen);
  ASSERT_NE(found, nullptr);
  ASSERT_EQ(Octets(found->ulpdu.begin(), found->ulpdu.end()), ulpdu);
  for (std::size_t i = 0; i < ulpdu.size(); ++i) ASSERT_EQ(found->piece.octets[found->ulpdu_at(i)], ulpdu[i]) << i;
}

}  // namespace
