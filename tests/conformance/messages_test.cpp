// SPDX-License-Identifier: Apache-2.0
// Segments joined to messages: what belongs together, and what is known of messages that the capture shows in part.
#include "conformance/messages.hpp"

#include <gmock/gmock.h>

#include <array>
#include <string>
#include <vector>

#include "rdmap/control.hpp"
#include "rdmap/opcodes.hpp"
#include "rdmap/read_request.hpp"

namespace weft::conformance {
namespace {

using rdmap::Opcode;

std::uint8_t rsvd_ulp(Opcode opcode) { return static_cast<std::uint8_t>(0x40 | std::to_underlying(opcode)); }

// FPDUs of one direction, one after the other, each in a packet of its own.
class Sender {
 public:
  explicit Sender(Direction from) : from_(from) {}

  void tagged(MessageJoiner& joiner, Opcode opcode, std::uint64_t offset, std::size_t payload, bool last) {
    take(joiner, ddp::TaggedHeader{last, rsvd_ulp(opcode), {0x1234}, {offset}}, payload);
  }
  void untagged(MessageJoiner& joiner, std::uint32_t queue, std::uint32_t msn, std::uint32_t offset,
                std::size_t payload, bool last) {
    const Opcode opcode = queue == 0 ? Opcode::kSend : Opcode::kReadRequest;
    take(joiner, ddp::UntaggedHeader{last, rsvd_ulp(opcode), 0, queue, {msn}, {offset}}, payload);
  }
  FpduSeen next(const ddp::Header& header, std::size_t payload) {
    ulpdu_.assign(ddp::header_size(header) + payload, std::byte{0x5a});
    ddp::serialize(header, ulpdu_);
    ++number_;
    return {.piece = {.from = from_, .first = {number_, 0}, .last = {number_, 0}}, .number = number_, .ulpdu = ulpdu_};
  }

 private:
  void take(MessageJoiner& joiner, const ddp::Header& header, std::size_t payload) {
    EXPECT_TRUE(joiner.take(next(header, payload)));
  }

