// SPDX-License-Identifier: Apache-2.0
// What the model infers: memory, states, answers, and what an engine needs to stand in for an end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "conformance/capture_reader.hpp"
#include "explain/model/packet_heads.hpp"
#include "samples.hpp"

namespace weft::explain::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

constexpr std::size_t kInitiator = 0, kResponder = 1;

// rping's third message is a Read, and its fifth a Write, as pcap-samples/README.md tells: 64 octets each.
TEST(Memory, IsWhatTheMessagesUsed) {
  const Model model = sample("01-rping.pcap");
  ASSERT_THAT(model.connections, SizeIs(1));
  const Connection& connection = model.connections[0];
  const auto& regions = connection.memory[kInitiator].regions;
  ASSERT_FALSE(regions.empty());
  for (const Region& region : regions) {
    EXPECT_TRUE(region.rights.read || region.rights.write);
    EXPECT_EQ(region.octets, 64U);
  }
  EXPECT_THAT(connection.memory[kInitiator].receives, SizeIs(6));
  EXPECT_THAT(connection.memory[kResponder].receives, SizeIs(6));
}

TEST(Memory, PlacesPayloadFromTheBeginningOfItsRegion) {
  const Model model = sample("04-write-bw-64k-mtu1500.pcap");
  for (const Connection& connection : model.connections) {
    for (const Row& row : connection.rows) {
      if (!row.effect.placed) continue;
      const EndMemory& memory = connection.memory[index_of(opposite(row.from))];
      const Placed& placed = *row.effect.placed;
      const std::uint64_t size = placed.where == Placed::Where::kRegion ? memory.regions.at(placed.index).octets
                                                                        : memory.receives.at(placed.index).octets;
      EXPECT_LE(placed.offset + placed.octets, size) << row.words;
      EXPECT_EQ(placed.octets, row.segment->payload) << row.words;
    }
  }
}

TEST(Memory, PlacesTheOctetsOfASendInItsReceive) {
  const Model model = sample("01-rping.pcap");
  const Connection& connection = model.connections.at(0);
  const Row& send = row_of(connection, "Send");
  ASSERT_TRUE(send.segment && send.effect.placed);
  EXPECT_EQ(send.effect.placed->where, Placed::Where::kReceive);
  EXPECT_EQ(send.effect.placed->octets, send.segment->payload);
}

TEST(Memory, HasNoRegionThatATerminateDenies) {
  const Model model = sample("20-term-write-bad-stag.pcap");
  const Connection& connection = model.connections.at(0);
  EXPECT_THAT(connection.memory[kResponder].regions, IsEmpty());
  const Row& write = row_of(connection, "RDMA Write, 100 octets");
  ASSERT_TRUE(write.effect.refused);
  EXPECT_TRUE(connection.rows[*write.effect.refused].words.starts_with("Terminate: layer 1, type 1, code 0x00"));
  EXPECT_FALSE(write.effect.placed);
}

// Its end is not known, but that it is before the last octet that was written to.
TEST(Memory, HasARegionThatEndsWhereATerminateSaysSo) {
  const Model model = sample("weft/terminate-1-1-01-write-bounds.pcap");
  const Connection& connection = model.connections.at(0);
  const auto refused =
      std::ranges::find_if(connection.rows, [](const Row& row) { return row.effect.refused.has_value(); });
  ASSERT_NE(refused, connection.rows.end());
  const auto* const header = refused->segment->tagged();
  const auto& regions = connection.memory[kResponder].regions;
  const auto region = std::ranges::find(regions, header->stag.value, &Region::stag);
  ASSERT_NE(region, regions.end());
  EXPECT_LT(region->begin + region->octets, header->offset.value + refused->segment->payload);
}

const Row& refused_row(const Connection& connection) {
  const auto row = std::ranges::find_if(connection.rows, [](const Row& one) { return one.effect.refused.has_value(); });
  EXPECT_NE(row, connection.rows.end());
  return row == connection.rows.end() ? connection.rows.front() : *row;
}

