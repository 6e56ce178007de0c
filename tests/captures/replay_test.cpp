// SPDX-License-Identifier: Apache-2.0
// Every capture replayed through receive-only engines: the same receiving code as in a live connection, with a recorder
// where memory would be. No fault may come up, for the Linux kernel wrote these octets and understood them; what a
// capture is about (Terminates, rejections, pads) must be seen as such.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "engine/observer.hpp"
#include "tests/captures/capture_file.hpp"
#include "tests/captures/expectations.hpp"
#include "tests/captures/wire_fields.hpp"

namespace weft::captures {
namespace {

using engine::Direction;
using engine::Observer;

// By TO; siw's Writes do not overlap, unless they write the same octets again.
using Segments = std::map<std::uint64_t, std::vector<std::byte>>;

// Keeps what is placed: RDMA Writes by STag and TO, Sends in the order of their receives.
class Recorder final : public ddp::Placement {
 public:
  std::expected<void, ddp::AccessError> place_tagged(ddp::Stag stag, ddp::TaggedOffset offset, Bytes payload) override {
    tagged[stag.value][offset.value].assign(payload.begin(), payload.end());
    octets += payload.size();
    return {};
  }
  std::optional<ddp::ReceiveBuffer> take_receive() override {
    sends.emplace_back();
    return ddp::ReceiveBuffer{sends.size() - 1, std::uint64_t{1} << 32};
  }
  std::expected<void, ddp::LocalFault> place_untagged(const ddp::ReceiveBuffer& buffer, std::uint64_t offset,
                                                      Bytes payload) override {
    auto& message = sends.at(buffer.cookie);
    EXPECT_EQ(message.size(), offset) << "segments of a message come in order";
    message.insert(message.end(), payload.begin(), payload.end());
    octets += payload.size();
    return {};
  }

  std::map<std::uint32_t, Segments> tagged;
  std::vector<std::vector<std::byte>> sends;
  std::size_t octets = 0;
};

// What the observer said about one capture.
struct Seen {
  std::size_t startups = 0;
  std::size_t ends = 0;
  std::array<std::size_t, 8> fpdus{};
  std::size_t nonzero_pads = 0;
  std::size_t payload = 0;  // octets in Writes and Sends
  std::size_t read_payload = 0;
  std::vector<std::string> faults;
  std::vector<ExpectedTerminate> terminates;
  std::vector<bool> siw_layout;
  bool operator==(const Seen&) const = default;

  void operator()(const engine::StartupSeen&) { ++startups; }
  void operator()(const engine::EndSeen&) { ++ends; }
  void operator()(const engine::FaultSeen& seen) {
    faults.push_back(std::string(seen.fault.clause) + ": " + std::string(seen.fault.sentence));
  }
  void operator()(const engine::SegmentSeen& seen) {
    const engine::InboundSegment& segment = seen.segment;
    ++fpdus.at(static_cast<std::size_t>(segment.opcode));
    nonzero_pads += segment.pad_nonzero ? 1 : 0;
    if (const auto* answer = std::get_if<engine::ReadAnswered>(&segment.delivery))
      read_payload += answer->payload.size();
    if (const auto* end = std::get_if<engine::TerminateDelivered>(&segment.delivery)) terminate(*end->report);
    if (places_payload(segment.opcode)) payload += segment.payload().size();
  }

