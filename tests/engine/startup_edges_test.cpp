// SPDX-License-Identifier: Apache-2.0
// What the user hears of a startup that stands still or fails, to the octet.
#include <gtest/gtest.h>

#include "tests/engine/rogue.hpp"

namespace weft::engine::test {
namespace {

Octets request() {
  const mpa::StartupFrame frame{.kind = mpa::FrameKind::kRequest, .crc = true, .revision = 1};
  Octets octets(frame.size());
  mpa::serialize(frame, octets);
  return octets;
}

// A hint for the next read: RFC 5044 figure 8 has 20 octets before the private data.
TEST(StartupEdges, AFrameUnderWayTellsWhatIsMissing) {
  Rogue rogue;
  const Octets frame = request();
  rogue.send({frame.begin(), frame.begin() + 13});
  EXPECT_EQ(rogue.end.last.want, ReceiveResult::Want::kMore);
  EXPECT_EQ(rogue.end.last.missing, 7U);
}

TEST(StartupEdges, AFrameThatIsNoneIsReportedWithItsOctet) {
  Rogue rogue;
  Octets frame = request();
  frame[17] = std::byte{9};  // the revision
  rogue.send(frame);
  const auto failed = rogue.end.first<StartupFailed>();
  ASSERT_TRUE(failed);
  EXPECT_EQ(failed->report.startup_octet, 17);
}

TEST(StartupEdges, AConnectionThatIsLostFailsOnce) {
  Rogue rogue;
  const Octets frame = request();
  rogue.send({frame.begin(), frame.begin() + 13});
  rogue.end.engine.connection_lost(rogue.now);
  rogue.end.poll();
  const auto failed = rogue.end.first<StartupFailed>();
  ASSERT_TRUE(failed);
  EXPECT_EQ(failed->report.mpa_fault, mpa::Fault::kStartupCutShort);
  rogue.end.engine.connection_lost(rogue.now);
  rogue.end.poll();
  EXPECT_EQ(rogue.end.count<StartupFailed>(), 1U);
  EXPECT_EQ(rogue.end.count<Closed>(), 1U);
}

// MPA-7.1.3-03: the Reply has been read, and the first FPDU is ours to send.
TEST(StartupEdges, WhoSpeaksBeforeTheInitiatorIsToldAtTheStreamsBeginning) {
  Config config = initiator();
  config.mpa.revision = 1;
  Rogue rogue(config);
  require(rogue.end.engine.connect({}).has_value(), "connect");
  rogue.flush();
  rogue.send_frame({.kind = mpa::FrameKind::kReply, .crc = true, .revision = 1});
  require(rogue.end.count<Established>() == 1, "established");
  rogue.tagged(rdmap::Opcode::kWrite, 0, 0);
  const auto error = rogue.end.first<ProtocolError>();
  ASSERT_TRUE(error);
  EXPECT_EQ(error->report.stream_offset, 0U);
}

// The peer offered ready-to-receive messages, and closes its direction instead of sending one.
TEST(StartupEdges, AFinInPlaceOfTheReadyToReceiveMessageEstablishesNothing) {
  Rogue rogue;
  rogue.send_frame(
      {.kind = mpa::FrameKind::kRequest,
       .crc = true,
       .revision = 2,
       .enhanced = mpa::EnhancedData{.peer_to_peer = true, .rtr = {false, true, true}, .ird = 8, .ord = 8}});
  require(rogue.end.engine.accept({}, {}).has_value(), "accept");
  rogue.flush();
  rogue.fin();
  ASSERT_EQ(rogue.end.count<StartupFailed>(), 1U);
  EXPECT_EQ(rogue.end.first<StartupFailed>()->report.mpa_fault, mpa::Fault::kClosedInStartup);
  EXPECT_EQ(rogue.end.count<PeerClosed>(), 0U);
  EXPECT_EQ(rogue.end.count<Established>(), 0U);
}

TEST(StartupEdges, NoAnswersAreAwaitedBeforeWorkWaitsForThem) {
  Rogue rogue;
  const Engine& engine = rogue.end.engine;
  EXPECT_FALSE(engine.awaits_answers());
  rogue.end.memory.add(1, 64);
  rogue.establish();
  EXPECT_FALSE(engine.awaits_answers());
  const rdmap::LocalSegment all{0, 64, 1};
  require(rogue.end.engine.post(read_of(1, all, 9, 0)).has_value(), "post");
  rogue.flush();
  EXPECT_FALSE(engine.awaits_answers()) << "nothing is after the Read";
  WorkRequest behind = write_of(2, all, 9, 0);
  behind.fence = true;
  require(rogue.end.engine.post(behind).has_value(), "post");
  EXPECT_TRUE(engine.awaits_answers());
}

// An error has ended the wait for the ready-to-receive message: it is over once, whichever time-out is the longer one.
TEST(StartupEdges, AStartUpThatFailedDoesNotTimeOutAsWell) {
  Config config = responder();
  config.startup_timeout = std::chrono::seconds(1);
  config.close_timeout = std::chrono::seconds(5);
  Rogue rogue(config);
  rogue.end.memory.add(1, 64);
  rogue.send_frame(
      {.kind = mpa::FrameKind::kRequest,
       .crc = true,
       .revision = 2,
       .enhanced = mpa::EnhancedData{.peer_to_peer = true, .rtr = {false, true, true}, .ird = 8, .ord = 8}});
  require(rogue.end.engine.accept({}, {}).has_value(), "accept");
  rogue.flush();
  rogue.tagged(rdmap::Opcode::kWrite, 99, 0, pattern(8));  // no such STag
  rogue.flush();
  ASSERT_EQ(rogue.end.count<StartupFailed>(), 1U);
  rogue.wait(std::chrono::seconds(2));
  EXPECT_EQ(rogue.end.count<StartupFailed>(), 1U);
  EXPECT_EQ(rogue.end.count<Closed>(), 0U) << "the peer has time to read the Terminate";
  rogue.wait(std::chrono::seconds(4));
  EXPECT_EQ(rogue.end.count<Closed>(), 1U);
}

// A batch may have an arena and no place in its list of pieces.
TEST(StartupEdges, AFrameWaitsForRoomInTheBatch) {
  Rogue rogue(initiator());
  require(rogue.end.engine.connect({}).has_value(), "connect");
  const Octets others(2 * TransmitBatch::kMaxPieces);
  TransmitBatch& batch = rogue.end.batch;
  for (std::size_t i = 0; i < others.size(); i += 2) batch.append_borrowed(Bytes(others).subspan(i, 1));
  EXPECT_TRUE(rogue.end.engine.fill(batch, {}));
  EXPECT_EQ(batch.size(), TransmitBatch::kMaxPieces);
  batch.consume(batch.size());
  EXPECT_TRUE(rogue.end.engine.has_output());
  rogue.flush();
  EXPECT_EQ(rogue.end.sent.size(), mpa::kFixedFrameSize + 4) << "with IRD and ORD (RFC 6581)";
}

}  // namespace
}  // namespace weft::engine::test
