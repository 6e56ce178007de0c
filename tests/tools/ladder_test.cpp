// SPDX-License-Identifier: Apache-2.0
// The ladder of a long connection stays short, and each of its lines narrow.
#include <gmock/gmock.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "rdmap/opcodes.hpp"
#include "tools/dissect/folding.hpp"
#include "tools/dissect/ladder_text.hpp"
#include "tools/dissect/lines.hpp"
#include "tools/dissect/packet_times.hpp"

namespace weft::tools::dissect {
namespace {

using conformance::Direction;
using conformance::Message;

const Look kWide{.palette = {}, .width = 100};

Entry message(rdmap::Opcode opcode, std::uint64_t packet, std::uint64_t octets = 64) {
  const auto rsvd_ulp = static_cast<std::uint8_t>(0x40 | std::to_underlying(opcode));
  return {.what = Message{.from = Direction::kFromInitiator,
                          .header = ddp::TaggedHeader{true, rsvd_ulp, {1}, {0}},
                          .fpdus = 1,
                          .octets = octets,
                          .first_packet = packet,
                          .last_packet = packet,
                          .begun = true,
                          .ended = true}};
}

std::vector<std::string> lines(const Folding& folding) {
  std::string text;
  folding.each(
      [&](const Rung& rung) { text += std::visit([](const auto& one) { return text_of(one, kWide); }, rung); });
  std::vector<std::string> found;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) found.push_back(line);
  return found;
}

TEST(Folding, ShowsShortLaddersWhole) {
  Folding folding(false);
  for (std::uint64_t i = 1; i <= Folding::kFirst + Folding::kLast; ++i) folding.add(message(rdmap::Opcode::kWrite, i));
  EXPECT_EQ(lines(folding).size(), Folding::kFirst + Folding::kLast);
}

TEST(Folding, CountsTheMiddleOfLongOnes) {
  Folding folding(false);
  for (std::uint64_t i = 1; i <= 10000; ++i)
    folding.add(message(i % 2 == 0 ? rdmap::Opcode::kWrite : rdmap::Opcode::kReadResponse, i, 65536));
  const auto shown = lines(folding);
  ASSERT_EQ(shown.size(), Folding::kFirst + Folding::kLast + 3);
  const std::string margin(23, ' ');
  EXPECT_EQ(shown[Folding::kFirst], "                   ... packets 41 to 9990:");
  EXPECT_EQ(shown[Folding::kFirst + 1], margin + "initiator: 4975 more RDMA Read Response messages, 310.9 MiB");
  EXPECT_EQ(shown[Folding::kFirst + 2], margin + "initiator: 4975 more RDMA Write messages, 310.9 MiB");
  EXPECT_THAT(shown.back(), testing::HasSubstr(" 10000  RDMA Write"));
}

TEST(Folding, TellsOctetsOfPayloadOnly) {
  const auto row = [](rdmap::Opcode opcode) {
    return text_of(Fold{.kinds = {{Direction::kFromInitiator, std::to_underlying(opcode), 2, 64}}, .messages = 2},
                   kWide);
  };
  EXPECT_THAT(row(rdmap::Opcode::kReadRequest), testing::HasSubstr("2 more RDMA Read Request messages, packets"));
  EXPECT_THAT(row(rdmap::Opcode::kSend), testing::HasSubstr("2 more Send messages, 64 octets, packets"));
}

TEST(Folding, TellsOneKindInOneLine) {
  Folding folding(false);
  for (std::uint64_t i = 1; i <= 10000; ++i) folding.add(message(rdmap::Opcode::kWrite, i));
  EXPECT_EQ(lines(folding)[Folding::kFirst],
            "                   ... initiator: 9950 more RDMA Write messages, 621.9 KiB, packets 41 to 9990");
}

TEST(Folding, HidesNoNotesAndNoTerminate) {
  Folding folding(false);
  for (std::uint64_t i = 1; i <= 1000; ++i) folding.add(message(rdmap::Opcode::kWrite, i));
  folding.add(message(rdmap::Opcode::kTerminate, 1001));
  folding.add({.what = Note{Direction::kFromInitiator, 1002, false, {{Hue::kRemark, "octets are missing"}}}});
  for (std::uint64_t i = 1003; i <= 2000; ++i) folding.add(message(rdmap::Opcode::kWrite, i));
  const auto shown = lines(folding);
  EXPECT_EQ(shown.size(), Folding::kFirst + 1 + 2 + 1 + Folding::kLast);
  EXPECT_THAT(shown, testing::Contains(testing::HasSubstr("1001  Terminate")));
  EXPECT_THAT(shown, testing::Contains(testing::HasSubstr("1002  octets are missing")));
}

TEST(Folding, IsBoundedWhateverComes) {
  Folding folding(false);
  for (std::uint64_t i = 1; i <= 20000; ++i)
    folding.add(i % 2 == 0 ? message(rdmap::Opcode::kTerminate, i) : message(rdmap::Opcode::kWrite, i));
  EXPECT_LE(lines(folding).size(), Folding::kFirst + 2 * Folding::kNotes + 3 + Folding::kLast);
}

TEST(Folding, ShowsAllWhenAsked) {
  Folding folding(true);
  for (std::uint64_t i = 1; i <= 1000; ++i) folding.add(message(rdmap::Opcode::kWrite, i));
  EXPECT_EQ(lines(folding).size(), 1000U);
}

TEST(LadderLines, BreakBetweenWordsAndLoseNone) {
  const Parts parts{{Hue::kRdmap, "Terminate"}, {Hue::kTerminate, "a sentence of some length"}, {Hue::kMpa, "the end"}};
  const auto broken = lines_of(parts, 20);
  std::string all;
  for (const Line& line : broken) {
    EXPECT_LE(line.width(), 20U);
    EXPECT_EQ(line.width(), line.painted({}).size());
    all += line.painted({}) + '\n';
  }
  EXPECT_EQ(all, "Terminate: a\nsentence of some\nlength, the end\n");  // the sentence does not fit into any line
}

TEST(LadderLines, KeepPartsTogether) {
  const auto broken = lines_of({{Hue::kRdmap, "RDMA Write"}, {Hue::kDdp, "STag 0x1 TO 0x2"}}, 20);
  ASSERT_EQ(broken.size(), 2U);
  EXPECT_EQ(broken.back().painted({}), "STag 0x1 TO 0x2");
}

TEST(LadderLines, AreColouredByLayer) {
  const Parts parts{{Hue::kRdmap, "Send"}, {Hue::kPayload, "8 octets"}};
  EXPECT_EQ(lines_of(parts, 80).front().painted(Palette(true)), "\x1b[35mSend:\x1b[0m\x1b[32m 8 octets\x1b[0m");
}

TEST(PacketTimes, KeepsTheLatest) {
  PacketTimes times;
  constexpr std::uint64_t kPackets = PacketTimes::kKept + 100;
  for (std::uint64_t i = 1; i <= kPackets; ++i) times.note({.number = i, .time = static_cast<std::int64_t>(1000 + i)});
  EXPECT_EQ(times.since_first(kPackets), static_cast<std::int64_t>(kPackets) - 1);
  EXPECT_EQ(times.since_first(1), 100);  // the oldest that is kept
}

std::size_t longest(const std::string& text) {
  std::size_t columns = 0;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) columns = std::max(columns, line.size());
  return columns;
}

TEST(Ladder, FillsTheWidthAndNoMore) {
  for (const std::size_t width : {40U, 80U, 132U}) {
    const Look look{.palette = {}, .width = width};
    EXPECT_EQ(longest(text_of(message(rdmap::Opcode::kWrite, 17), look)), width);
    const Fold fold{.kinds = {{Direction::kFromInitiator, std::to_underlying(rdmap::Opcode::kSend), 2, 64}},
                    .messages = 2,
                    .first_packet = 1000,
                    .last_packet = 100000};
    EXPECT_LE(longest(text_of(fold, look)), width);
  }
}

TEST(Ladder, HasTimeAndPacketInALineOfTheirOwnWhereItIsNarrow) {
  const std::string text = text_of(message(rdmap::Opcode::kWrite, 17), {.palette = {}, .width = 40});
  EXPECT_THAT(text, testing::StartsWith("    0.000000       17\n  RDMA Write:"));
}

}  // namespace
}  // namespace weft::tools::dissect
