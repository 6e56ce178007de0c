// SPDX-License-Identifier: Apache-2.0
// The observer sees what two engines say to each other, however the capture is chopped.
#include "engine/observer.hpp"

#include <gtest/gtest.h>

#include "rdmap/control.hpp"
#include "tests/engine/rogue.hpp"
#include "tests/engine/scenes.hpp"

namespace weft::engine::test {
namespace {

struct Summary {
  std::size_t frames = 0, segments = 0, faults = 0, ends = 0, payload = 0;
  std::vector<rdmap::Opcode> opcodes{};
  bool operator==(const Summary&) const = default;
};

void note(Summary& summary, const Observation& seen) {
  if (std::holds_alternative<StartupSeen>(seen)) ++summary.frames;
  if (std::holds_alternative<FaultSeen>(seen)) ++summary.faults;
  if (std::holds_alternative<EndSeen>(seen)) ++summary.ends;
  if (const auto* segment = std::get_if<SegmentSeen>(&seen)) {
    ++summary.segments;
    summary.payload += segment->segment.payload().size();
    summary.opcodes.push_back(segment->segment.opcode);
  }
}

// A conversation as a capture shows it: who said what, in order.
using Conversation = std::vector<std::pair<Direction, std::vector<std::byte>>>;

Conversation converse(Config a, Config b) {
  Conversation said;
  Pair pair(a, b);
  pair.meddle = [&](const End& from, std::vector<std::byte>& octets) {
    said.emplace_back(&from == &pair.a ? Direction::kFromInitiator : Direction::kFromResponder, octets);
  };
  establish(pair);
  do_every_operation(pair, pair.a, pair.b);
  do_every_operation(pair, pair.b, pair.a);
  close_both(pair);
  return said;
}

Summary watch(const Conversation& said, std::size_t chop) {
  AcceptEverything at_a, at_b;
  Observer observer(at_b, at_a);
  Summary summary;
  const auto drain = [&] {
    while (const auto seen = observer.next()) note(summary, *seen);
  };
  for (const auto& [from, octets] : said) {
    for (std::size_t at = 0; at < octets.size(); at += chop) {
      observer.feed(from, Bytes(octets).subspan(at, std::min(chop, octets.size() - at)));
      drain();
    }
  }
  observer.end(Direction::kFromInitiator);
  observer.end(Direction::kFromResponder);
  drain();
  return summary;
}

class Watched : public testing::TestWithParam<int> {};

TEST_P(Watched, EveryFrameOnceWhateverTheChopping) {
  Config a = initiator(), b = responder();
  a.mpa.markers = (GetParam() & 1) != 0;
  b.mpa.markers = (GetParam() & 2) != 0;
  a.mpa.crc = b.mpa.crc = (GetParam() & 4) == 0;
  const Conversation said = converse(a, b);
  const Summary whole = watch(said, 1 << 20);
  EXPECT_EQ(whole.frames, 2u);
  EXPECT_EQ(whole.faults, 0u);
  EXPECT_EQ(whole.ends, 2u);
  EXPECT_GT(whole.segments, 50u);
  for (std::uint8_t opcode = 0; opcode <= 0xB; ++opcode) {
    const bool expected = opcode != 4 && opcode != 5 && opcode != 7;  // what the scene leaves out
    EXPECT_EQ(std::ranges::count(whole.opcodes, static_cast<rdmap::Opcode>(opcode)) > 0, expected) << int{opcode};
  }
  EXPECT_EQ(watch(said, 1), whole);
  EXPECT_EQ(watch(said, 701), whole);
}

INSTANTIATE_TEST_SUITE_P(Framings, Watched, testing::Range(0, 8));

// MPA-7.1.1-11
TEST(Observer, KnowsThatThereAreCrcsIfEitherEndWantsThem) {
  for (const bool of_a : {false, true}) {
    Config a = initiator(), b = responder();
    a.mpa.crc = of_a;
    b.mpa.crc = !of_a;
    Conversation said = converse(a, b);
    EXPECT_EQ(watch(said, 1 << 20).faults, 0U);
    said[said.size() / 2].second.back() ^= std::byte{1};  // of a CRC
    EXPECT_GT(watch(said, 1 << 20).faults, 0U);
  }
}

// A tagged message is known by its L flag alone (DDP-5.2-06). With its last segment the ULP gets the RsvdULP field
// (here as opcode) and the STag: DDP-4.2-05, DDP-4.2-09, DDP-5.4-06.
TEST(Observer, HandsUpOpcodeAndStagOfATaggedMessage) {
  const Conversation said = converse(initiator(), responder());
  AcceptEverything recorder;
  Observer observer(recorder, recorder);
  std::vector<std::pair<rdmap::Opcode, std::uint32_t>> ended;  // tagged messages of the initiator
  std::size_t segments = 0;
  for (const auto& [from, octets] : said) {
    observer.feed(from, octets);
    while (const auto seen = observer.next()) {
      const auto* what = std::get_if<SegmentSeen>(&*seen);
      if (what == nullptr || what->from != Direction::kFromInitiator) continue;
      const auto* header = std::get_if<ddp::TaggedHeader>(&what->segment.header);
      if (header == nullptr) continue;
      ++segments;
      EXPECT_EQ(rdmap::opcode_bits(header->rsvd_ulp), std::to_underlying(what->segment.opcode));
      if (header->last) ended.emplace_back(what->segment.opcode, header->stag.value);
    }
  }
  using Message = std::pair<rdmap::Opcode, std::uint32_t>;
  const std::vector<Message> expected{{rdmap::Opcode::kWrite, 0},  // the ready-to-receive message
                                      {rdmap::Opcode::kWrite, 20},
                                      {rdmap::Opcode::kWrite, 20},
                                      {rdmap::Opcode::kReadResponse, 11}};
  EXPECT_EQ(ended, expected);
  EXPECT_GT(segments, ended.size()) << "a message of several segments ends once";
}

TEST(Observer, NamesAFaultAndStopsThatDirection) {
  Conversation said = converse(initiator(), responder());
  auto& last = said[said.size() / 2];
  last.second[last.second.size() / 2] ^= std::byte{0x10};
  AcceptEverything recorder;
  Observer observer(recorder, recorder);
  std::size_t faults = 0;
  for (const auto& [from, octets] : said) {
    observer.feed(from, octets);
    while (const auto seen = observer.next()) {
      if (std::visit([](const auto& what) { return what.from; }, *seen) != last.first) continue;
      if (faults > 0) FAIL() << "nothing more of that direction";
      const auto* fault = std::get_if<FaultSeen>(&*seen);
      if (fault == nullptr) continue;
      ++faults;
      EXPECT_EQ(fault->fault.clause, "MPA-8-02");
    }
  }
  EXPECT_EQ(faults, 1u);
}

// MPA-7.1.2-07: the connection is the ULP's then.
TEST(Observer, SeesNothingBehindARejection) {
  Conversation said = converse(initiator(), responder());
  ASSERT_EQ(said[1].first, Direction::kFromResponder);
  said[1].second[16] |= std::byte{0x20};  // R
  EXPECT_EQ(watch(said, 1 << 20), (Summary{.frames = 2}));
}

TEST(Observer, NamesAFrameThatIsNone) {
  AcceptEverything recorder;
  Observer observer(recorder, recorder);
  observer.feed(Direction::kFromInitiator, pattern(20));
  const auto seen = observer.next();
  ASSERT_TRUE(seen);
  EXPECT_EQ(std::get<FaultSeen>(*seen).fault.clause, "MPA-7.1.2-18");
  EXPECT_FALSE(observer.next());
}

TEST(Observer, EndInsideAFrame) {
  const Conversation said = converse(initiator(), responder());
  AcceptEverything recorder;
  Observer observer(recorder, recorder);
  observer.feed(Direction::kFromInitiator, Bytes(said.front().second).first(10));
  EXPECT_FALSE(observer.next());
  EXPECT_EQ(observer.waiting(Direction::kFromInitiator), 10u);
  observer.end(Direction::kFromInitiator);
  const auto seen = observer.next();
  ASSERT_TRUE(seen);
  EXPECT_EQ(std::get<FaultSeen>(*seen).fault.clause, "MPA-7.1.1-25");
  EXPECT_FALSE(observer.next()) << "an end by fault is said once";
}

// A request's place is free again when it is answered, and not when the other end says anything else.
TEST(Observer, CountsTheRequestsThatAreNotAnswered) {
  const Conversation said = converse(initiator(), responder());
  AcceptEverything recorder;
  Observer observer(recorder, recorder);
  observer.feed(Direction::kFromInitiator, said[0].second);
  observer.feed(Direction::kFromResponder, said[1].second);
  Rogue frames;  // for its FPDUs alone
  const auto header = [](rdmap::Opcode opcode, std::uint32_t queue, std::uint32_t msn) {
    return ddp::UntaggedHeader{true, rdmap::control_octet(opcode), {}, queue, {msn}, {}};
  };
  observer.feed(Direction::kFromResponder, frames.fpdu(Rogue::ulpdu(header(rdmap::Opcode::kSend, 0, 1), {})));
  const Octets request(rdmap::ReadRequestLayout::kSize);
  std::uint32_t msn = 0;
  const auto is_refused = [&] {
    observer.feed(Direction::kFromInitiator,
                  frames.fpdu(Rogue::ulpdu(header(rdmap::Opcode::kReadRequest, 1, ++msn), request)));
    bool refused = false;
    while (const auto seen = observer.next()) refused = refused || std::holds_alternative<FaultSeen>(*seen);
    return refused;
  };
  while (msn < 1U << 16) ASSERT_FALSE(is_refused()) << msn;
  const ddp::TaggedHeader answer{true, rdmap::control_octet(rdmap::Opcode::kReadResponse), {}, {}};
  observer.feed(Direction::kFromResponder, frames.fpdu(Rogue::ulpdu(answer, {})));
  ASSERT_TRUE(observer.next());
  EXPECT_FALSE(is_refused());
  EXPECT_TRUE(is_refused());
}

}  // namespace
}  // namespace weft::engine::test