  Direction from_;
  std::uint64_t number_ = 0;
  std::vector<std::byte> ulpdu_{};
};

// "write 1-3 300": first and last packet, octets; "?" in front of what has no beginning, after what has no end.
std::string told(const Message& message) {
  const auto* row = rdmap::find_opcode(message.opcode());
  return std::string(message.begun ? "" : "?") + std::string(row->name) + ' ' + std::to_string(message.first_packet) +
         '-' + std::to_string(message.last_packet) + ' ' + std::to_string(message.octets) + (message.ended ? "" : "?");
}

std::vector<std::string> all(MessageJoiner& joiner) {
  std::vector<std::string> messages;
  while (const auto message = joiner.next()) messages.push_back(told(*message));
  return messages;
}

using testing::ElementsAre;

class MessageJoinerTest : public testing::Test {
 protected:
  MessageJoiner joiner_{};
  Sender initiator_{Direction::kFromInitiator};
  Sender responder_{Direction::kFromResponder};
};

TEST_F(MessageJoinerTest, JoinsSegmentsOfBothDirections) {
  initiator_.tagged(joiner_, Opcode::kWrite, 100, 60, false);
  responder_.untagged(joiner_, 0, 1, 0, 8, true);
  initiator_.tagged(joiner_, Opcode::kWrite, 160, 40, true);
  EXPECT_THAT(all(joiner_), ElementsAre("Send 1-1 8", "RDMA Write 1-2 100"));
}

TEST_F(MessageJoinerTest, TellsMessagesOfOneQueueApart) {
  initiator_.untagged(joiner_, 0, 1, 0, 10, false);
  initiator_.untagged(joiner_, 1, 1, 0, 28, true);  // another queue may come in between
  initiator_.untagged(joiner_, 0, 1, 10, 10, true);
  initiator_.untagged(joiner_, 0, 2, 0, 0, true);
  EXPECT_THAT(all(joiner_), ElementsAre("RDMA Read Request 2-2 28", "Send 1-3 20", "Send 4-4 0"));
}

TEST_F(MessageJoinerTest, AMessageThatAnotherReplacesHasNoEnd) {
  initiator_.tagged(joiner_, Opcode::kWrite, 0, 50, false);
  initiator_.tagged(joiner_, Opcode::kWrite, 1000, 50, true);
  initiator_.untagged(joiner_, 0, 1, 0, 10, false);
  initiator_.untagged(joiner_, 0, 2, 0, 10, true);
  EXPECT_THAT(all(joiner_), ElementsAre("RDMA Write 1-1 50?", "RDMA Write 2-2 50", "Send 3-3 10?", "Send 4-4 10"));
}

TEST_F(MessageJoinerTest, BehindALossTheBeginningIsUnknown) {
  initiator_.tagged(joiner_, Opcode::kWrite, 0, 50, false);
  joiner_.break_off(Direction::kFromInitiator);
  initiator_.tagged(joiner_, Opcode::kWrite, 100, 50, true);
  initiator_.tagged(joiner_, Opcode::kWrite, 0, 50, true);
  joiner_.break_off(Direction::kFromInitiator);
  initiator_.untagged(joiner_, 0, 7, 0, 10, true);
  initiator_.untagged(joiner_, 0, 8, 10, 10, true);  // MO says so by itself
  EXPECT_THAT(all(joiner_), ElementsAre("RDMA Write 1-1 50?", "?RDMA Write 2-2 50", "RDMA Write 3-3 50", "Send 4-4 10",
                                        "?Send 5-5 10"));
}

TEST_F(MessageJoinerTest, WhatMpaDoesNotDeliverBelongsToNoMessage) {
  FpduSeen bad = initiator_.next(ddp::TaggedHeader{true, rsvd_ulp(Opcode::kWrite), {1}, {0}}, 10);
  bad.crc = CrcVerdict::kBad;
  EXPECT_FALSE(joiner_.take(bad));
  FpduSeen cut = initiator_.next(ddp::TaggedHeader{true, rsvd_ulp(Opcode::kWrite), {1}, {0}}, 10);
  cut.ulpdu = cut.ulpdu.first(5);
  EXPECT_FALSE(joiner_.take(cut));
  EXPECT_THAT(all(joiner_), ElementsAre());
}

TEST_F(MessageJoinerTest, KeepsTheFrontOfUntaggedMessages) {
  initiator_.untagged(joiner_, 0, 1, 0, 50, false);
  initiator_.untagged(joiner_, 0, 1, 50, 50, true);
  const auto message = joiner_.next();
  ASSERT_TRUE(message);
  EXPECT_EQ(message->octets, 100U);
  EXPECT_EQ(message->front().size(), Message::kFront);
  EXPECT_THAT(message->front(), testing::Each(std::byte{0x5a}));
}

// MPA2-5-03
class RtrTest : public MessageJoinerTest {
 protected:
  void ask(Direction from) {
    mpa::StartupFrame frame{.crc = true, .revision = 2};
    frame.enhanced = mpa::EnhancedData{.peer_to_peer = true};
    joiner_.take(StartupSeen{.piece = {.from = from}, .frame = frame});
  }
  std::vector<bool> rtr() {
    std::vector<bool> out;
    while (const auto message = joiner_.next()) out.push_back(message->rtr);
    return out;
  }
};

TEST_F(RtrTest, IsTheInitiatorsFirstMessageIfBothAskedForIt) {
  ask(Direction::kFromInitiator);
  ask(Direction::kFromResponder);
  responder_.untagged(joiner_, 0, 1, 0, 0, true);
  initiator_.tagged(joiner_, Opcode::kWrite, 0, 0, true);
  initiator_.tagged(joiner_, Opcode::kWrite, 0, 0, true);
  EXPECT_THAT(rtr(), ElementsAre(false, true, false));
}

TEST_F(RtrTest, IsNoneIfOneEndDidNotAskForIt) {
  ask(Direction::kFromInitiator);
  initiator_.tagged(joiner_, Opcode::kWrite, 0, 0, true);
  EXPECT_THAT(rtr(), ElementsAre(false));
}

TEST(ReadyToReceive, IsAMessageThatMovesNothing) {
  const auto of = [](Opcode opcode, std::uint64_t octets, Bytes front = {}) {
    return ready_to_receive(std::to_underlying(opcode), octets, front);
  };
  EXPECT_EQ(of(Opcode::kWrite, 0), mpa::Rtr::kWrite);
  EXPECT_EQ(of(Opcode::kSend, 0), mpa::Rtr::kSend);
  EXPECT_EQ(of(Opcode::kSendSolicited, 0), mpa::Rtr::kSend);
  EXPECT_EQ(of(Opcode::kSendInvalidate, 0), std::nullopt);
  EXPECT_EQ(of(Opcode::kWrite, 1), std::nullopt);
  EXPECT_EQ(of(Opcode::kTerminate, 0), std::nullopt);
  std::array<std::byte, rdmap::ReadRequestLayout::kSize> read{};
  EXPECT_EQ(of(Opcode::kReadRequest, read.size(), read), mpa::Rtr::kRead);
  EXPECT_EQ(of(Opcode::kReadRequest, 27, Bytes(read).first(27)), std::nullopt);
  rdmap::ReadRequestLayout::Size::put(read, 1);
  EXPECT_EQ(of(Opcode::kReadRequest, read.size(), read), std::nullopt);
}

}  // namespace
}  // namespace weft::conformance