TEST(Memory, LacksTheRightThatATerminateDenies) {
  const Model model = sample("weft/terminate-0-1-02-read-rights.pcap");
  const Connection& connection = model.connections.at(0);
  const Row& row = refused_row(connection);
  const auto request = rdmap::parse_read_request(connection.messages[*row.message].front);
  ASSERT_TRUE(request);
  const auto& regions = connection.memory[kResponder].regions;
  const auto region = std::ranges::find(regions, request->source_stag.value, &Region::stag);
  ASSERT_NE(region, regions.end());
  EXPECT_FALSE(region->rights.read);
}

TEST(Memory, HasAReceiveThatIsShorterThanWhatATerminateRefuses) {
  const Model model = sample("weft/terminate-1-2-05-too-long.pcap");
  const Connection& connection = model.connections.at(0);
  const Row& row = refused_row(connection);
  const auto& receives = connection.memory[kResponder].receives;
  ASSERT_FALSE(receives.empty());
  EXPECT_EQ(receives.back().msn, row.segment->untagged()->msn.value);
  EXPECT_LT(receives.back().octets, row.segment->untagged()->offset.value + row.segment->payload);
  EXPECT_FALSE(row.effect.placed);
}

// siw's Terminate quotes a DDP header that was never sent, and the Read Request after it.
TEST(Answers, FindTheReadThatSiwRefuses) {
  const Model model = sample("21-term-read-bad-stag.pcap");
  const Connection& connection = model.connections.at(0);
  const Row& read = refused_row(connection);
  EXPECT_TRUE(read.words.starts_with("RDMA Read Request"));
  const Row& terminate = connection.rows[*read.effect.refused];
  EXPECT_EQ(connection.messages[*terminate.message].answers, read.message);
  EXPECT_THAT(connection.memory[kResponder].regions, IsEmpty());
}

TEST(Memory, IsTakenBackByASendWithInvalidate) {
  const Model model = sample("12-send-inv.pcap");
  const Connection& connection = model.connections.at(0);
  const Row& send = row_of(connection, "Send with Invalidate");
  ASSERT_TRUE(send.effect.touched);
  EXPECT_EQ(send.effect.touched->how, Touched::How::kInvalidate);
  EXPECT_EQ(connection.memory[kResponder].regions.at(send.effect.touched->region).stag,
            send.segment->untagged()->rsvd_ulp_word);
}

// The tour's library is read from its beginning, and its counter changed at offset 8.
TEST(Memory, HasTheContentThatWasRead) {
  const Model model = tour();
  const auto& regions = model.connections.at(0).memory[kResponder].regions;
  const auto library = std::ranges::find(regions, 0x0b000200U, &Region::stag);
  ASSERT_NE(library, regions.end());
  ASSERT_EQ(library->content.size(), 2000U);
  const std::string_view text(reinterpret_cast<const char*>(library->content.data()), library->content.size());
  EXPECT_TRUE(text.starts_with("A page of the library, "));
  EXPECT_TRUE(text.substr(75).starts_with("A page of the library, ")) << "it is written there again and again";
  const auto counter = std::ranges::find(regions, 0x0b000300U, &Region::stag);
  ASSERT_NE(counter, regions.end());
  EXPECT_EQ(counter->content, std::vector<std::byte>(8));
}

TEST(Memory, HasNoMarkersInItsContent) {
  std::vector<std::vector<std::byte>> contents[2];
  for (const bool markers : {false, true}) {
    const Model model = sample(markers ? "weft/everything-markers.pcap" : "weft/everything-no-crc.pcap");
    for (const EndMemory& memory : model.connections.at(0).memory) {
      for (const Region& region : memory.regions) contents[markers ? 1 : 0].push_back(region.content);
    }
  }
  EXPECT_EQ(contents[1], contents[0]);
}

