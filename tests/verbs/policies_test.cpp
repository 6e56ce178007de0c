// SPDX-License-Identifier: Apache-2.0
// What both ends' policies settle: revision, CRC, markers, depths and who speaks first.
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <ostream>
#include <string>

#include "lone_ends.hpp"

namespace weft::verbs::test {
namespace {

TEST(Fallback, ToRevision1OnANewConnection) {
  Server server({.startup = {.mpa_revision = 1}});
  for (const bool allowed : {true, false}) {
    Client client;
    End end;
    must(client.id.set_policy({.startup = {.fall_back_to_revision_1 = allowed}}), "policy");
    client.resolve(server.id.local_address());
    const auto data = octets(300, 1);
    must(client.end.qp->post_receive({.wr_id = 1}), "post_receive");
    must(client.id.connect(*client.end.qp, {.private_data = data}), "connect");
    if (!allowed) {
      EXPECT_EQ(must(client.events.get_event(10000ms), "event").type == ConnectionEventType::kEstablished, false);
      continue;
    }
    auto request = expect_event(server.events, ConnectionEventType::kConnectRequest);
    EXPECT_EQ(request.private_data, data);
    must(request.request->accept(*end.qp), "accept");
    expect_event(client.events, ConnectionEventType::kEstablished);
    EXPECT_EQ(client.end.qp->query().negotiated->revision, 1);
    EXPECT_FALSE(client.end.next_within(client.end.cq, 10ms));  // the receive is still posted
    expect_event(server.events, ConnectionEventType::kEstablished);
  }
}

// What a peer that speaks revision 1 only may do instead of closing at once. A Reply of revision 1 with R set, each
// time.
TEST(Fallback, WhenAPeerOfRevision1Rejects) {  // MPA2-10-12
  PlainServer server;
  const timeval patience{.tv_sec = 10, .tv_usec = 0};
  ASSERT_EQ(::setsockopt(server.descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience), 0);
  Client client;
  client.resolve(loopback("127.0.0.1", server.port));
  must(client.id.connect(*client.end.qp), "connect");
  int descriptors[2]{};
  for (const int revision : {2, 1}) {
    int& peer = descriptors[revision - 1];
    peer = ::accept(server.descriptor, nullptr, nullptr);
    ASSERT_GE(peer, 0);
    std::array<char, 24> request{};
    const std::size_t size = revision == 2 ? 24 : 20;  // with IRD and ORD, or without
    ASSERT_EQ(::recv(peer, request.data(), size, MSG_WAITALL), static_cast<ssize_t>(size));
    EXPECT_EQ(request[17], revision);
    const std::string reply("MPA ID Rep Frame\x60\x01\x00\x00", 20);
    ASSERT_EQ(::send(peer, reply.data(), reply.size(), 0), 20);
  }
  EXPECT_EQ(expect_event(client.events, ConnectionEventType::kRejected).error->code, Errc::kRejected);
  for (const int descriptor : descriptors) ::close(descriptor);
}

// Each end's wish for CRC and markers, both revisions, and the kinds of ready-to-receive.
struct Wishes {
  const char* name;
  Policy client{}, server{};
  bool crc{}, client_markers_in{}, server_markers_in{};
  Rtr rtr = Rtr::kNone;
};

void PrintTo(const Wishes& wishes, std::ostream* out) { *out << wishes.name; }

class Negotiation : public ::testing::TestWithParam<Wishes> {};

TEST_P(Negotiation, SettlesAndMovesData) {
  const Wishes& wishes = GetParam();
  // A ready-to-receive Send is a Send: it takes a receive, which completes with no octets.
  const bool by_send = wishes.rtr == Rtr::kSend;
  Pair pair({.client_policy = wishes.client, .server_policy = wishes.server, .before_connect = [&](End&, End& server) {
               if (by_send) must(server.qp->post_receive({.wr_id = 99}), "post_receive");
             }});
  if (by_send) {
    EXPECT_EQ(pair.server.next().byte_len, 0U);
  }
  const auto client = pair.client.qp->query().negotiated, server = pair.server.qp->query().negotiated;
  ASSERT_TRUE(client && server);
  EXPECT_EQ(client->revision, wishes.client.startup.mpa_revision);
  EXPECT_EQ(client->crc, wishes.crc);
  EXPECT_EQ(server->crc, wishes.crc);
  EXPECT_EQ(client->markers_in, wishes.client_markers_in);
  EXPECT_EQ(server->markers_out, wishes.client_markers_in);
  EXPECT_EQ(server->markers_in, wishes.server_markers_in);
  EXPECT_EQ(client->rtr, wishes.rtr);
  Buffer near(pair.client, 200000), far(pair.server, 200000);
  near.fill(1);
  const auto sge = near.sge();
  SendRequest request{.opcode = SendOpcode::kRdmaWrite,
                      .flags = SendFlags::kSignaled,
                      .segments = {&sge, 1},
                      .remote_address = far.remote(),
                      .rkey = far.region.rkey()};
  must(pair.client.qp->post_send(request), "write");
  EXPECT_EQ(pair.client.next().status, WcStatus::kSuccess);
  request.opcode = SendOpcode::kRdmaRead;
  std::ranges::fill(near.octets, std::byte{0});
  must(pair.client.qp->post_send(request), "read");
  EXPECT_EQ(pair.client.next().status, WcStatus::kSuccess);
  EXPECT_EQ(near.octets, far.octets);
  EXPECT_EQ(near.octets, octets(200000, 1));
  pair.disconnect();
}

Policy with(std::uint8_t revision, bool crc, bool markers) {
  return {.startup = {.mpa_revision = revision, .crc = crc, .markers = markers}};
}
Policy ready(RtrTypes types) { return {.startup = {.peer_to_peer = true, .rtr = types}}; }

const Wishes kWishes[] = {
    {"Defaults", {}, {}, true, false, false},
    {"Revision1", with(1, true, false), {}, true, false, false},
    {"NoCrc", with(2, false, false), with(2, false, false), false, false, false},
    {"OneEndWantsCrc", with(2, false, false), with(2, true, false), true, false, false},
    {"ClientMarkers", with(2, true, true), with(2, true, false), true, true, false},
    {"ServerMarkers", with(2, true, false), with(2, true, true), true, false, true},
    {"AllMarkersNoCrcRevision1", with(1, false, true), with(1, false, true), false, true, true},
    {"AllMarkers", with(2, true, true), with(2, true, true), true, true, true},
    {"ReadyBySend", ready({.send = true}), {.startup = {.rtr = {true, true, true}}}, true, false, false, Rtr::kSend},
    {"ReadyByWrite", ready({.write = true}), {}, true, false, false, Rtr::kWrite},
    {"ReadyByRead", ready({.read = true}), {}, true, false, false, Rtr::kRead},
    {"SmallFpdus", {.startup = {.max_ulpdu = 512}}, {.startup = {.max_ulpdu = 512}}, true, false, false},
};

INSTANTIATE_TEST_SUITE_P(Policies, Negotiation, ::testing::ValuesIn(kWishes),
                         [](const auto& p) { return std::string(p.param.name); });

TEST(Depths, AreNegotiated) {
  Pair pair({.ird = 4, .ord = 2});
  const auto client = pair.client.qp->query().negotiated, server = pair.server.qp->query().negotiated;
  EXPECT_EQ(client->ird, 4U);
  EXPECT_EQ(client->ord, 2U);
  EXPECT_LE(server->ord, 4U);
  EXPECT_GE(server->ird, 2U);
  Client other;
  other.resolve(pair.listener.local_address());
  EXPECT_EQ(other.id.connect(*other.end.qp, {.ird = 129}).error().argument, "ird");
}

TEST(Depths, WithoutOrdThereAreNoReads) {
  Pair pair({.ord = 0});
  Buffer buffer(pair.client, 8);
  const auto sge = buffer.sge();
  EXPECT_EQ(pair.client.qp->post_send({.opcode = SendOpcode::kRdmaRead, .segments = {&sge, 1}}).error().argument,
            "opcode");
}

// With a ready-to-receive handshake the responder may speak first.
TEST(PeerToPeer, TheResponderSpeaksFirst) {
  Pair pair({.client_policy = {.startup = {.peer_to_peer = true}}});
  must(pair.client.qp->post_receive({.wr_id = 1}), "post_receive");
  must(pair.server.qp->post_send({.opcode = SendOpcode::kSend}), "post_send");
  EXPECT_EQ(pair.client.next().wr_id, 1U);
}

}  // namespace
}  // namespace weft::verbs::test
