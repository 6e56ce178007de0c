// SPDX-License-Identifier: Apache-2.0
// Verdicts of cases on peers that are peculiar and right, and on peers with faults that few peers have.
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "probe/cases/errors.hpp"
#include "probe/cases/startups.hpp"
#include "probe/messages.hpp"
#include "scripted.hpp"

namespace weft::probe::test {
namespace {

constexpr Region kPlain{.stag = {0x101}, .offset = {0x1000}, .length = 1U << 16U, .rights = kReadWrite};

CaseResult result_of(Scripted& way, const std::string& name) {
  way.offered = kListens | kStream | kReceives | kRegions | kOrders | kAtomics | kReads | kReport | kSessions;
  way.case_patience = std::chrono::milliseconds(100);
  const Report report = run_of(way, name);
  if (report.cases.size() != 1) throw std::runtime_error("not one case: " + name);
  return report.cases.front();
}

// Without RFC 7306 each atomic is an opcode that nobody expects.
TEST(PeerWithoutAtomics, IsNotJudgedByThem) {
  for (const char* const name : {"atomic-unknown-stag", "atomic-no-right", "atomic-of-the-peer"}) {
    Scripted way;
    way.advert = {.session = 1, .regions = {kPlain}};
    way.on_open = [](Connected& pair) {
      pair.say(Framer().fpdu(Messages().terminate(rdmap::make_terminate(kOpcode))));
      pair.peer->shutdown_write();
    };
    EXPECT_EQ(result_of(way, name).verdict, Verdict::kNotApplicable) << name;
  }
}

// MPA has to find that a stream ends inside an FPDU. That it gives a code to its consumer is a SHOULD.
TEST(PeerWhoseMpaGivesNoCode, IsWarnedOfIt) {
  const auto verdict = [](std::uint32_t terminate_sent) {
    Scripted way;
    way.advert = {.session = 1, .regions = {kPlain}};
    int opened = 0;
    std::vector<std::byte> content(400);
    for (std::size_t i = 0; i < content.size(); ++i) content[i] = first_content(kPlain, i);
    way.on_open = [&, terminate_sent](Connected& pair) {
      ++opened;  // the first one is no case's
      if (opened == 3 || opened == 5) pair.say(Framer().fpdu(Messages().read_response(kOwnStag, {0x10000}, content)));
      if (opened == 4) pair.peer->shutdown_write();
      const PeerReport report{.connections = 3, .connections_ended = 2, .terminate_sent = terminate_sent};
      if (opened == 6) pair.say(Framer().fpdu(Messages().send(serialize(report))));
    };
    return result_of(way, "close-inside-fpdu").verdict;
  };
  EXPECT_EQ(verdict(0x01020001), Verdict::kPass);
  EXPECT_EQ(verdict(0), Verdict::kWarn);
}

// It gives a startup up after a while. The prober is no slower where the round trip is long.
TEST(PeerWithATimeOutOfItsStartUp, IsNotKeptWaiting) {
  Scripted way;
  way.learned->saw_round_trip(std::chrono::seconds(10));
  Scene scene(way, 1);
  const Connected pair;
  const Instant began = now();
  expect_still_waiting(scene, *pair.conversation, "of X");
  EXPECT_LT(now() - began, std::chrono::seconds(5));
  std::this_thread::sleep_for(std::chrono::seconds(1));
  pair.peer->shutdown_write();
  try {
    expect_still_waiting(scene, *pair.conversation, "of X");
    FAIL() << "it had ended";
  } catch (const Judgement& judgement) {
    EXPECT_EQ(judgement.verdict, Verdict::kNotApplicable);
  }
}

// DDP may try to recover from the lack of a receive.
TEST(PeerThatWaitsForAReceive, IsWarned) {
  const auto verdict = [](const char* name, bool ends) {
    Scripted way;
    way.advert = {.session = 1, .regions = {kPlain}};
    way.on_open = [ends](Connected& pair) {
      if (ends) pair.peer->shutdown_write();
    };
    return result_of(way, name).verdict;
  };
  for (const char* const name : {"untagged-no-buffer-empty", "immediate-without-receive"}) {
    EXPECT_EQ(verdict(name, false), Verdict::kWarn) << name;
    EXPECT_EQ(verdict(name, true), Verdict::kFail) << name << ": the end without a Terminate";
  }
}

// The enhanced startup is of revision 2.
TEST(PeerOfRevision1, DoesNotAnswerByAnEnhancedReply) {
  const auto verdict = [](std::uint8_t revision, bool enhanced) {
    Scripted way;
    way.on_dial = [=](Connected& pair) {
      StartUp reply{.revision = revision};
      if (!enhanced) reply.enhanced.reset();
      pair.say(forge(mpa::FrameKind::kReply, reply));
    };
    return result_of(way, "request-s-of-revision-1").verdict;
  };
  EXPECT_EQ(verdict(1, true), Verdict::kFail);
  EXPECT_EQ(verdict(2, true), Verdict::kPass);
  EXPECT_EQ(verdict(1, false), Verdict::kPass);
}

// An STag is invalidated when the Send is delivered, and not when its first segment comes.
TEST(PeerThatInvalidatesTooEarly, Fails) {
  constexpr Region kOwn{.stag = {0x201}, .length = 4096, .rights = kAllRights, .kind = Region::kThisStream};
  const auto reason = [&](bool early) {
    Scripted way;
    way.advert = {.session = 1, .regions = {kPlain, kOwn}};
    way.on_open = [=](Connected& pair) {
      Framer framer;
      Messages make;
      const auto tell = [&](const Ulpdu& ulpdu) { pair.say(framer.fpdu(ulpdu)); };
      const Ulpdu late = make.write(kOwn.stag, {}, pattern(8, early ? 20 : 50));
      PeerReport report{.connections = 1, .receives_done = 1};
      tell(make.send(serialize(report)));
      if (!early) tell(make.read_response(kOwnStag, {0x10000}, pattern(8, 20)));
      report.receives_done = 3;
      if (!early) tell(make.send(serialize(report)));
      const auto segment = rdmap::segment_in_error(late);
      tell(make.terminate(rdmap::make_terminate(kTaggedStag, &segment)));
      pair.peer->shutdown_write();
    };
    return result_of(way, "invalidate-region").reason;
  };
  EXPECT_EQ(reason(false), "");
  EXPECT_TRUE(reason(true).starts_with("a Terminate of 1/1/00"));
}

// The payload of the prober's Sends in an exchange without startup frames.
std::size_t sent_in_sends(const Exchange& exchange) {
  std::vector<std::byte> octets;
  for (const Part& part : exchange.parts) {
    if (!part.from_peer) octets.insert(octets.end(), part.octets.begin(), part.octets.end());
  }
  FrameReader reader{mpa::Framing{}};
  std::size_t sum = 0, at = 0;
  for (;;) {
    const auto taken = reader.take(MutableBytes(octets).subspan(at));
    if (!taken || !*taken) return sum;
    const PeerFpdu fpdu{.ulpdu = (*taken)->ulpdu};
    if (fpdu.is(rdmap::Opcode::kSend) && !Bytes(fpdu.payload()).empty() && fpdu.payload().size() != kOrderSize)
      sum += fpdu.payload().size();
    at += (*taken)->consumed;
  }
}

// Its receives are smaller or larger than others: Sends fill them, and go no further.
TEST(PeerOfSomeReceiveSize, GetsSendsThatFit) {
  for (const std::uint16_t size : {std::uint16_t{256}, std::uint16_t{4096}}) {
    Scripted way;
    way.advert = {.session = 1, .receives = 16, .receive_size = size, .regions = {kPlain}};
    way.on_open = [](Connected& pair) {
      pair.say(Framer().fpdu(Messages().send(serialize(PeerReport{.connections = 1}))));
    };
    const CaseResult result = result_of(way, "send-segments");
    EXPECT_EQ(sent_in_sends(result.exchanges.at(0)), size) << result.reason;
  }
  Scripted way;
  way.advert = {.session = 1, .receives = 16, .receive_size = 60, .regions = {kPlain}};
  EXPECT_EQ(sent_in_sends(result_of(way, "segments-interleaved").exchanges.at(0)), 20U)
      << "the first of three segments";
}

// It has more to send than it gets rid of. A reset takes what waits with it, its Terminate too.
TEST(PeerThatResetsBeforeItsTerminate, IsNotJudged) {
  const auto verdict = [](bool reset) {
    Scripted way;
    way.on_open = [reset](Connected& pair) {
      pair.say(Framer().fpdu(Messages().write(kOwnStag, {}, pattern(8))));
      if (!reset) return pair.peer->shutdown_write();
      pair.conversation->socket().send(pattern(1), now());  // a Unix socket with unread octets resets
      pair.peer->reset();
    };
    return result_of(way, "terminate-is-last").verdict;
  };
  EXPECT_EQ(verdict(true), Verdict::kNotApplicable);
  EXPECT_EQ(verdict(false), Verdict::kFail);
}

// The segments of a message that never ends are kept up to 1 MiB.
TEST(SegmentsOfThePeer, AreBounded) {
  Segments segments;
  Messages make;
  const auto payload = pattern(1 << 16);
  std::uint32_t given = 0;
  for (bool more = true; more && given < 64; ++given) {
    PeerFpdu fpdu{.ulpdu = make.send_segment(payload, given << 16U, false)};
    more = segments.take(fpdu);
    if (!more) EXPECT_TRUE(fpdu.last()) << "the case gets it as it is";
  }
  EXPECT_EQ(given, 16U);
  EXPECT_FALSE(segments.begun());
}

// A peer of this IRD and ORD.
struct OfDepths : Connected {
  OfDepths(std::uint16_t ird, std::uint16_t ord) {
    const mpa::StartupFrame reply{.kind = mpa::FrameKind::kReply,
                                  .enhanced = mpa::EnhancedData{.ird = ird, .ord = ord}};
    conversation->start_fpdus(StartUp{.crc = false}, reply);
    conversation->send_ulpdu(Messages().write({}, {}, {}));
  }
  Verdict verdict_of(const std::function<void(Conversation&)>& call) const {
    try {
      call(*conversation);
    } catch (const Judgement& judgement) {
      return judgement.verdict;
    }
    return Verdict::kPass;
  }
};

TEST(PeerOfASmallIrd, HasNoMoreRequestsThanItTakes) {
  const OfDepths pair(1, 16);
  const auto read = [](Conversation& by) {
    by.send_ulpdu(by.make().read_request({.sink_stag = {7}, .sink_offset = {0}}));
  };
  const auto add = [](Conversation& by) { by.send_ulpdu(by.make().atomic({})); };
  EXPECT_EQ(pair.verdict_of(read), Verdict::kPass);
  EXPECT_EQ(pair.verdict_of(read), Verdict::kNotApplicable);
  const OfDepths other(1, 16);
  EXPECT_EQ(other.verdict_of(read), Verdict::kPass);
  other.say(Framer(mpa::Framing{.crc = false}).fpdu(Messages().read_response({7}, {0}, {})));
  EXPECT_EQ(other.verdict_of([](Conversation& by) { by.expect_read_response({7}, {0}, 0); }), Verdict::kPass);
  EXPECT_EQ(other.verdict_of(add), Verdict::kPass) << "the first is answered";
  EXPECT_EQ(other.verdict_of(read), Verdict::kNotApplicable) << "atomics count, too";
  const OfDepths third(0, 16);
  third.conversation->exceed_ird();
  EXPECT_EQ(third.verdict_of(read), Verdict::kPass) << "on purpose";
}

TEST(PeerOfASmallOrd, IsNotAskedForMoreAtATime) {
  const auto verdict = [](std::uint16_t ord) {
    const OfDepths pair(16, ord);
    pair.say(Framer(mpa::Framing{.crc = false}).fpdu(Messages().read_request({.size = 8, .source_stag = kOwnStag})));
    return pair.verdict_of([](Conversation& by) {
      by.expect_read_request(8);
      by.expect_read_request(8);
    });
  };
  EXPECT_EQ(verdict(1), Verdict::kNotApplicable);
  EXPECT_EQ(verdict(2), Verdict::kFail);
}

}  // namespace
}  // namespace weft::probe::test