TEST(States, CountMessagesAndRequests) {
  const Model model = sample("weft/read.pcap");
  const Connection& connection = model.connections.at(0);
  std::uint32_t requests = 0;
  for (const Row& row : connection.rows) {
    if (!row.effect.before) continue;
    const EndState& before = connection.states[*row.effect.before];
    const EndState& after = connection.states[*row.effect.after];
    if (row.words.starts_with("RDMA Read Request")) {
      EXPECT_EQ(after.ird, before.ird + 1);
      EXPECT_EQ(before.msn[1], row.segment->untagged()->msn.value);
      EXPECT_EQ(after.msn[1], before.msn[1] + 1);
      ++requests;
    }
  }
  EXPECT_GT(requests, 0U);
  EXPECT_EQ(connection.states.back().ird, 0U);
  EXPECT_EQ(connection.states.back().ord, 0U);
}

TEST(States, BeginWithTheStartup) {
  const Model model = sample("20-term-write-bad-stag.pcap");
  const Connection& connection = model.connections.at(0);
  std::vector<std::string_view> after;
  for (const Row& row : connection.rows) {
    if (row.effect.after) after.push_back(connection.states[*row.effect.after].state);
  }
  EXPECT_THAT(after, ElementsAre("startup", "RDMA mode", "RDMA mode", "terminated"));
}

TEST(Scripts, HaveWhatTheStartupFramesSaid) {
  const Model model = sample("31-privdata.pcap");
  const auto& lab = model.connections.at(0).lab;
  ASSERT_TRUE(lab[kInitiator] && lab[kResponder]);
  EXPECT_TRUE(lab[kInitiator]->initiator);
  EXPECT_EQ(lab[kInitiator]->ird, 7);
  EXPECT_EQ(lab[kInitiator]->ord, 9);
  EXPECT_FALSE(lab[kInitiator]->private_data.empty());
  ASSERT_THAT(lab[kInitiator]->posts, SizeIs(1));
  const Row& request = model.connections[0].rows.at(lab[kInitiator]->posts[0].before_row);
  EXPECT_TRUE(request.words.starts_with("RDMA Read Request")) << request.words;
}

TEST(Scripts, LeaveTheReadyToReceiveIndicationToTheEngine) {
  const Model model = sample("54-p2p-rtr-read.pcap");
  const auto& lab = model.connections.at(0).lab;
  ASSERT_TRUE(lab[kInitiator]);
  EXPECT_EQ(lab[kInitiator]->rtr, mpa::Rtr::kRead);
  EXPECT_THAT(lab[kInitiator]->posts, IsEmpty());
}

// It named two kinds and sent the one that the engine would choose, too: the engine can send the same frame.
TEST(Scripts, OfferAllThatTheFrameNamed) {
  const Model model = sample("53-p2p-rtr-write.pcap");
  const auto& lab = model.connections.at(0).lab;
  ASSERT_TRUE(lab[kInitiator]);
  EXPECT_EQ(lab[kInitiator]->rtr_types, (mpa::RtrTypes{.write = true, .read = true}));
}

// Both ends named kinds of it, and there was none in common.
TEST(Scripts, NameTheReadyToReceiveIndicationsOfTheirFrames) {
  const Model model = sample("weft/terminate-2-0-07-no-rtr.pcap");
  const auto& lab = model.connections.at(0).lab;
  ASSERT_TRUE(lab[kInitiator] && lab[kResponder]);
  EXPECT_EQ(lab[kInitiator]->rtr, std::nullopt);
  EXPECT_EQ(lab[kInitiator]->rtr_types, (mpa::RtrTypes{.send = true}));
  EXPECT_EQ(lab[kResponder]->rtr_types, (mpa::RtrTypes{.write = true}));
}

// RFC 5041 section 7.1 leaves it to the receiver whether a Send waits for a buffer: this one did not.
TEST(Scripts, TellWhoRefusesSendsWithoutAReceive) {
  const auto refuses = [](const char* name, std::size_t end) {
    const Model model = sample(name);
    const auto& script = model.connections.at(0).lab[end];
    EXPECT_TRUE(script) << name;
    return script && script->refuses_sends;
  };
  EXPECT_TRUE(refuses("24-term-send-no-buffer.pcap", kResponder));
  EXPECT_FALSE(refuses("24-term-send-no-buffer.pcap", kInitiator));
  EXPECT_FALSE(refuses("20-term-write-bad-stag.pcap", kResponder)) << "its Terminate names another error";
}

