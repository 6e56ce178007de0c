// SPDX-License-Identifier: Apache-2.0
// What TCP does on its way: retransmissions, reordering, overlaps, gaps, and ends of all kinds.
#include "conformance/tcp_connections.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "tests/conformance/tcp_history.hpp"

namespace weft::conformance::testing {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr std::uint32_t kClient = 1000;  // initial sequence numbers
constexpr std::uint32_t kServer = 5000;
constexpr std::uint32_t kHeaders = 40;  // IPv4 and TCP

void handshake(TcpHistory& history, std::uint32_t client = kClient, std::uint32_t server = kServer) {
  history.take({.sequence = client, .syn = true, .ack = false, .mss = 1460});
  history.take({.from_server = true, .sequence = server, .syn = true, .acknowledgement = client + 1, .mss = 9000});
  history.take({.sequence = client + 1, .acknowledgement = server + 1});
}

void send(TcpHistory& history, std::uint32_t offset, std::string_view payload) {
  history.take({.sequence = kClient + 1 + offset, .payload = payload, .acknowledgement = kServer + 1});
}

// The server says that it has `octets` octets.
void acknowledge(TcpHistory& history, std::uint32_t octets, int times = 1) {
  for (int i = 0; i < times; ++i) {
    history.take({.from_server = true, .sequence = kServer + 1, .acknowledgement = kClient + 1 + octets});
  }
}

TEST(TcpConnections, AQuietConnection) {
  TcpHistory history;
  handshake(history);
  send(history, 0, "hello ");
  history.take({.from_server = true, .sequence = kServer + 1, .payload = "hi", .acknowledgement = kClient + 7});
  send(history, 6, "again");
  history.take({.sequence = kClient + 12, .fin = true, .acknowledgement = kServer + 3});
  history.take({.from_server = true, .sequence = kServer + 3, .fin = true, .acknowledgement = kClient + 13});
  history.take({.sequence = kClient + 13, .acknowledgement = kServer + 4});
  history.finish();

  ASSERT_EQ(history.connections(), 1U);
  const auto& opened = history.connection().opened;
  ASSERT_TRUE(opened);
  EXPECT_TRUE(opened->handshake_seen);
  EXPECT_EQ(opened->mss_of_first, 1460);
  EXPECT_EQ(opened->mss_of_second, 9000);
  const auto& client = history.from(End::kFirst);
  EXPECT_EQ(client.stream, "hello again");
  EXPECT_EQ(client.places[0], (Place{4, kHeaders}));
  EXPECT_EQ(client.places[10], (Place{6, kHeaders + 4}));
  ASSERT_THAT(client.segments, SizeIs(2));
  EXPECT_EQ(client.segments[1].stream_offset, 6U);
  EXPECT_EQ(client.segments[1].size, 5U);
  EXPECT_FALSE(client.segments[1].retransmission);
  ASSERT_THAT(client.closed, SizeIs(1));
  EXPECT_EQ(client.closed[0].how, Closing::kFin);
  EXPECT_EQ(client.closed[0].packet, 7U);
  EXPECT_EQ(history.from(End::kSecond).stream, "hi");
  EXPECT_THAT(history.from(End::kSecond).closed, SizeIs(1));
  EXPECT_THAT(client.gaps, IsEmpty());

  const auto& over = history.connection().over;
  ASSERT_TRUE(over);
  EXPECT_FALSE(over->evicted);
  EXPECT_EQ(over->info.first.address, "10.0.0.1");
  EXPECT_EQ(over->info.first.port, 40000);
  EXPECT_EQ(over->info.second.address, "10.0.0.2");
  EXPECT_EQ(over->info.second.port, 7471);
  EXPECT_EQ(over->info.first_packet, 1U);
  EXPECT_EQ(over->info.last_packet, 9U);
  EXPECT_EQ(over->info.first_time, 1000);
  EXPECT_EQ(over->info.last_time, 9000);
  EXPECT_EQ(over->info.packets, 9U);
}

TEST(TcpConnections, TakesNothingWhileEventsWait) {
  TcpConnections tcp;
  const Octets ip = ipv4(Segment{.sequence = 1, .payload = "x"});
  const Packet packet{
      .number = 1, .link = LinkType::kRawIp, .captured = ip, .original_size = static_cast<std::uint32_t>(ip.size())};
  EXPECT_TRUE(tcp.take(packet));
  EXPECT_FALSE(tcp.take(packet));
  EXPECT_NE(tcp.info(0), nullptr);
  while (tcp.next()) continue;
  EXPECT_TRUE(tcp.take(packet));
  EXPECT_EQ(tcp.counts().tcp, 2U);
}

TEST(TcpConnections, RetransmissionsAreToldAndNotRepeated) {
  TcpHistory history;
  handshake(history);
  send(history, 0, "abcd");
  send(history, 0, "abcd");
  send(history, 2, "cdef");  // half of it new
  history.finish();
  const auto& client = history.from(End::kFirst);
  EXPECT_EQ(client.stream, "abcdef");
  EXPECT_EQ(client.places[4], (Place{6, kHeaders + 2}));
  ASSERT_THAT(client.segments, SizeIs(3));
  EXPECT_TRUE(client.segments[1].retransmission);
  EXPECT_FALSE(client.segments[2].retransmission);
}

TEST(TcpConnections, ReorderedSegmentsKeepTheirPackets) {
  TcpHistory history;
  handshake(history);
  send(history, 4, "ef");
  send(history, 2, "cd");
  EXPECT_EQ(history.from(End::kFirst).stream, "");
  send(history, 0, "ab");
  history.finish();
  const auto& client = history.from(End::kFirst);
  EXPECT_EQ(client.stream, "abcdef");
  EXPECT_EQ(client.runs, 3U);
  EXPECT_EQ(client.places[0], (Place{6, kHeaders}));
  EXPECT_EQ(client.places[2], (Place{5, kHeaders}));
  EXPECT_EQ(client.places[5], (Place{4, kHeaders + 1}));
  EXPECT_THAT(client.gaps, IsEmpty());
}

TEST(TcpConnections, TheFirstCopyOfAnOctetWins) {
  TcpHistory history;
  handshake(history);
  send(history, 4, "EF");
  send(history, 2, "cdefghij");  // larger, and covers what waits
  send(history, 6, "XXXX");
  send(history, 0, "ab##");
  history.finish();
  const auto& client = history.from(End::kFirst);
  EXPECT_EQ(client.stream, "abcdEFghij");
  EXPECT_EQ(client.places[3], (Place{5, kHeaders + 1}));
  EXPECT_EQ(client.places[4], (Place{4, kHeaders}));
  EXPECT_EQ(client.places[6], (Place{5, kHeaders + 4}));
  EXPECT_TRUE(client.segments[2].retransmission);
}

TEST(TcpConnections, SequenceNumbersWrap) {
  TcpHistory history;
  handshake(history, 0xfffffffdU);
  const auto send_at = [&](std::uint32_t sequence, std::string_view payload) {
    history.take({.sequence = sequence, .payload = payload, .acknowledgement = kServer + 1});
  };
  send_at(0xfffffffeU, "ab");
  send_at(4, "gh");
  send_at(2, "ef");
  send_at(0, "cd");
  send_at(0xfffffffeU, "ab");
  history.finish();
  EXPECT_EQ(history.from(End::kFirst).stream, "abcdefgh");
  EXPECT_TRUE(history.from(End::kFirst).segments.back().retransmission);
}

TEST(TcpConnections, AnAcknowledgedHoleIsAGap) {
  TcpHistory history;
  handshake(history);
  send(history, 0, "ab");
  send(history, 5, "fg");  // "cde" was not captured
  acknowledge(history, 7, 250);
  EXPECT_THAT(history.from(End::kFirst).gaps, IsEmpty());  // the directions may be out of step for some packets
  acknowledge(history, 7, 10);
  const auto& client = history.from(End::kFirst);
  EXPECT_EQ(client.stream, "ab???fg");
  ASSERT_THAT(client.gaps, SizeIs(1));
  EXPECT_EQ(client.gaps[0].stream_offset, 2U);
  EXPECT_EQ(client.gaps[0].size, 3U);
  EXPECT_GT(client.gaps[0].packet, 8U);
  send(history, 7, "hi");
  EXPECT_EQ(client.stream, "ab???fghi");
}

TEST(TcpConnections, ALateAcknowledgementsOctetsAreNoGap) {
  TcpHistory history;
  handshake(history);
  acknowledge(history, 4, 5);  // captured before what it acknowledges
  send(history, 2, "cd");
  send(history, 0, "ab");
  history.finish();
  EXPECT_EQ(history.from(End::kFirst).stream, "abcd");
}

TEST(TcpConnections, AnAcknowledgementOfWhatWasNeverSentIsForgottenWithTheNext) {
  TcpHistory history;
  handshake(history);
  acknowledge(history, 1'000'000);
  for (std::uint32_t i = 0; i < 20; ++i) {
    send(history, 2 * i, "xy");
    acknowledge(history, 2 * i + 2);
  }
  history.finish();
  EXPECT_EQ(history.from(End::kFirst).stream.size(), 40U);
  EXPECT_THAT(history.from(End::kFirst).gaps, IsEmpty());
}

TEST(TcpConnections, ManyGapsDoNotPileUp) {
  TcpHistory history;
  handshake(history);
  for (std::uint32_t i = 0; i < 300; ++i) {
    if (i % 3 != 1) send(history, 2 * i, "xy");  // every third one is lost
    acknowledge(history, 2 * i + 2);
    EXPECT_GE(history.from(End::kFirst).stream.size() + 210, 2 * i);
  }
  history.finish();
  const auto& client = history.from(End::kFirst);
  EXPECT_EQ(client.stream.size(), 600U);
  EXPECT_THAT(client.gaps, SizeIs(100));
}

TEST(TcpConnections, AHoleAtTheEndOfTheCaptureIsAGap) {
  TcpHistory history;
  handshake(history);
  send(history, 2, "cd");
  EXPECT_EQ(history.from(End::kFirst).stream, "");
  history.finish();
  EXPECT_EQ(history.from(End::kFirst).stream, "??cd");
}

TEST(TcpConnections, WhatWasAcknowledgedAndNeverCapturedIsAGapAtTheEnd) {
  TcpHistory history;
  handshake(history);
  send(history, 0, "ab");
  acknowledge(history, 5);
  history.finish();
  EXPECT_EQ(history.from(End::kFirst).stream, "ab???");
}

TEST(TcpConnections, AFinThatWasNotCapturedIsNoGap) {
  TcpHistory history;
  handshake(history);
  send(history, 0, "ab");
  acknowledge(history, 3, 20);  // the FIN counts as an octet
  history.finish();
  EXPECT_EQ(history.from(End::kFirst).stream, "ab");
}

TEST(TcpConnections, ABoundOnWhatWaitsMakesAGap) {
  TcpHistory history({.buffered_per_direction = 4096});
  handshake(history);
  const std::string payload(1000, 'x');
  for (std::uint32_t i = 1; i < 5; ++i) send(history, 1000 * i, payload);
  const auto& client = history.from(End::kFirst);
  ASSERT_THAT(client.gaps, SizeIs(1));
  EXPECT_EQ(client.gaps[0].size, 1000U);
  EXPECT_EQ(client.stream.size(), 5000U);
  send(history, 5000, "and on");
  EXPECT_EQ(client.stream.size(), 5006U);
}

TEST(TcpConnections, TheBoundCountsBookkeeping) {
  TcpHistory history({.buffered_per_direction = 4096});
  handshake(history);
  for (std::uint32_t i = 1; i < 100; ++i) send(history, 2 * i, "x");  // one octet each, with a hole before it
  EXPECT_FALSE(history.from(End::kFirst).gaps.empty());
}

TEST(TcpConnections, ABoundOnAllConnectionsTogether) {
  TcpHistory history({.buffered = 4096});
  const std::string payload(1000, 'x');
  for (std::uint16_t port = 1; port <= 5; ++port) {
    history.take({.sequence = 0, .syn = true, .ack = false, .client_port = port});
    history.take({.from_server = true, .sequence = 9, .syn = true, .acknowledgement = 1, .client_port = port});
    history.take({.sequence = 101, .payload = payload, .client_port = port});
  }
  EXPECT_THAT(history.from(End::kFirst, 0).gaps, IsEmpty());
  EXPECT_THAT(history.from(End::kFirst, 4).gaps, SizeIs(1));
}

TEST(TcpConnections, TheSnapLengthCutsAGap) {
  TcpHistory history;
  handshake(history);
  const Octets ip = ipv4(Segment{.sequence = kClient + 1, .payload = "abcdef"});
  history.take_ip(ip, ip.size() - 2);
  send(history, 6, "gh");
  const auto& client = history.from(End::kFirst);
  EXPECT_EQ(client.stream, "abcd??gh");
  EXPECT_EQ(client.segments[0].size, 6U);
  history.finish();
}

TEST(TcpConnections, TheSnapLengthCutsOutOfOrderToo) {
  TcpHistory history;
  handshake(history);
  const Octets ip = ipv4(Segment{.sequence = kClient + 3, .payload = "cdef"});
  history.take_ip(ip, ip.size() - 2);
  send(history, 6, "gh");
  EXPECT_EQ(history.from(End::kFirst).stream, "");
  send(history, 0, "ab");
  history.finish();
  EXPECT_EQ(history.from(End::kFirst).stream, "abcd??gh");
}

TEST(TcpConnections, APacketThatClaimsGigabytes) {
  TcpHistory history;
  handshake(history);
  Octets ip = ipv4(Segment{.sequence = kClient + 1, .payload = "ab"});
  ip[2] = ip[3] = std::byte{0};  // the length is that of the packet
  history.take({.number = 4, .link = LinkType::kRawIp, .captured = ip, .original_size = UINT32_MAX});
  EXPECT_LE(history.from(End::kFirst).stream.size(), std::size_t{1} << 20);
}

// What was cut off ends where something else begins: no packet may cost more than it has octets.
TEST(TcpConnections, CutOutOfOrderBetweenOthers) {
  TcpHistory history;
  handshake(history);
  send(history, 8, "ij");
  const Octets ip = ipv4(Segment{.sequence = kClient + 3, .payload = "cdefgh##kl"});
  history.take_ip(ip, ip.size() - 8);
  EXPECT_FALSE(history.from(End::kFirst).segments.back().retransmission);
  history.take_ip(ip, ip.size() - 8);
  EXPECT_TRUE(history.from(End::kFirst).segments.back().retransmission);
  send(history, 0, "ab");
  send(history, 10, "kl");
  history.finish();
  EXPECT_EQ(history.from(End::kFirst).stream, "abcd????ijkl");
}

TEST(TcpConnections, CutWhereSomethingElseWaits) {
  TcpHistory history;
  handshake(history);
  send(history, 4, "efghij");
  const Octets ip = ipv4(Segment{.sequence = kClient + 3, .payload = "cdefghijkl"});
  history.take_ip(ip, ip.size() - 7);  // "cde"
  send(history, 0, "ab");
  send(history, 10, "kl");
  history.finish();
  EXPECT_EQ(history.from(End::kFirst).stream, "abcdefghijkl");
}

TEST(TcpConnections, OnlyTheHeadersWereCaptured) {
  TcpHistory history;
  handshake(history);
  const Octets ip = ipv4(Segment{.sequence = kClient + 1, .payload = "abcdef"});
  history.take_ip(ip, kHeaders);
  EXPECT_EQ(history.from(End::kFirst).stream, "??????");
}

TEST(TcpConnections, AFinWaitsForTheOctetsBeforeIt) {
  TcpHistory history;
  handshake(history);
  history.take({.sequence = kClient + 3, .payload = "cd", .fin = true, .acknowledgement = kServer + 1});
  EXPECT_THAT(history.from(End::kFirst).closed, IsEmpty());
  send(history, 0, "ab");
  const auto& client = history.from(End::kFirst);
  EXPECT_EQ(client.stream, "abcd");
  ASSERT_THAT(client.closed, SizeIs(1));
  EXPECT_EQ(client.closed[0].how, Closing::kFin);
  send(history, 4, "beyond the end");
  EXPECT_EQ(client.stream, "abcd");
}

TEST(TcpConnections, AResetEndsBothDirections) {
  TcpHistory history;
  handshake(history);
  send(history, 2, "cd");
  history.take({.from_server = true, .sequence = kServer + 1, .rst = true, .acknowledgement = kClient + 1});
  for (const End end : {End::kFirst, End::kSecond}) {
    ASSERT_THAT(history.from(end).closed, SizeIs(1));
    EXPECT_EQ(history.from(end).closed[0].how, Closing::kReset);
    EXPECT_EQ(history.from(end).closed[0].packet, 5U);
  }
  EXPECT_EQ(history.from(End::kFirst).stream, "??cd");
  send(history, 4, "too late");
  EXPECT_EQ(history.from(End::kFirst).stream, "??cd");
}

// RFC 5961 section 3: its receiver answers by a challenge ACK, and takes nothing else as the end.
TEST(TcpConnections, AResetWithAnotherNumberCountsIfNothingFollows) {
  for (const std::uint32_t number : {kServer, kServer + 200}) {
    for (const bool goes_on : {false, true}) {
      TcpHistory history;
      handshake(history);
      history.take({.from_server = true, .sequence = number, .ack = false, .rst = true});
      send(history, 0, "ab");
      if (goes_on) acknowledge(history, 2);
      send(history, 2, "cd");
      history.finish();
      EXPECT_EQ(history.from(End::kFirst).stream, "abcd");
      EXPECT_THAT(history.from(End::kFirst).closed, SizeIs(goes_on ? 0 : 1));
    }
  }
}

TEST(TcpConnections, AResetOfAnOlderConnectionIsNone) {
  TcpHistory history;
  handshake(history);
  history.take({.from_server = true, .sequence = kServer + 0x40000000U, .ack = false, .rst = true});
  send(history, 0, "ab");
  EXPECT_EQ(history.from(End::kFirst).stream, "ab");
}

TEST(TcpConnections, ARefusedConnection) {
  TcpHistory history;
  history.take({.sequence = kClient, .syn = true, .ack = false});
  history.take({.from_server = true, .sequence = 0, .rst = true, .acknowledgement = kClient + 1});
  history.finish();
  EXPECT_TRUE(history.connection().opened);
  EXPECT_EQ(history.from(End::kFirst).stream, "");
  EXPECT_THAT(history.from(End::kSecond).closed, SizeIs(1));
}

TEST(TcpConnections, KeepAlivesBringNothing) {
  TcpHistory history;
  handshake(history);
  send(history, 0, "abcd");
  acknowledge(history, 4);
  send(history, 3, "#");  // one garbage octet
  send(history, 3, "");
  send(history, 4, "ef");
  history.finish();
  EXPECT_EQ(history.from(End::kFirst).stream, "abcdef");
}

TEST(TcpConnections, AKeepAliveBehindAHoleIsNotMistakenForItsLastOctet) {
  TcpHistory history;
  handshake(history);
  send(history, 2, "cd");  // "ab" comes late
  acknowledge(history, 4);
  send(history, 3, "#");  // keep-alive
  send(history, 0, "ab");
  send(history, 4, "e");
  history.finish();
  EXPECT_EQ(history.from(End::kFirst).stream, "abcde");
}

// RFC 9293 section 3.8.4: the octet of a keep-alive is the last one that was sent. Octets that were never seen are data,
// also those that the other end acknowledged: its packets may have been captured early.
TEST(TcpConnections, OneOctetThatFillsAHoleIsData) {
  for (const bool last : {false, true}) {
    TcpHistory history;
    handshake(history);
    send(history, 2, last ? "c" : "cd");
    acknowledge(history, 4);
    if (last) send(history, 3, "d");
    send(history, 1, "b");
    send(history, 0, "a");
    history.finish();
    EXPECT_EQ(history.from(End::kFirst).stream, "abcd");
    EXPECT_THAT(history.from(End::kFirst).gaps, IsEmpty());
  }
}

// Both ends wait for one packet of the client. Meanwhile the server's packets come out of order, eight at a time: each
// hole is filled within eight packets, so none of them proves a loss.
TEST(TcpConnections, HolesThatAreFilledProveNoLoss) {
  constexpr std::uint32_t kPieces = 400;
  std::mt19937 random(1);
  std::string stream(std::size_t{2} * kPieces, ' ');
  for (char& c : stream) c = static_cast<char>('a' + random() % 26);
  std::vector<std::uint32_t> pieces(kPieces);
  std::iota(pieces.begin(), pieces.end(), 0U);
  for (auto group = pieces.begin(); group != pieces.end(); group += 8) std::shuffle(group, group + 8, random);
  TcpHistory history;
  handshake(history);
  history.take({.sequence = kClient + 5, .payload = "last", .acknowledgement = kServer + 1 + 2 * kPieces});
  for (const std::uint32_t piece : pieces) {
    history.take({.from_server = true,
                  .sequence = kServer + 1 + 2 * piece,
                  .payload = std::string_view(stream).substr(std::size_t{2} * piece, 2),
                  .acknowledgement = kClient + 5});
  }
  send(history, 0, "late");
  history.finish();
  EXPECT_EQ(history.from(End::kFirst).stream, "latelast");
  EXPECT_EQ(history.from(End::kSecond).stream, stream);
  EXPECT_THAT(history.from(End::kSecond).gaps, IsEmpty());
}

TEST(TcpConnections, AZeroWindowProbeCarriesItsOctet) {
  TcpHistory history;
  handshake(history);
  send(history, 0, "abcd");
  send(history, 4, "e");
  acknowledge(history, 4);
  send(history, 4, "efgh");
  history.finish();
  EXPECT_EQ(history.from(End::kFirst).stream, "abcdefgh");
}

TEST(TcpConnections, ConnectionsDoNotMix) {
  TcpHistory history;
  constexpr std::uint16_t kConnections = 200;
  for (std::uint32_t round = 0; round < 10; ++round) {
    for (std::uint16_t port = 1; port <= kConnections; ++port) {
      const std::string payload = std::to_string(port) + ' ';
      if (round == 0) history.take({.sequence = port, .syn = true, .ack = false, .client_port = port});
      history.take({.sequence = static_cast<std::uint32_t>(port + 1 + round * payload.size()),
                    .payload = payload,
                    .client_port = port});
    }
  }
  history.finish();
  ASSERT_EQ(history.connections(), kConnections);
  for (std::size_t i = 0; i < kConnections; ++i) {
    std::string expected;
    for (int round = 0; round < 10; ++round) expected += std::to_string(i + 1) + ' ';
    EXPECT_EQ(history.from(End::kFirst, i).stream, expected);
  }
}

TEST(TcpConnections, ANewSynIsANewConnection) {
  TcpHistory history;
  handshake(history);
  send(history, 0, "old");
  history.take({.sequence = kClient, .syn = true, .ack = false});  // the same again: sent twice
  EXPECT_EQ(history.connections(), 1U);
  handshake(history, 70'000'000, 90'000'000);
  history.take({.sequence = 70'000'001, .payload = "new", .acknowledgement = 90'000'001});
  EXPECT_EQ(history.connections(), 2U);
  EXPECT_EQ(history.from(End::kFirst, 1).stream, "new");
  EXPECT_FALSE(history.connection(0).over);
  send(history, 3, "er");  // the directions may be out of step
  EXPECT_EQ(history.from(End::kFirst, 0).stream, "older");
  for (int i = 0; i < 64; ++i)
    history.take({.from_server = true, .sequence = 90'000'001, .acknowledgement = 70'000'004});
  EXPECT_TRUE(history.connection(0).over);
  history.finish();
  EXPECT_EQ(history.from(End::kFirst, 0).stream, "older");
  EXPECT_EQ(history.from(End::kFirst, 1).stream, "new");
  EXPECT_EQ(history.connections(), 2U);
}

TEST(TcpConnections, TheSameNumberBehindTheEndOpensANewConnection) {
  TcpHistory history;
  handshake(history);
  send(history, 0, "one");
  history.take({.sequence = kClient + 4, .fin = true, .acknowledgement = kServer + 1});
  history.take({.from_server = true, .sequence = kServer + 1, .fin = true, .acknowledgement = kClient + 5});
  handshake(history);
  send(history, 0, "two");
  history.finish();
  ASSERT_EQ(history.connections(), 2U);
  EXPECT_EQ(history.from(End::kFirst, 0).stream, "one");
  EXPECT_EQ(history.from(End::kFirst, 1).stream, "two");
}

// RFC 5961 section 4: a SYN that the other end does not accept opens nothing.
TEST(TcpConnections, AChallengeAcknowledgmentKeepsTheConnection) {
  TcpHistory history;
  handshake(history);
  send(history, 0, "ab");
  history.take({.sequence = 70000, .payload = "stray", .syn = true, .ack = false});
  acknowledge(history, 2);
  send(history, 2, "cd");
  EXPECT_EQ(history.from(End::kFirst).stream, "abcd");
  EXPECT_EQ(history.connections(), 1U);
  history.finish();
  EXPECT_EQ(history.from(End::kFirst).stream, "abcd");
  EXPECT_EQ(history.connections(), 2U);  // the attempt that nobody answered
}

TEST(TcpConnections, AnEndThatForgotTheConnectionOpensAnother) {
  TcpHistory history;
  handshake(history);
  send(history, 0, "ab");
  history.take({.sequence = 70000, .syn = true, .ack = false});
  acknowledge(history, 2);
  history.take({.sequence = kClient + 3, .ack = false, .rst = true});
  handshake(history, 70000, 90000);
  history.take({.sequence = 70001, .payload = "new", .acknowledgement = 90001});
  history.finish();
  ASSERT_EQ(history.connections(), 2U);
  EXPECT_EQ(history.from(End::kFirst, 0).stream, "ab");
  ASSERT_THAT(history.from(End::kFirst, 0).closed, SizeIs(1));
  EXPECT_EQ(history.from(End::kFirst, 0).closed[0].how, Closing::kReset);
  EXPECT_EQ(history.from(End::kFirst, 1).stream, "new");
}

// Only the client's packets were captured, so nothing accepts the attempt but what the client sends next.
TEST(TcpConnections, AnAttemptThatGoesOnIsAConnection) {
  TcpHistory history;
  history.take({.sequence = kClient, .syn = true, .ack = false});
  send(history, 0, "ab");
  history.take({.sequence = 70000, .syn = true, .ack = false});
  history.take({.sequence = 70001, .payload = "new", .acknowledgement = 90001});
  history.finish();
  ASSERT_EQ(history.connections(), 2U);
  EXPECT_EQ(history.from(End::kFirst, 0).stream, "ab");
  EXPECT_EQ(history.from(End::kFirst, 1).stream, "new");
}

TEST(TcpConnections, ASynBehindAnIdleConnectionIsANewOne) {
  TcpHistory history;
  history.take({.sequence = 333, .acknowledgement = 777});
  handshake(history);
  history.finish();
  EXPECT_EQ(history.connections(), 2U);
}

TEST(TcpConnections, TheCaptureBeginsInTheMiddle) {
  TcpHistory history;
  history.take({.from_server = true, .sequence = 777, .payload = "middle", .acknowledgement = 333});
  history.take({.sequence = 333, .payload = "answer", .acknowledgement = 783});
  history.take({.from_server = true, .sequence = 770, .payload = "before ", .acknowledgement = 333});  // sent again
  history.take({.from_server = true, .sequence = 783, .payload = "!", .acknowledgement = 339});
  history.finish();
  ASSERT_EQ(history.connections(), 1U);
  EXPECT_FALSE(history.connection().opened->handshake_seen);
  EXPECT_FALSE(history.connection().opened->mss_of_first);
  EXPECT_EQ(history.from(End::kFirst).stream, "middle!");
  EXPECT_EQ(history.from(End::kSecond).stream, "answer");
  EXPECT_EQ(history.connection().over->info.first.port, 7471);
}

TEST(TcpConnections, AKeepAliveIsNotTheBeginning) {
  TcpHistory history;
  history.take({.sequence = 500, .acknowledgement = 900});
  history.take({.sequence = 499, .payload = "#", .acknowledgement = 900});
  history.take({.sequence = 500, .payload = "ab", .acknowledgement = 900});
  history.finish();
  EXPECT_EQ(history.from(End::kFirst).stream, "ab");
}

TEST(TcpConnections, OneSynIsEnoughToCountFromTheBeginning) {
  TcpHistory history;
  history.take({.from_server = true, .sequence = kServer, .syn = true, .acknowledgement = kClient + 1, .mss = 1000});
  send(history, 2, "cd");
  send(history, 0, "ab");
  history.finish();
  const auto& opened = history.connection().opened;
  EXPECT_TRUE(opened->handshake_seen);
  EXPECT_EQ(opened->mss_of_first, 1000);
  EXPECT_EQ(history.from(End::kSecond).stream, "abcd");
}

TEST(TcpConnections, TheOldestConnectionGivesWay) {
  TcpHistory history({.connections = 2});
  for (std::uint16_t port = 1; port <= 3; ++port) {
    history.take({.sequence = 1, .payload = "x", .client_port = port});
    if (port == 2) history.take({.sequence = 2, .payload = "y", .client_port = 1});
  }
  ASSERT_TRUE(history.connection(1).over);
  EXPECT_TRUE(history.connection(1).over->evicted);
  EXPECT_FALSE(history.connection(0).over);
  EXPECT_FALSE(history.connection(2).over);
  EXPECT_EQ(history.tcp().info(1), nullptr);
  EXPECT_NE(history.tcp().info(2), nullptr);
}

TEST(TcpConnections, AStraySegmentIsNotTheStream) {
  TcpHistory history;
  handshake(history);
  send(history, 0, "ab");
  send(history, 0x60000000, "stray");
  send(history, 2, "cd");
  history.finish();
  EXPECT_EQ(history.from(End::kFirst).stream, "abcd");
}

// Two far segments, one after the other: the capture has lost more than a window.
TEST(TcpConnections, TheCapturePausedForGigabytes) {
  constexpr std::uint32_t kFar = 0x60000000;
  TcpConnections tcp;
  std::uint64_t number = 0;
  std::uint64_t gap = 0;
  std::string stream;
  for (const auto& [offset, payload] : {std::pair{0U, "ab"}, {kFar, "lost"}, {kFar + 4, "cd"}, {kFar + 6, "ef"}}) {
    const Octets ip = ipv4(Segment{.sequence = kClient + offset, .payload = payload});
    const auto size = static_cast<std::uint32_t>(ip.size());
    ASSERT_TRUE(tcp.take({.number = ++number, .link = LinkType::kRawIp, .captured = ip, .original_size = size}));
    while (const auto event = tcp.next()) {
      const auto* of_tcp = std::get_if<TcpEvent>(&event->event);
      if (const auto* told = std::get_if<TcpGap>(of_tcp)) gap += told->size;
      if (const auto* told = std::get_if<TcpOctets>(of_tcp)) stream += text(told->octets);
    }
  }
  EXPECT_EQ(stream, "abcdef");
  EXPECT_EQ(gap, kFar + 4 - 2);
}

// A FIN waits for octets before it when the capture pauses: with these it is over, and so is the stream.
TEST(TcpConnections, NothingFollowsAFinAcrossAPause) {
  TcpHistory history;
  handshake(history);
  send(history, 0, "ab");
  history.take({.sequence = kClient + 1 + 4, .fin = true, .acknowledgement = kServer + 1});
  send(history, 0x60000000, "far");
  send(history, 0x60000003, "away");
  history.finish();
  const auto& client = history.from(End::kFirst);
  EXPECT_EQ(client.stream, "ab??");
  EXPECT_THAT(client.closed, SizeIs(1));
  EXPECT_THAT(client.segments, SizeIs(1));
}

TEST(TcpConnections, DataOnASyn) {
  TcpHistory history;
  history.take({.sequence = kClient, .payload = "fast", .syn = true, .ack = false});
  send(history, 4, " open");
  history.finish();
  EXPECT_EQ(history.from(End::kFirst).stream, "fast open");
}

// RFC 7413: data on both SYNs, in either order of the capture.
TEST(TcpConnections, DataOnBothSyns) {
  const Segment syn{.sequence = kClient, .payload = "fast", .syn = true, .ack = false, .mss = 1460};
  const Segment answer{.from_server = true,
                       .sequence = kServer,
                       .payload = "answer",
                       .syn = true,
                       .acknowledgement = kClient + 5,
                       .mss = 9000};
  for (const bool swapped : {false, true}) {
    TcpHistory history;
    history.take(swapped ? answer : syn);
    history.take(swapped ? syn : answer);
    history.take({.sequence = kClient + 5, .payload = " open", .acknowledgement = kServer + 7});
    history.finish();
    ASSERT_EQ(history.connections(), 1U);
    const End client = swapped ? End::kSecond : End::kFirst;
    EXPECT_EQ(history.from(client).stream, "fast open");
    EXPECT_EQ(history.from(opposite(client)).stream, "answer");
    const auto& opened = *history.connection().opened;
    EXPECT_TRUE(opened.handshake_seen);
    EXPECT_FALSE(opened.syn_missing);
    EXPECT_EQ(swapped ? opened.mss_of_second : opened.mss_of_first, 1460);
    EXPECT_EQ(swapped ? opened.mss_of_first : opened.mss_of_second, 9000);
    EXPECT_EQ(history.from(client).acknowledged, (std::vector<std::optional<std::uint64_t>>{0, 6}));
    EXPECT_EQ(history.from(opposite(client)).acknowledged, (std::vector<std::optional<std::uint64_t>>{4}));
  }
}

TEST(TcpConnections, DataOnASynThatWereNotTakenAreSentAgain) {
  TcpHistory history;
  history.take({.sequence = kClient, .payload = "fast", .syn = true, .ack = false});
  history.take({.from_server = true, .sequence = kServer, .syn = true, .acknowledgement = kClient + 1});
  send(history, 0, "fast open");
  history.finish();
  ASSERT_EQ(history.connections(), 1U);
  EXPECT_EQ(history.from(End::kFirst).stream, "fast open");
}

TEST(TcpConnections, ASecondSynMayHaveTheData) {
  TcpHistory history;
  history.take({.sequence = kClient, .syn = true, .ack = false});
  history.take({.sequence = kClient, .payload = "fast", .syn = true, .ack = false});
  history.take({.sequence = kClient, .syn = true, .ack = false});
  history.take({.from_server = true, .sequence = kServer, .syn = true, .acknowledgement = kClient + 5});
  send(history, 4, " open");
  history.finish();
  ASSERT_EQ(history.connections(), 1U);
  EXPECT_EQ(history.from(End::kFirst).stream, "fast open");
}

TEST(TcpConnections, BothEndsOpen) {
  TcpHistory history;
  history.take({.sequence = kClient, .syn = true, .ack = false});
  history.take({.from_server = true, .sequence = kServer, .payload = "hi", .syn = true, .ack = false});
  history.take({.sequence = kClient, .syn = true, .acknowledgement = kServer + 3});
  history.take({.from_server = true, .sequence = kServer, .syn = true, .acknowledgement = kClient + 1});
  history.take({.sequence = kClient + 1, .payload = "there", .acknowledgement = kServer + 3});
  history.finish();
  ASSERT_EQ(history.connections(), 1U);
  EXPECT_EQ(history.from(End::kFirst).stream, "there");
  EXPECT_EQ(history.from(End::kSecond).stream, "hi");
}

TEST(TcpConnections, AResetMayHaveText) {
  TcpHistory history;
  handshake(history);
  send(history, 0, "ab");
  history.take(
      {.from_server = true, .sequence = kServer + 1, .payload = "why", .rst = true, .acknowledgement = kClient + 3});
  history.finish();
  EXPECT_EQ(history.from(End::kSecond).stream, "");
  EXPECT_THAT(history.from(End::kSecond).closed, SizeIs(1));
}

// What a SYN that was not captured carried, nobody knows: the other end's numbers say nothing certain.
TEST(TcpConnections, ASynThatIsMissing) {
  TcpHistory history;
  history.take({.from_server = true, .sequence = kServer, .syn = true, .acknowledgement = kClient + 5});
  history.take({.sequence = kClient + 5, .payload = "open", .acknowledgement = kServer + 1});
  history.take({.from_server = true, .sequence = kServer + 1, .payload = "yes", .acknowledgement = kClient + 9});
  history.finish();
  EXPECT_EQ(history.connection().opened->syn_missing, End::kSecond);
  EXPECT_EQ(history.from(End::kFirst).acknowledged, (std::vector<std::optional<std::uint64_t>>{std::nullopt}));
  EXPECT_EQ(history.from(End::kSecond).acknowledged, (std::vector<std::optional<std::uint64_t>>{0}));
}

// --- The directions out of step

TEST(TcpConnections, OctetsComeBehindThoseThatTheyAcknowledge) {
  TcpHistory history;
  handshake(history);
  history.take({.from_server = true, .sequence = kServer + 1, .payload = "reply", .acknowledgement = kClient + 8});
  history.take({.sequence = kClient + 8, .payload = "more", .acknowledgement = kServer + 6});
  send(history, 0, "request");
  history.finish();
  EXPECT_EQ(history.from(End::kFirst).stream, "requestmore");
  EXPECT_EQ(history.from(End::kSecond).stream, "reply");
  EXPECT_EQ(history.order(), (std::vector<std::string>{"request", "reply", "more"}));
}

TEST(TcpConnections, OneDirectionMayBeFarAhead) {
  TcpHistory history;
  handshake(history);
  for (std::uint32_t i = 0; i < 3000; ++i) {
    history.take({.sequence = kClient + 1 + 4 * i, .payload = "ping", .acknowledgement = kServer + 1 + 4 * i});
  }
  EXPECT_EQ(history.from(End::kFirst).stream.size(), 4U);
  for (std::uint32_t i = 0; i < 3000; ++i) {
    history.take({.from_server = true,
                  .sequence = kServer + 1 + 4 * i,
                  .payload = "pong",
                  .acknowledgement = kClient + 5 + 4 * i});
  }
  EXPECT_EQ(history.from(End::kFirst).stream.size(), 12'000U);
  EXPECT_THAT(history.from(End::kFirst).gaps, IsEmpty());
  EXPECT_THAT(history.from(End::kSecond).gaps, IsEmpty());
  EXPECT_EQ(history.order()[2], "ping");
}

TEST(TcpConnections, ADirectionThatWasNotCapturedIsNotWaitedForForEver) {
  TcpHistory history;
  history.take({.sequence = kClient, .syn = true, .ack = false});
  for (std::uint32_t i = 0; i < 5000; ++i) {
    history.take({.sequence = kClient + 1 + 4 * i, .payload = "ping", .acknowledgement = kServer + 1 + 4 * i});
  }
  EXPECT_GT(history.from(End::kFirst).stream.size(), 19'000U);
  history.finish();
  EXPECT_GT(history.from(End::kSecond).gaps.size(), 0U);
}

// Each packet belongs in front of all that wait.
TEST(TcpConnections, FallingAcknowledgmentsAreNotWaitedForForEver) {
  TcpHistory history;
  handshake(history);
  for (std::uint32_t i = 0; i < 5000; ++i) {
    history.take({.sequence = kClient + 1 + 4 * i, .payload = "ping", .acknowledgement = kServer + 1 + 4 * (6000 - i)});
  }
  EXPECT_GT(history.from(End::kFirst).stream.size(), 16'000U);
}

// As another tap delivers it late: it was sent before what waits, and says nothing of that.
TEST(TcpConnections, ACopyOfAnOlderPacketIsNoReasonNotToWait) {
  TcpHistory history;
  handshake(history);
  const Segment older{.sequence = kClient + 1, .payload = "old", .acknowledgement = kServer + 1};
  history.take(older);
  history.take({.sequence = kClient + 4, .payload = "response", .acknowledgement = kServer + 8});
  history.take(older);
  for (std::uint32_t i = 0; i < 100; ++i) {
    history.take({.from_server = true, .sequence = kServer + 8 + i, .payload = "x", .acknowledgement = kClient + 12});
  }
  EXPECT_EQ(history.from(End::kFirst).stream, "oldresponse");
  EXPECT_THAT(history.from(End::kSecond).gaps, SizeIs(1));
}

TEST(TcpConnections, WhatWaitsCountsAsWhatIsOutOfOrder) {
  TcpHistory history({.buffered_per_direction = 4096});
  handshake(history);
  const std::string payload(1000, 'x');
  for (std::uint32_t i = 0; i < 5; ++i) {
    history.take({.sequence = kClient + 1 + 1000 * i, .payload = payload, .acknowledgement = kServer + 11});
  }
  EXPECT_GT(history.from(End::kFirst).stream.size(), 0U);
  EXPECT_THAT(history.from(End::kSecond).gaps, SizeIs(1));
}

TEST(TcpConnections, AResetLeavesNothingThatWaits) {
  TcpHistory history;
  handshake(history);
  history.take({.sequence = kClient + 1, .payload = "ab", .acknowledgement = kServer + 3});
  history.take({.from_server = true, .sequence = kServer + 3, .ack = false, .rst = true});
  history.finish();
  EXPECT_EQ(history.from(End::kFirst).stream, "ab");
  EXPECT_EQ(history.from(End::kSecond).stream, "??");
}

}  // namespace
}  // namespace weft::conformance::testing