 private:
  static bool places_payload(rdmap::Opcode opcode) {
    return opcode == rdmap::Opcode::kWrite || (opcode >= rdmap::Opcode::kSend && opcode < rdmap::Opcode::kTerminate);
  }
  void terminate(const rdmap::TerminateReport& report) {
    const rdmap::ErrorCode& error = report.meant().error;
    terminates.push_back({static_cast<std::uint8_t>(error.layer), error.type, error.code});
    siw_layout.push_back(report.siw_layout);
  }
};

void drain(Observer& observer, Seen& seen) {
  while (const auto one = observer.next()) std::visit(seen, *one);
}

// `piece`: how many octets at a time.
void replay(const Connection& connection, std::size_t piece, Recorder& at_server, Recorder& at_client, Seen& seen) {
  Observer observer(at_server, at_client);
  for (const Chunk& chunk : connection.chunks) {
    const auto from = chunk.from == Side::kClient ? Direction::kFromInitiator : Direction::kFromResponder;
    for (Bytes rest = chunk.octets; !rest.empty(); rest = rest.subspan(std::min(piece, rest.size()))) {
      observer.feed(from, rest.first(std::min(piece, rest.size())));
      drain(observer, seen);
    }
  }
  observer.end(Direction::kFromInitiator);
  observer.end(Direction::kFromResponder);
  drain(observer, seen);
}

struct Replayed {
  Seen seen{};
  Recorder at_server{};
  Recorder at_client{};
};

Replayed replay(std::string_view name, std::size_t piece = SIZE_MAX) {
  Replayed r;
  for (const Connection& connection : read_connections(sample_path(name))) {
    if (speaks_mpa(connection)) replay(connection, piece, r.at_server, r.at_client, r.seen);
  }
  return r;
}

class Replay : public testing::TestWithParam<Expectation> {};

TEST_P(Replay, FindsNoFaultAndAllThatIsThere) {
  const Expectation& expected = GetParam();
  const auto [seen, at_server, at_client] = replay(expected.name);
  EXPECT_THAT(seen.faults, testing::IsEmpty());
  EXPECT_EQ(seen.startups, 2 * expected.connections);
  // Rejected, MPA is over; otherwise each direction ends at an FPDU boundary, with no octet left.
  EXPECT_EQ(seen.ends, expected.name == "30-reject" ? 0 : 2 * expected.connections);
  EXPECT_EQ(seen.fpdus, expected.fpdus);
  EXPECT_EQ(seen.nonzero_pads, expected.nonzero_pads);
  EXPECT_EQ(seen.terminates, expected.terminates);
  EXPECT_THAT(seen.siw_layout, testing::Each(true)) << "every Terminate of siw departs from the RFC's layout";
  EXPECT_EQ(at_server.octets + at_client.octets, seen.payload) << "every octet is placed once";
}

// MPA-5.1-06: a stream may arrive in any pieces.
TEST_P(Replay, DoesNotDependOnTheChopping) {
  const Seen whole = replay(GetParam().name).seen;
  const bool small = whole.payload + whole.read_payload < 20000;
  EXPECT_EQ(replay(GetParam().name, small ? 1 : 331).seen, whole);
  EXPECT_EQ(replay(GetParam().name, 997).seen, whole);
}

INSTANTIATE_TEST_SUITE_P(Samples, Replay, testing::ValuesIn(expectations()),
                         [](const auto& info) { return test_name(info.param); });

// The octets of segments that must follow each other without a gap.
std::vector<std::byte> joined(const Segments& segments) {
  std::vector<std::byte> all;
  for (const auto& [offset, octets] : segments) {
    EXPECT_EQ(offset, segments.begin()->first + all.size());
    all.insert(all.end(), octets.begin(), octets.end());
  }
  return all;
}

std::string text_of(const std::vector<std::byte>& octets) {
  std::string text;
  for (const std::byte octet : octets) text += static_cast<char>(octet);
  return text;
}

// rping's server writes back what it has read: the text of the last round, in one buffer of the client.
TEST(ReplayedMemory, HoldsTheTextOfRping) {
  for (const char* name : {"01-rping", "40-crc-rping"}) {
    const auto [seen, at_server, at_client] = replay(name);
    ASSERT_EQ(at_client.tagged.size(), 1U);
    const std::string text = text_of(joined(at_client.tagged.begin()->second));
    EXPECT_EQ(text.size(), 64U);
    EXPECT_THAT(text, testing::StartsWith("rdma-ping-2: CDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrst"));
    EXPECT_EQ(seen.read_payload, 3 * 64U);
    EXPECT_EQ(at_server.sends.size(), 6U);
    EXPECT_EQ(at_client.sends.size(), 6U);
  }
}

// siwt fills its buffer with i ^ (i >> 8) and writes 1 MiB of it in 18 FPDUs.
TEST(ReplayedMemory, HoldsAPatternOfOneMebioctet) {
  const auto [seen, at_server, at_client] = replay("08-write-1m");
  ASSERT_EQ(at_server.tagged.size(), 1U);
  const auto octets = joined(at_server.tagged.begin()->second);
  ASSERT_EQ(octets.size(), std::size_t{1} << 20);
  for (std::size_t i = 0; i < octets.size(); ++i)
    ASSERT_EQ(octets[i], static_cast<std::byte>((i ^ (i >> 8)) & 0xff)) << i;
}

}  // namespace
}  // namespace weft::captures