TEST(Scripts, AreMissingWhereTheStartupIs) {
  const Model model = sample("broken/mpa-7.1.2-12-no-request.pcap");
  for (const Connection& connection : model.connections) EXPECT_FALSE(connection.lab[kInitiator]);
}

conformance::ConnectionEnd end_of(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  return {text.substr(0, colon), static_cast<std::uint16_t>(std::stoul(text.substr(colon + 1)))};
}

// Two connections to one port: each has its own SYN, and the answer to it.
TEST(PacketHeads, FindTheSynsOfOneConnection) {
  const std::string name = "03-write-bw-64k.pcap";
  PacketHeads heads;
  auto reader = conformance::CaptureReader::open(std::string(WEFT_PCAP_SAMPLES) + '/' + name);
  ASSERT_TRUE(reader);
  ASSERT_FALSE(conformance::read_packets(*reader, [&](const conformance::Packet& packet) { heads.note(packet); }));
  const Model model = sample(name);
  ASSERT_THAT(model.connections, SizeIs(2));
  EXPECT_EQ(end_of(model.connections[0].responder).address, end_of(model.connections[1].responder).address);
  for (const Connection& connection : model.connections) {
    const conformance::ConnectionInfo info{
        .first = end_of(connection.initiator), .second = end_of(connection.responder), .first_packet = 1};
    const auto syns = heads.syns(info, std::numeric_limits<std::uint64_t>::max());
    ASSERT_THAT(syns, SizeIs(2)) << connection.initiator;
    for (const SynSeen& syn : syns) {
      EXPECT_EQ(syn.answer ? syn.destination.port : syn.source.port, info.first.port);
      EXPECT_EQ(syn.answer ? syn.source.port : syn.destination.port, info.second.port);
    }
  }
}

TEST(PacketHeads, HaveAFieldForEachOctet) {
  for (const char* const name : {"01-rping.pcap", "weft/ipv6.pcap"}) {
    const Model model = sample(name);
    ASSERT_FALSE(model.packets.empty());
    for (const PacketHead& head : model.packets) {
      std::size_t end = 0;
      for (const FieldAt& field : head.fields) {
        EXPECT_EQ(field.at, end) << name << ", packet " << head.number;
        end = field.at + field.size;
      }
      EXPECT_EQ(end, head.octets.size()) << name << ", packet " << head.number;
    }
  }
}

TEST(PacketHeads, SayHowLongTheyAre) {
  EXPECT_THAT(sample("01-rping.pcap").glossary.texts(), testing::Contains("version 4, a header of 20 octets"));
}

TEST(Findings, StandAtTheirOctets) {
  const Model model = sample("broken/mpa-4.1-03.pcap");
  const Connection& connection = model.connections.at(0);
  ASSERT_THAT(connection.findings, SizeIs(1));
  const FindingView& view = connection.findings[0];
  ASSERT_TRUE(view.row);
  const Row& row = connection.rows[*view.row];
  EXPECT_THAT(row.findings, ElementsAre(0));
  EXPECT_EQ(row.packet, view.finding.place.packet);
  EXPECT_EQ(view.at + view.size + mpa::kCrcSize, row.wire.size) << "the PAD stands in front of the CRC";
}

TEST(Findings, TellBothCrcs) {
  const Model model = sample("broken/mpa-4.4-13.pcap");
  ASSERT_THAT(model.connections.at(0).findings, SizeIs(1));
  EXPECT_EQ(model.connections[0].findings[0].finding.message,
            "The FPDU has the CRC 0x64e16392, but its octets give 0x64e16393.");
}

TEST(Limits, LeaveOutWhatAPageDoesNotHold) {
  Budget budget;
  budget.rows = 5;
  budget.octets = 200;
  const Model model = sample("04-write-bw-64k-mtu1500.pcap", {.budget = budget});
  std::size_t rows = 0;
  for (const Connection& connection : model.connections) rows += connection.rows.size();
  EXPECT_EQ(rows, 5U);
  EXPECT_THAT(model.notes, ElementsAre(testing::HasSubstr("Only the first 5 rows of the capture are shown")));
}

}  // namespace
}  // namespace weft::explain::test
