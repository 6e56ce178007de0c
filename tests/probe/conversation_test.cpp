// SPDX-License-Identifier: Apache-2.0
// What a case's lines say of peers that do not do what they should: a sentence each, within the time.
#include <gtest/gtest.h>

#include <thread>

#include "connected.hpp"
#include "probe/verdict.hpp"

namespace weft::probe::test {
namespace {

constexpr rdmap::ErrorCode kCrc{rdmap::Layer::kLlp, 0, 2};
constexpr rdmap::ErrorCode kBadStag = rdmap::error_code(ddp::TaggedError::kInvalidStag);
constexpr rdmap::ErrorCode kOpcode = rdmap::error_code(rdmap::OperationError::kUnexpectedOpcode);

template <typename Call>
std::string sentence(Call call) {
  try {
    call();
  } catch (const Judgement& judgement) {
    EXPECT_EQ(judgement.verdict, Verdict::kFail);
    return judgement.what();
  }
  return "passed";
}

// The peer sends these ULPDUs, and its FIN where `ends`.
std::string terminate_after(const std::vector<Ulpdu>& ulpdus, bool ends, std::vector<rdmap::ErrorCode> wanted,
                            Bytes offending = {}) {
  Connected pair;
  Framer framer;
  for (const Ulpdu& ulpdu : ulpdus) pair.say(framer.fpdu(ulpdu));
  if (ends) pair.peer->shutdown_write();
  return sentence([&] { pair.conversation->expect_terminate(wanted, offending); });
}

Ulpdu terminate(const rdmap::ErrorCode& error, Bytes about = {}) {
  const auto segment = rdmap::segment_in_error(about);
  return Messages().terminate(rdmap::make_terminate(error, about.empty() ? nullptr : &segment));
}

TEST(Expectations, OfATerminate) {
  const Ulpdu bad = Messages().write({9}, {1}, pattern(5)), other = Messages().write({9}, {2}, pattern(5));
  EXPECT_EQ(terminate_after({terminate(kBadStag, bad)}, true, {kCrc, kBadStag}, bad), "passed");
  EXPECT_EQ(terminate_after({Messages().send(pattern(3)), terminate(kCrc)}, true, {kCrc}), "passed")
      << "what came before does not matter";
  EXPECT_EQ(terminate_after({}, true, {kCrc}),
            "the peer closed the connection without a Terminate; 2/0/02 (an FPDU's CRC is wrong) was due");
  EXPECT_EQ(terminate_after({}, false, {kCrc}),
            "nothing came within 50 ms; a Terminate of 2/0/02 (an FPDU's CRC is wrong) was due");
  EXPECT_TRUE(terminate_after({terminate(kCrc)}, true, {kBadStag})
                  .starts_with("a Terminate of 2/0/02 (an FPDU's CRC is wrong) came; 1/1/00 (the STag"));
  EXPECT_NE(terminate_after({terminate(kBadStag, other)}, true, {kBadStag}, bad).find("quotes another DDP header"),
            std::string::npos);
  EXPECT_EQ(terminate_after({terminate(kBadStag)}, true, {kBadStag}, bad), "passed")
      << "a SHOULD of DDP's errors: a warning";
  EXPECT_NE(terminate_after({terminate(kOpcode)}, true, {kOpcode}, bad).find("no copy of the DDP header"),
            std::string::npos);
  EXPECT_EQ(terminate_after({terminate(kCrc)}, false, {kCrc}), "the connection stayed open after the Terminate");
  EXPECT_EQ(terminate_after({terminate(kCrc), Messages().send({})}, true, {kCrc}),
            "a Send came after the Terminate, which is the last message of its direction");
}

// The peer keeps the connection until the other end's FIN.
TEST(Expectations, OfAnEndThatWaitsForOurFin) {
  Connected pair(std::chrono::seconds(5));
  pair.conversation->start_fpdus(mpa::Framing{}, mpa::Framing{});
  pair.say(Framer().fpdu(terminate(kOpcode)));
  const std::jthread peer([&] {
    std::vector<std::byte> octets;
    while (pair.peer->receive(octets, now() + std::chrono::seconds(5)) == Socket::Got::kOctets) {
    }
    pair.peer->shutdown_write();
  });
  EXPECT_EQ(sentence([&] { pair.conversation->expect_end_sometime("of X", std::chrono::seconds(2)); }), "passed");
}

// MPA has to find the error; the Terminate that says so is a SHOULD.
TEST(Expectations, OfAnEndThatMpaBrings) {
  const auto ended = [](const std::vector<Ulpdu>& ulpdus, bool ends) {
    Connected pair;
    for (Framer framer; const Ulpdu& ulpdu : ulpdus) pair.say(framer.fpdu(ulpdu));
    if (ends) pair.peer->shutdown_write();
    const std::string said = sentence([&] { pair.conversation->expect_terminate_or_end({kCrc}); });
    return said + (pair.conversation->warnings().empty() ? "" : ", a warning");
  };
  EXPECT_EQ(ended({terminate(kCrc)}, true), "passed");
  EXPECT_EQ(ended({}, true), "passed, a warning");
  EXPECT_TRUE(ended({terminate(kBadStag)}, true).starts_with("a Terminate of 1/1/00"));
  EXPECT_TRUE(ended({}, false).starts_with("nothing came within 50 ms; a Terminate of "));
}

// One of layer 2 has no headers, whether or not it is known what it is about.
TEST(Expectations, OfATerminateOfMpa) {
  const Ulpdu bad = Messages().send(pattern(5));
  auto terminate = rdmap::make_terminate(kCrc);
  terminate.ddp_header = rdmap::HeaderCopy::front_of(bad);
  terminate.segment_length = std::uint16_t{23};
  for (const Bytes about : {Bytes(), Bytes(bad)})
    EXPECT_NE(terminate_after({Messages().terminate(terminate)}, true, {kCrc}, about).find("one of layer 2 has none"),
              std::string::npos);
  terminate.ddp_header.reset();
  EXPECT_NE(terminate_after({Messages().terminate(terminate)}, true, {kCrc}).find("one of layer 2 has none"),
            std::string::npos)
      << "a length alone";
}

// The peer may cut its untagged messages as it likes: what comes is the whole message.
TEST(Expectations, OfAPeerThatCutsItsMessages) {
  const auto cut = [](Bytes ulpdu, std::size_t at) {
    using L = ddp::UntaggedLayout;
    std::vector<Ulpdu> out(2, Ulpdu(ulpdu.begin(), ulpdu.begin() + L::kSize));
    out[0][0] &= ~std::byte{ddp::Control::kLast};
    out[0].insert(out[0].end(), ulpdu.begin() + L::kSize, ulpdu.begin() + static_cast<std::ptrdiff_t>(L::kSize + at));
    out[1].insert(out[1].end(), ulpdu.begin() + static_cast<std::ptrdiff_t>(L::kSize + at), ulpdu.end());
    L::MoField::put(out[1], static_cast<std::uint32_t>(at));
    return out;
  };
  const Ulpdu bad = Messages().write({9}, {1}, pattern(5));
  EXPECT_EQ(terminate_after(cut(terminate(kBadStag, bad), 7), true, {kBadStag}, bad), "passed");
  Connected pair;
  Framer framer;
  Messages make;
  pair.conversation->start_fpdus(mpa::Framing{}, mpa::Framing{});
  pair.conversation->send_ulpdu(Messages().write({}, {}, {}));
  const auto tell = [&](const Ulpdu& ulpdu) { pair.say(framer.fpdu(ulpdu)); };
  for (const Ulpdu& one : cut(make.send(pattern(64)), 52)) tell(one);
  const auto request = cut(make.read_request({.size = 8, .source_stag = kOwnStag}), 20);
  tell(request[0]);
  tell(make.write(kOwnStag, {}, pattern(3)));  // tagged segments may stand between
  tell(request[1]);
  EXPECT_EQ(pair.conversation->expect_fpdu("the Send").payload().size(), 64U);
  EXPECT_EQ(pair.conversation->expect_read_request(8).source_stag, kOwnStag);
  for (const Ulpdu& one : {cut(make.send(pattern(64)), 52)[0], make.send(pattern(3))}) tell(one);
  EXPECT_EQ(pair.conversation->expect_fpdu("a Send").payload().size(), 3U) << "what the peer never ended is no message";
}

// One Send after the other, each in time: what waits for another message waits no longer than the case may take.
TEST(Expectations, OfAPeerThatDrips) {
  Connected pair(std::chrono::seconds(10));
  pair.conversation->end_by(now() + std::chrono::milliseconds(50));
  const std::jthread drips([&](const std::stop_token& stop) {
    Framer framer;
    for (Messages make; !stop.stop_requested(); std::this_thread::sleep_for(std::chrono::milliseconds(1)))
      pair.say(framer.fpdu(make.send(pattern(1))));
  });
  const Instant began = now();
  EXPECT_EQ(sentence([&] { pair.conversation->expect_terminate({kCrc}); }),
            "the case's time is over, and the peer still had it wait");
  EXPECT_LT(now() - began, std::chrono::seconds(5));
}

TEST(Expectations, OfAReadResponse) {
  const auto after = [](const std::vector<Ulpdu>& ulpdus) {
    Connected pair;
    Framer framer;
    for (const Ulpdu& ulpdu : ulpdus) pair.say(framer.fpdu(ulpdu));
    pair.conversation->start_fpdus(mpa::Framing{}, mpa::Framing{});
    pair.conversation->send_ulpdu(Messages().read_request({.sink_stag = {1}, .sink_offset = {100}, .size = 8}));
    return sentence([&] { EXPECT_EQ(pair.conversation->expect_read_response({1}, {100}, 8), pattern(8)); });
  };
  const Messages make;
  const auto octets = pattern(8);
  EXPECT_EQ(after({make.read_response({1}, {100}, octets)}), "passed");
  EXPECT_EQ(after({make.read_response({1}, {100}, Bytes(octets).first(3), false),
                   make.read_response({1}, {103}, Bytes(octets).subspan(3))}),
            "passed");
  EXPECT_EQ(after({make.read_response({2}, {100}, octets)}),
            "the Read Response's STag is 0x2; the Request's sink was 0x1");
  EXPECT_EQ(after({make.read_response({1}, {99}, octets)}), "the Read Response's TO is 0x63; 0x64 was due");
  EXPECT_EQ(after({make.read_response({1}, {100}, pattern(9))}),
            "the Read Response has 9 octets or more; 8 were asked for");
  EXPECT_EQ(after({make.read_response({1}, {100}, pattern(7))}), "the Read Response has 7 octets; 8 were asked for");
  EXPECT_EQ(after({make.write({}, {}, {}), make.read_response({1}, {100}, octets)}), "passed");
  EXPECT_EQ(after({make.write({1}, {100}, octets)}), "an RDMA Write came instead of an RDMA Read Response");
  EXPECT_EQ(after({}), "nothing came within 50 ms instead of an RDMA Read Response");
}

// What the answer to an empty Read holds is judged by a rule. Here it says that the peer lives.
TEST(Expectations, OfALifeSign) {
  const auto after = [](const std::vector<Ulpdu>& ulpdus) {
    Connected pair;
    Framer framer;
    for (const Ulpdu& ulpdu : ulpdus) pair.say(framer.fpdu(ulpdu));
    pair.conversation->start_fpdus(mpa::Framing{}, mpa::Framing{});
    return sentence([&] { pair.conversation->expect_empty_read(); });
  };
  const Messages make;
  EXPECT_EQ(after({make.read_response({7}, {0x1234}, {})}), "passed");
  EXPECT_EQ(after({make.read_response({7}, {0x1234}, pattern(16))}), "passed");
  EXPECT_EQ(after({make.read_response({7}, {0x1234}, pattern(3), false), make.read_response({7}, {0x1237}, {})}),
            "passed");
  EXPECT_EQ(after({make.read_response({8}, {0x1234}, {})}),
            "the Read Response's STag is 0x8; the Request's sink was 0x7");
  EXPECT_EQ(after({Messages().send({}), make.write({1}, {1}, pattern(1))}),
            "an RDMA Write came instead of an RDMA Read Response; before that came a Send of 0 octets");
  EXPECT_EQ(after({Messages().terminate(rdmap::make_terminate(kCrc))}),
            "a Terminate of 2/0/02 (an FPDU's CRC is wrong) came instead of an RDMA Read Response");
  EXPECT_EQ(after({}), "nothing came within 50 ms instead of an RDMA Read Response");
}

// A peer that cannot go on by its nature, and says so by closing, is not to blame.
TEST(Expectations, OfAMessageUnlessThePeerCloses) {
  const auto verdict = [](const std::vector<Ulpdu>& ulpdus, const char* unless_closed) {
    Connected pair;
    Framer framer;
    for (const Ulpdu& ulpdu : ulpdus) pair.say(framer.fpdu(ulpdu));
    pair.peer->shutdown_write();
    try {
      pair.conversation->expect_message(rdmap::Opcode::kSend, unless_closed);
    } catch (const Judgement& judgement) {
      return judgement.verdict;
    }
    return Verdict::kPass;
  };
  EXPECT_EQ(verdict({}, "it has no ORD"), Verdict::kNotApplicable);
  EXPECT_EQ(verdict({}, nullptr), Verdict::kFail);
  EXPECT_EQ(verdict({Messages().send({})}, "it has no ORD"), Verdict::kPass);
  EXPECT_EQ(verdict({Messages().write({1}, {1}, pattern(1))}, "it has no ORD"), Verdict::kFail);
}

TEST(Expectations, OfAFrame) {
  const auto after = [](Bytes octets, bool ends) {
    Connected pair;
    pair.say(octets);
    if (ends) pair.peer->shutdown_write();
    return sentence(
        [&] { EXPECT_EQ(pair.conversation->expect_frame(mpa::FrameKind::kReply).frame.private_data.size(), 4U); });
  };
  const auto reply = forge(mpa::FrameKind::kReply, {.enhanced = {}, .private_data = pattern(4)});
  EXPECT_EQ(after(reply, false), "passed");
  EXPECT_EQ(after(Bytes(reply).first(22), true), "the peer closed the connection instead of an MPA Reply");
  EXPECT_EQ(after(Bytes(reply).first(22), false), "no MPA Reply came within 50 ms");
  EXPECT_EQ(after(pattern(20), false), "what came is no MPA Reply (the startup frame does not begin with the MPA key)");
}

TEST(Expectations, OfAnEnd) {
  Connected silent;
  EXPECT_EQ(sentence([&] { silent.conversation->expect_end("of X"); }),
            "the connection was still open after 50 ms, and had to end: of X");
  Connected talks;
  talks.say(pattern(1));
  EXPECT_EQ(sentence([&] { talks.conversation->expect_end("of X"); }),
            "octets came although the connection had to end: of X");
  Connected ends;
  ends.peer->shutdown_write();
  EXPECT_EQ(sentence([&] { ends.conversation->expect_end("of X"); }), "passed");
  EXPECT_EQ(sentence([&] { ends.conversation->expect_silence(std::chrono::milliseconds(1), "of Y"); }),
            "the peer ended the connection: of Y");
}

TEST(Conversation, KeepsWhatCrossedTheWire) {
  Connected pair;
  pair.conversation->send(pattern(3));
  pair.say(pattern(2));
  pair.peer->shutdown_write();
  EXPECT_EQ(pair.conversation->octets(2, std::chrono::seconds(1)), pattern(2));
  pair.conversation->expect_end("it is over");
  const auto& parts = pair.conversation->exchange().parts;
  ASSERT_EQ(parts.size(), 3U);
  EXPECT_TRUE(!parts[0].from_peer && parts[0].octets == pattern(3));
  EXPECT_TRUE(parts[1].from_peer && parts[1].octets == pattern(2));
  EXPECT_EQ(parts[2].kind, Part::kFin);
}

// An established stream of the prober's, whose peer is the test.
struct Established : Connected {
  Established() {
    conversation->start_fpdus(mpa::Framing{}, mpa::Framing{});
    conversation->send_ulpdu(Messages().write({}, {}, {}));
    heard();
  }
  void tell(const Ulpdu& ulpdu) { say(framer.fpdu(ulpdu)); }
  // What the prober has sent since.
  std::vector<Ulpdu> heard() {
    std::vector<Ulpdu> out;
    while (peer->receive(octets, now()) == Socket::Got::kOctets) {
    }
    for (auto taken = reader.take(octets); taken && *taken; taken = reader.take(octets)) {
      out.push_back(std::move((*taken)->ulpdu));
      octets.erase(octets.begin(), octets.begin() + static_cast<std::ptrdiff_t>((*taken)->consumed));
    }
    return out;
  }
  Framer framer{};
  FrameReader reader{mpa::Framing{}};
  Messages make{};
  std::vector<std::byte> octets{};
};

// Whatever a case waits for, a peer may send these before it.
TEST(Unasked, IsSkippedBeforeWhatIsWaitedFor) {
  Established pair;
  const auto chat = [&] {
    pair.tell(pair.make.write({}, {}, {}));
    pair.tell(pair.make.write(kOwnStag, {5}, pattern(3)));
    pair.tell(pair.make.send_segment(pattern(4), 0, false));
    pair.tell(pair.make.send_segment(pattern(4), 4, true));
    pair.tell(pair.make.immediate(1));
  };
  chat();
  pair.tell(pair.make.read_response({7}, {0x1234}, {}));
  EXPECT_EQ(sentence([&] { pair.conversation->expect_empty_read(); }), "passed");
  chat();
  pair.tell(pair.make.send(pattern(9)));
  EXPECT_EQ(sentence([&] { pair.conversation->expect_message(rdmap::Opcode::kSend, nullptr, send_of(9)); }), "passed");
  chat();
  pair.tell(pair.make.send(pattern(12)));
  EXPECT_EQ(sentence([&] { pair.conversation->expect_whole(rdmap::Opcode::kSend, 12); }), "passed");
  chat();
  EXPECT_EQ(sentence([&] { pair.conversation->expect_silence(std::chrono::milliseconds(20), "of X"); }), "passed");
  pair.tell(pair.make.write({1}, {5}, pattern(3)));
  EXPECT_EQ(sentence([&] { pair.conversation->expect_silence(std::chrono::milliseconds(20), "of X"); }),
            "an RDMA Write came, and none was due: of X");
  chat();
  EXPECT_EQ(sentence([&] { pair.conversation->expect_silence(std::chrono::milliseconds(20), "of X", send_of(4)); }),
            "passed")
      << "it is one of eight octets";
  pair.tell(pair.make.send(pattern(8)));
  EXPECT_EQ(sentence([&] { pair.conversation->expect_silence(std::chrono::milliseconds(20), "of X", send_of(8)); }),
            "a Send came, and none was due: of X");
}

// Before the first FPDU of the initiator a responder may send nothing.
TEST(Unasked, IsNoneBeforeTheStreamIsEstablished) {
  Connected pair;
  pair.conversation->start_fpdus(mpa::Framing{}, mpa::Framing{});
  const auto first = pair.conversation->fpdu(Messages().write({}, {}, {}));
  pair.conversation->send(Bytes(first).first(first.size() - 1));
  pair.say(Framer().fpdu(Messages().write({}, {}, {})));
  EXPECT_EQ(sentence([&] { pair.conversation->expect_silence(std::chrono::milliseconds(20), "of X"); }),
            "octets came, and none were due: of X");
}

// Requests of the peer's own are answered in their order, after those that the case has to answer.
TEST(Unasked, RequestsAreAnswered) {
  Established pair;
  const auto read = [&](std::uint32_t sink, std::uint32_t size) {
    pair.tell(pair.make.read_request(
        {.sink_stag = {sink}, .sink_offset = {8}, .size = size, .source_stag = size == 0 ? ddp::Stag{} : kOwnStag}));
  };
  const auto settle = [&] {
    EXPECT_EQ(sentence([&] { pair.conversation->expect_silence(std::chrono::milliseconds(5), ""); }), "passed");
    EXPECT_EQ(sentence([&] { pair.conversation->expect_silence(std::chrono::milliseconds(5), ""); }), "passed");
    return pair.heard();
  };
  read(1, 0);
  read(2, 40000);
  pair.tell(pair.make.atomic({.request_id = 77, .stag = kOwnStag}));
  const auto answers = settle();
  ASSERT_EQ(answers.size(), 5U) << "one, three segments, one";
  EXPECT_EQ(answers[0], pair.make.read_response({1}, {8}, {}));
  EXPECT_EQ(answers[3], pair.make.read_response({2}, {8 + 32768}, std::vector<std::byte>(40000 - 32768)));
  EXPECT_EQ(answers[4], Messages().atomic_response({.request_id = 77}));

  read(3, 16);
  const auto request = pair.conversation->expect_read_request(16);
  read(4, 0);
  EXPECT_TRUE(settle().empty()) << "the case's answer comes first";
  const auto part = pair.conversation->fpdu(
      pair.conversation->make().read_response(request.sink_stag, request.sink_offset, pattern(16)));
  pair.conversation->send(Bytes(part).first(10));
  EXPECT_TRUE(settle().empty()) << "not inside an FPDU";
  pair.conversation->send(Bytes(part).subspan(10));
  const auto late = settle();
  ASSERT_EQ(late.size(), 2U);
  EXPECT_EQ(late[1], pair.make.read_response({4}, {8}, {}));

  pair.conversation->send_ulpdu(Messages().write({9}, {}, pattern(4)), {.crc_xor = 1});
  static_cast<void>(pair.peer->receive(pair.octets, now()));
  pair.octets.clear();
  read(5, 0);
  EXPECT_TRUE(settle().empty()) << "nothing after what the prober has broken";
}

// More Requests at a time than the prober's IRD are a breach, whatever they ask for.
TEST(Unasked, RequestsBeyondTheIrdAreNotTolerated) {
  Connected pair;
  mpa::StartupFrame peers{.kind = mpa::FrameKind::kReply, .enhanced = mpa::EnhancedData{.ird = 1, .ord = 1}};
  pair.conversation->start_fpdus(StartUp{.enhanced = mpa::EnhancedData{.ird = 1, .ord = 1}}, peers);
  pair.conversation->send_ulpdu(Messages().write({}, {}, {}));
  Framer framer({.crc = true});
  Messages make;
  const auto read = [&] { pair.say(framer.fpdu(make.read_request({.size = 8, .source_stag = kOwnStag}))); };
  read();
  pair.conversation->expect_read_request(8);
  read();
  EXPECT_EQ(sentence([&] { pair.conversation->expect_silence(std::chrono::milliseconds(20), "of X"); }),
            "an RDMA Read Request came, and none was due: of X");
}

// Memory that the peer was not told of, it cannot ask for.
TEST(Unasked, RequestsOfOtherMemoryAreNotTolerated) {
  Established pair;
  pair.tell(pair.make.read_request({.sink_stag = {1}, .size = 8, .source_stag = {9}}));
  EXPECT_EQ(sentence([&] { pair.conversation->expect_empty_read(); }),
            "an RDMA Read Request came instead of an RDMA Read Response");
  pair.tell(pair.make.read_request({.sink_stag = {1}, .size = 2U << 20U, .source_stag = kOwnStag}));
  EXPECT_EQ(sentence([&] { pair.conversation->expect_empty_read(); }),
            "an RDMA Read Request came instead of an RDMA Read Response");
}

// An answer to an earlier Request may come when the case waits for something else.
TEST(Unasked, AnswersMayBeLate) {
  Established pair;
  Conversation& by = *pair.conversation;
  by.send_ulpdu(by.make().read_request({.sink_stag = {3}, .sink_offset = {40}, .size = 8}));
  pair.tell(pair.make.read_response({3}, {40}, pattern(4), false));
  pair.tell(pair.make.read_response({3}, {44}, pattern(4)));
  pair.tell(pair.make.read_response({7}, {0x1234}, {}));
  EXPECT_EQ(sentence([&] { by.expect_empty_read(); }), "passed");
  by.send_ulpdu(by.make().read_request({.sink_stag = {3}, .sink_offset = {40}, .size = 8}));
  by.send_ulpdu(by.make().atomic({}));
  pair.tell(pair.make.read_response({3}, {40}, pattern(8)));
  pair.tell(pair.make.atomic_response({}));
  pair.tell(pair.make.send({}));
  EXPECT_EQ(sentence([&] { by.expect_message(rdmap::Opcode::kSend); }), "passed");
  pair.tell(pair.make.read_response({3}, {40}, pattern(8)));
  EXPECT_EQ(sentence([&] { by.expect_message(rdmap::Opcode::kSend); }), "an RDMA Read Response came instead of a Send")
      << "it was answered";
  by.send_ulpdu(by.make().read_request({.sink_stag = {4}, .size = 8}));
  by.send_ulpdu(by.make().read_request({.sink_stag = {5}, .size = 8}));
  pair.tell(pair.make.read_response({5}, {}, pattern(8)));
  EXPECT_EQ(sentence([&] { by.expect_read_response({4}, {}, 8); }),
            "the Read Response's STag is 0x5; the Request's sink was 0x4")
      << "the second Read's cannot come first";
}

// A peer that floods ends the case, and costs no memory without bound.
TEST(Conversation, AFloodEndsTheCase) {
  Connected pair(std::chrono::seconds(60));
  const auto fpdu = Framer().fpdu(Messages().send(pattern(60000)));
  const std::jthread flood([&](const std::stop_token& stop) { pair.flood(fpdu, stop); });
  EXPECT_EQ(sentence([&] { pair.conversation->expect_terminate({kCrc}); }),
            "the peer floods: it sent more than 64 MiB in one conversation");
  EXPECT_TRUE(pair.conversation->exchange().cut);
}

// The next conversations of the run take less, in small FPDUs too, and keep little.
TEST(Conversation, AFlooderHasLessRoomAfterwards) {
  const auto learned = std::make_shared<Learned>();
  learned->saw_flood();
  learned->keeps(Learned::kMostKept + 1);
  Connected pair(std::chrono::seconds(60), false, learned);
  Conversation& by = *pair.conversation;
  std::vector<std::byte> many;
  Framer framer;
  while (many.size() < 60000) {
    const auto fpdu = framer.fpdu(Messages().write({}, {}, {}));
    many.insert(many.end(), fpdu.begin(), fpdu.end());
  }
  const std::jthread flood([&](const std::stop_token& stop) { pair.flood(many, stop); });
  EXPECT_EQ(sentence([&] { by.expect_terminate({kCrc}); }),
            "the peer floods: it sent more than 8 MiB in one conversation");
  std::size_t kept = 0;
  for (const Part& part : by.exchange().parts) kept += part.octets.size();
  EXPECT_LE(kept, Learned::kMostBeyond);
}

// A peer whose octets come one by one costs no part for each.
TEST(Conversation, JoinsOctetsThatComeTogether) {
  Connected pair;
  for (int i = 0; i < 100; ++i) {
    pair.say(pattern(1));
    EXPECT_EQ(pair.conversation->octets(1, std::chrono::seconds(1)), pattern(1));
  }
  EXPECT_LT(pair.conversation->exchange().parts.size(), 100U);
  std::size_t kept = 0;
  for (const Part& part : pair.conversation->exchange().parts) kept += part.octets.size();
  EXPECT_EQ(kept, 100U);
}

// A part of an FPDU at the end of the time is waited for: the peer has begun to send something.
TEST(Conversation, WaitsForTheRestOfAnFpdu) {
  Connected pair(std::chrono::seconds(10));
  pair.conversation->start_fpdus(mpa::Framing{}, mpa::Framing{});
  const auto fpdu = Framer().fpdu(Messages().send(pattern(40)));
  pair.say(Bytes(fpdu).first(9));
  const std::jthread rest([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    pair.say(Bytes(fpdu).subspan(9));
  });
  PeerFpdu got;
  EXPECT_EQ(pair.conversation->next_any(got, std::chrono::milliseconds(1)), Came::kFpdu);
}

// Each wait grows with the longest round trip of the run.
TEST(Learned, ScalesTheWaits) {
  using std::chrono::milliseconds;
  Learned learned;
  EXPECT_EQ(learned.quiet(milliseconds(150)), milliseconds(150));
  learned.saw_round_trip(milliseconds(200));
  learned.saw_round_trip(milliseconds(40));
  EXPECT_EQ(learned.round_trip(), milliseconds(200));
  EXPECT_EQ(learned.quiet(milliseconds(150)), milliseconds(550));
  EXPECT_EQ(learned.patience(milliseconds(5000)), milliseconds(5800));
}

TEST(Conversation, MeasuresFromTheLastOctetSent) {
  Connected pair;
  EXPECT_FALSE(pair.conversation->answered_in());
  pair.conversation->send(pattern(1));
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  pair.say(pattern(1));
  EXPECT_FALSE(pair.conversation->octets(1, std::chrono::seconds(1)).empty());
  ASSERT_TRUE(pair.conversation->answered_in());
  EXPECT_GE(*pair.conversation->answered_in(), std::chrono::milliseconds(20));
  pair.say(pattern(1));
  EXPECT_FALSE(pair.conversation->octets(1, std::chrono::seconds(1)).empty());
  EXPECT_LT(*pair.conversation->answered_in(), std::chrono::seconds(1)) << "of the first octets";
}

TEST(Sockets, TellWhatThePeerHasNotTaken) {
  Connected pair;
  EXPECT_EQ(pair.conversation->socket().unacknowledged(), 0U);
  pair.conversation->send(pattern(10));
  EXPECT_GT(pair.conversation->socket().unacknowledged(), 0U);
  std::vector<std::byte> octets;
  EXPECT_EQ(pair.peer->receive(octets, now()), Socket::Got::kOctets);
  EXPECT_EQ(pair.conversation->socket().unacknowledged(), 0U);
}

TEST(Conversations, CountTheOctetsOfTheirFpdus) {
  Connected pair;
  EXPECT_EQ(pair.conversation->position(), 0U);
  const auto first = pair.conversation->fpdu(pattern(20));
  EXPECT_EQ(pair.conversation->position(), first.size());
  pair.conversation->send_ulpdu(pattern(3), {.flip = 1});
  EXPECT_EQ(pair.conversation->position(), first.size() + mpa::bare_fpdu_size(3));
}

TEST(Conversations, TheFirstFpduWaitsWhereItIsToldTo) {
  Connected pair;
  pair.conversation->delay_first_fpdu(std::chrono::milliseconds(30));
  const Instant began = now();
  pair.conversation->start_fpdus(mpa::Framing{}, mpa::Framing{});
  EXPECT_GE(now() - began, std::chrono::milliseconds(30));
}

}  // namespace
}  // namespace weft::probe::test
