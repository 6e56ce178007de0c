// SPDX-License-Identifier: Apache-2.0
// The tour has every operation, breaks no rule, and is the same octets every time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <set>

#include "explain/tour/conversation.hpp"
#include "explain/tour/tour.hpp"
#include "rdmap/opcodes.hpp"
#include "samples.hpp"

namespace weft::explain::test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::byte> octets_of_tour() {
  std::vector<std::byte> all;
  play_tour([&](const conformance::Packet& packet) {
    all.insert(all.end(), packet.captured.begin(), packet.captured.end());
  });
  return all;
}

TEST(Tour, IsTheSameOctetsEveryTime) {
  const auto once = octets_of_tour();
  EXPECT_GT(once.size(), 8'000U);
  EXPECT_EQ(octets_of_tour(), once);
}

TEST(Tour, HasEveryMessageOfBothRfcs) {
  const Model model = tour();
  ASSERT_EQ(model.connections.size(), 1U);
  std::set<std::uint8_t> seen;
  for (const MessageView& message : model.connections[0].messages) seen.insert(message.opcode);
  for (const auto& row : rdmap::kOpcodeTable) EXPECT_TRUE(seen.contains(std::to_underlying(row.opcode))) << row.name;
}

TEST(Tour, HasBothAtomicOperationsAndAPlainSwap) {
  const Model model = tour();
  std::vector<rdmap::AtomicOperation> operations;
  for (const MessageView& message : model.connections.at(0).messages) {
    const auto request = rdmap::parse_atomic_request(message.front);
    if (message.opcode == std::to_underlying(rdmap::Opcode::kAtomicRequest) && request)
      operations.push_back(request->operation);
  }
  ASSERT_EQ(operations.size(), 3U);
  using enum rdmap::AtomicOperation::Kind;
  EXPECT_EQ(operations[0].kind, kFetchAdd);
  EXPECT_EQ(operations[1].kind, kCmpSwap);
  EXPECT_EQ(operations[1].compare_mask, ~std::uint64_t{0});
  EXPECT_EQ(operations[2].kind, kCmpSwap);
  EXPECT_EQ(operations[2].compare_mask, 0U);
  EXPECT_EQ(row_of(model.connections[0], "Atomic Response, the value was 0x0").kind, RowKind::kFpdu);
  EXPECT_EQ(row_of(model.connections[0], "Atomic Response, the value was 0x5").kind, RowKind::kFpdu);
  EXPECT_EQ(row_of(model.connections[0], "Atomic Response, the value was 0x63").kind, RowKind::kFpdu);
}

TEST(Tour, HasCrcsAndMarkersInOneDirection) {
  const Model model = tour();
  const Connection& connection = model.connections.at(0);
  EXPECT_TRUE(connection.settled.crc);
  EXPECT_TRUE(connection.settled.markers[0]);
  EXPECT_FALSE(connection.settled.markers[1]);
  std::size_t markers = 0;
  for (const Row& row : connection.rows) {
    markers += row.wire.markers.size();
    if (row.wire.crc) {
      EXPECT_EQ(row.wire.crc->verdict, conformance::CrcVerdict::kGood);
    }
  }
  EXPECT_GT(markers, 5U);
}

TEST(Tour, BeginsWithSynAndAnEnhancedStartupAndEndsWithFin) {
  const Model model = tour();
  const auto& rows = model.connections.at(0).rows;
  ASSERT_GT(rows.size(), 30U);
  EXPECT_EQ(rows[0].words, "SYN");
  EXPECT_EQ(rows[1].words, "SYN, ACK");
  EXPECT_EQ(rows[2].words, "MPA Request: revision 2, CRC, IRD 4, ORD 8, 14 octets of private data");
  EXPECT_EQ(rows[3].words, "MPA Reply: revision 2, CRC, wants Markers, IRD 8, ORD 4, 7 octets of private data");
  EXPECT_EQ(rows[rows.size() - 2].words, "FIN");
  EXPECT_EQ(rows.back().words, "FIN");
}

TEST(Tour, BreaksNoRuleButTheWriteThatIsRefused) {
  const Model model = tour();
  const Connection& connection = model.connections.at(0);
  for (const FindingView& view : connection.findings)
    ADD_FAILURE() << view.finding.rule->clause << ": " << view.finding.message;
  EXPECT_THAT(model.notes, IsEmpty());
  const Row& terminate = row_of(connection, "Terminate: layer 1, type 1, code 0x00");
  const auto refused =
      std::ranges::find_if(connection.rows, [](const Row& row) { return row.effect.refused.has_value(); });
  ASSERT_NE(refused, connection.rows.end());
  EXPECT_EQ(*refused->effect.refused, static_cast<std::size_t>(&terminate - connection.rows.data()));
  EXPECT_THAT(refused->words, HasSubstr("RDMA Write"));
  EXPECT_FALSE(refused->effect.placed);
}

// DDP-7.1-16: the end is exclusive. Neither end refuses the Write, and the model has the region.
TEST(Tour, AWriteMayEndExactlyAt2To64) {
  constexpr std::uint64_t kBegin = ~std::uint64_t{0} - 15;
  ModelMaker maker("top");
  engine::Config initiator, responder;
  initiator.role = mpa::Role::kInitiator;
  responder.role = mpa::Role::kResponder;
  Conversation talk(initiator, responder, [&](const conformance::Packet& packet) { maker.take(packet); });
  talk.memory(TourEnd::kInitiator).add(1, 16, kBegin).octets.assign(16, std::byte{7});
  auto& target = talk.memory(TourEnd::kResponder).add(2, 16, kBegin).octets;
  talk.open("", "");
  const rdmap::LocalSegment local{kBegin, 16, 1};
  talk.post(TourEnd::kInitiator, {.operation = engine::Operation::kWrite,
                                  .local = rdmap::LocalSegments(&local, 1),
                                  .remote_stag = {2},
                                  .remote_offset = {kBegin}});
  EXPECT_EQ(target, std::vector<std::byte>(16, std::byte{7}));
  talk.close();
  maker.close();
  const Model model = maker.finish();
  const auto& regions = model.connections.at(0).memory[1].regions;
  ASSERT_EQ(regions.size(), 1U);
  EXPECT_EQ(regions[0].begin, kBegin);
  EXPECT_EQ(regions[0].octets, 16U);
}

// Eight octets that are in the completion: the receive is used up, and nothing lands in it.
TEST(Tour, ImmediateDataTakesAReceive) {
  const Model model = tour();
  const Connection& connection = model.connections.at(0);
  std::vector<std::string> data;
  for (const Row& row : connection.rows) {
    const bool immediate = row.words.starts_with("Immediate Data");
    ASSERT_EQ(row.effect.taken.has_value(), immediate) << row.words;
    if (!immediate) continue;
    EXPECT_FALSE(row.effect.placed) << row.words;
    EXPECT_EQ(connection.memory[1].receives.at(*row.effect.taken).msn, row.segment->untagged()->msn.value);
    const auto& front = connection.messages[*row.message].front;
    data.emplace_back(reinterpret_cast<const char*>(front.data()), front.size());
  }
  EXPECT_THAT(data, testing::ElementsAre("eight oc", "wake up!", "written."));
}

TEST(Tour, EveryRequestIsAnswered) {
  const Model model = tour();
  const auto& messages = model.connections.at(0).messages;
  std::set<std::size_t> answered;
  for (const MessageView& message : messages) {
    if (message.answers) answered.insert(*message.answers);
  }
  for (std::size_t i = 0; i < messages.size(); ++i) {
    if (messages[i].what == "RDMA Read Request" || messages[i].what == "Atomic Request") {
      EXPECT_TRUE(answered.contains(i)) << i;
    }
  }
}

}  // namespace
}  // namespace weft::explain::test
