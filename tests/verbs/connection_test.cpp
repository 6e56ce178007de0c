// SPDX-License-Identifier: Apache-2.0
// The connection manager: addresses, private data, refusals, time-outs, policies, peers that vanish.
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>
#include <thread>

#include "loopback.hpp"
#include "tests/skips/localhost.hpp"

namespace weft::verbs::test {
namespace {

// An active end up to connect(), and its events.
struct Client {
  EventChannel events = must(EventChannel::create(), "EventChannel");
  End end;
  ConnectionId id = must(ConnectionId::create(events, 42), "ConnectionId");

  void resolve(const Endpoint& destination) { test::resolve(id, events, destination); }
};

struct Server {
  explicit Server(const Policy& policy = {}, int backlog = 128) {
    must(id.bind_address(loopback("127.0.0.1")), "bind_address");
    must(id.set_policy(policy), "set_policy");
    must(id.listen(backlog), "listen");
  }
  EventChannel events = must(EventChannel::create(), "EventChannel");
  ConnectionId id = must(ConnectionId::create(events, 43), "ConnectionId");
};

// A plain TCP listener that says what it is told and nothing else.
struct PlainServer {
  PlainServer() {
    descriptor = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    EXPECT_EQ(::bind(descriptor, reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(::listen(descriptor, 8), 0);
    EXPECT_EQ(::getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &size), 0);
    port = ntohs(address.sin_port);
  }
  ~PlainServer() { ::close(descriptor); }
  int descriptor = -1;
  std::uint16_t port = 0;
};

TEST(Addresses, AreResolvedToDevices) {
  Client client;
  Server server;
  EXPECT_EQ(client.id.device().error().code, Errc::kInvalidState);
  must(client.id.resolve_address(server.id.local_address()), "resolve_address");
  const auto event = expect_event(client.events, ConnectionEventType::kAddressResolved);
  EXPECT_EQ(event.id, client.id.number());
  EXPECT_EQ(event.context, 42U);
  EXPECT_EQ(must(client.id.device(), "device").info().name, "weft_lo");
  EXPECT_TRUE(client.id.local_address().address.is_loopback());
  EXPECT_EQ(client.id.remote_address(), server.id.local_address());
}

TEST(Addresses, DevicesAreTheInterfaces) {
  const auto devices = must(Device::list(), "list");
  const auto lo = std::ranges::find(devices, "weft_lo", &DeviceInfo::name);
  ASSERT_NE(lo, devices.end());
  EXPECT_TRUE(lo->interface.loopback);
  EXPECT_EQ(must(Device::open("weft_lo"), "open").info().interface.index, lo->interface.index);
}

TEST(Addresses, BindingReservesThePort) {
  auto events = must(EventChannel::create(), "EventChannel");
  auto first = must(ConnectionId::create(events), "id");
  must(first.bind_address(loopback("127.0.0.1")), "bind");
  const auto at = first.local_address();
  EXPECT_NE(at.port, 0);
  must(first.listen(), "listen");
  auto second = must(ConnectionId::create(events), "id");
  EXPECT_EQ(second.bind_address(at).error().code, Errc::kAddressInUse);
  EXPECT_EQ(second.bind_address({Address::parse("203.0.113.9").value(), 1}).error().code, Errc::kInvalidArgument);
  EXPECT_EQ(second.listen().error().code, Errc::kInvalidState);
}

// No port is picked before it is needed, by a call that asks for it or by connect; from there on it stays.
TEST(Addresses, ThePortIsKnownToWhoAsks) {
  Server server;
  for (const bool with_source : {false, true}) {
    for (const bool asks : {false, true}) {
      Client client;
      const auto source = with_source ? std::optional(loopback("127.0.0.2")) : std::nullopt;
      must(client.id.resolve_address(server.id.local_address(), source), "resolve_address");
      expect_event(client.events, ConnectionEventType::kAddressResolved);
      const auto before = asks ? std::optional(client.id.local_address()) : std::nullopt;
      must(client.id.resolve_route(), "resolve_route");
      expect_event(client.events, ConnectionEventType::kRouteResolved);
      must(client.id.connect(*client.end.qp), "connect");
      const auto local = client.id.local_address();
      EXPECT_EQ(local.address, loopback(with_source ? "127.0.0.2" : "127.0.0.1").address);
      EXPECT_EQ(local, before.value_or(local));
      EXPECT_NE(local.port, 0);
      const auto event = expect_event(server.events, ConnectionEventType::kConnectRequest);
      EXPECT_EQ(event.request->remote_address(), local);
    }
  }
}

TEST(Addresses, NamesAreLookedUp) {
  EXPECT_EQ(must(lookup("127.0.0.1", 7), "lookup").to_string(), "127.0.0.1:7");
  if (!weft::test::localhost_has_an_address()) GTEST_SKIP() << weft::test::kNoLocalhost;
  EXPECT_EQ(must(lookup("localhost", 7), "lookup").port, 7);
}

TEST(PrivateData, UpToTheLimit) {
  for (const std::size_t size : {0U, 1U, 508U}) {
    const auto up = octets(size, 1), down = octets(size, 2);
    Pair pair({.request_data = up, .reply_data = down});
    EXPECT_EQ(pair.seen_request_data, up);
    EXPECT_EQ(pair.seen_reply_data, down);
  }
  const auto full = octets(512, 3);  // without IRD and ORD
  Pair pair({.client_policy = {.mpa_revision = 1}, .request_data = full, .reply_data = octets(508, 4)});
  EXPECT_EQ(pair.seen_request_data, full);
  Client client;
  client.resolve(pair.listener.local_address());
  EXPECT_EQ(client.id.connect(*client.end.qp, {.private_data = octets(509, 1)}).error().code,
            Errc::kPrivateDataTooLong);
  must(client.id.connect(*client.end.qp), "after a mistake the queue pair is still usable");
}

// What an answer may carry depends on the Request alone (MPA-7.1.1-28, MPA2-9-03).
TEST(PrivateData, OfAnAnswerUpToTheRequestsLimit) {
  const auto request_to = [](Server& server, Client& client, const Policy& policy) {
    must(client.id.set_policy(policy), "policy");
    client.resolve(server.id.local_address());
    must(client.id.connect(*client.end.qp), "connect");
    return std::move(*expect_event(server.events, ConnectionEventType::kConnectRequest).request);
  };
  for (const Policy& policy : {Policy{.mpa_revision = 1}, Policy{.enhanced = false}, Policy{}}) {
    const std::size_t limit = policy.mpa_revision == 2 && policy.enhanced ? 508 : 512;
    const auto longest = octets(limit, 1), longer = octets(limit + 1, 1);
    Server server;
    Client accepted, rejected;
    End end;
    auto first = request_to(server, accepted, policy);
    EXPECT_EQ(first.accept(*end.qp, {.private_data = longer}).error().code, Errc::kPrivateDataTooLong);
    must(first.accept(*end.qp, {.private_data = longest}), "accept after a mistake");
    EXPECT_EQ(expect_event(accepted.events, ConnectionEventType::kEstablished).private_data, longest);
    expect_event(server.events, ConnectionEventType::kEstablished);
    auto second = request_to(server, rejected, policy);
    EXPECT_EQ(second.reject(longer).error().code, Errc::kPrivateDataTooLong);
    must(second.reject(longest), "reject after a mistake");
    EXPECT_EQ(expect_event(rejected.events, ConnectionEventType::kRejected).private_data, longest);
  }
}

TEST(Refusals, TheApplicationRejectsWithPrivateData) {
  Client client;
  Server server;
  client.resolve(server.id.local_address());
  must(client.end.qp->post_receive({.wr_id = 1}), "post_receive");
  must(client.id.connect(*client.end.qp), "connect");
  auto request = expect_event(server.events, ConnectionEventType::kConnectRequest);
  EXPECT_EQ(request.id, server.id.number());
  EXPECT_EQ(request.context, 43U);
  EXPECT_EQ(request.ird, 128U);
  EXPECT_EQ(request.ord, 128U);
  const auto reason = octets(100, 9);
  must(request.request->reject(reason), "reject");
  const auto rejected = expect_event(client.events, ConnectionEventType::kRejected);
  EXPECT_EQ(rejected.error->code, Errc::kRejected);
  EXPECT_EQ(rejected.private_data, reason);
  EXPECT_EQ(client.end.qp->state(), QpState::kError);
  EXPECT_EQ(client.end.next().status, WcStatus::kFlushed);
  EXPECT_EQ(request.request->reject().error().code, Errc::kInvalidState);
}

TEST(Refusals, ADroppedRequestIsRejected) {
  Client client;
  Server server;
  client.resolve(server.id.local_address());
  must(client.id.connect(*client.end.qp), "connect");
  expect_event(server.events, ConnectionEventType::kConnectRequest);  // and dropped
  EXPECT_EQ(expect_event(client.events, ConnectionEventType::kRejected).error->code, Errc::kRejected);
}

// MPA2-9.2-05, MPA2-9.2-11: an accepting Reply would have to name a ready-to-receive type.
TEST(Refusals, PeerToPeerWithoutAReadyToReceiveIndication) {
  Server server({.rtr = {}});
  Client client;
  End end;
  must(client.id.set_policy({.peer_to_peer = true}), "set_policy");
  client.resolve(server.id.local_address());
  must(client.id.connect(*client.end.qp), "connect");
  auto request = expect_event(server.events, ConnectionEventType::kConnectRequest);
  const auto accepted = request.request->accept(*end.qp);
  ASSERT_FALSE(accepted);
  EXPECT_EQ(accepted.error().code, Errc::kNotSupported);
  EXPECT_EQ(accepted.error().argument, "peer");
  // The request is answered while its identifier lives on, and the queue pair is as it was.
  const auto rejected = expect_event(client.events, ConnectionEventType::kRejected);
  EXPECT_EQ(rejected.error->code, Errc::kNotSupported);
  EXPECT_EQ(request.request->accept(*end.qp).error().code, Errc::kInvalidState);
  EXPECT_EQ(end.qp->state(), QpState::kInit);
  // A client that does not ask for peer-to-peer is served, and one that an application refuses is told that.
  Client plain, refused;
  plain.resolve(server.id.local_address());
  must(plain.id.connect(*plain.end.qp), "connect");
  request = expect_event(server.events, ConnectionEventType::kConnectRequest);
  must(request.request->accept(*end.qp), "accept");
  expect_event(plain.events, ConnectionEventType::kEstablished);
  Server strict;
  must(refused.id.set_policy({.peer_to_peer = true}), "set_policy");
  refused.resolve(strict.id.local_address());
  must(refused.id.connect(*refused.end.qp), "connect");
  must(expect_event(strict.events, ConnectionEventType::kConnectRequest).request->reject(), "reject");
  EXPECT_EQ(expect_event(refused.events, ConnectionEventType::kRejected).error->code, Errc::kRejected);
}

TEST(Refusals, AListenerThatGoesRejectsWhatWaits) {
  Client client;
  {
    Server server;
    client.resolve(server.id.local_address());
    must(client.id.connect(*client.end.qp), "connect");
    wait_until([&] { return must(server.id.listen_counts(), "counts").requests == 1; }, "it waits");
  }
  const auto event = must(client.events.get_event(10000ms), "event");
  EXPECT_EQ(event.type, ConnectionEventType::kRejected);
}

TEST(Refusals, NobodyListens) {
  Client client;
  std::uint16_t port = PlainServer().port;  // closed again
  client.resolve(loopback("127.0.0.1", port));
  must(client.id.connect(*client.end.qp), "connect");
  EXPECT_EQ(expect_event(client.events, ConnectionEventType::kRejected).error->code, Errc::kRefused);
}

// Programs announce their port, and listen a moment later.
TEST(Refusals, WhoListensSoonIsReached) {
  const std::uint16_t port = PlainServer().port;
  Client client;
  must(client.id.set_policy({.connect_retry = 60s}), "policy");
  client.resolve(loopback("127.0.0.1", port));
  must(client.id.connect(*client.end.qp), "connect");  // refused within the call
  EventChannel events = must(EventChannel::create(), "EventChannel");
  ConnectionId listener = must(ConnectionId::create(events), "ConnectionId");
  must(listener.bind_address(loopback("127.0.0.1", port)), "bind_address");
  must(listener.listen(), "listen");
  End end;
  must(expect_event(events, ConnectionEventType::kConnectRequest).request->accept(*end.qp), "accept");
  expect_event(client.events, ConnectionEventType::kEstablished);
}

TEST(Refusals, AreTakenAtOnceWithoutRetries) {
  Client client;
  must(client.id.set_policy({.connect_retry = 0ms}), "policy");
  client.resolve(loopback("127.0.0.1", PlainServer().port));
  const auto before = std::chrono::steady_clock::now();
  must(client.id.connect(*client.end.qp), "connect");
  EXPECT_EQ(expect_event(client.events, ConnectionEventType::kRejected).error->code, Errc::kRefused);
  EXPECT_LT(std::chrono::steady_clock::now() - before, 5s);
}

// A program that gives up meanwhile hears of it at once, and nothing comes afterwards.
TEST(Refusals, AQueuePairMayGoBetweenTwoTries) {
  Client client;
  must(client.id.set_policy({.connect_retry = 60s}), "policy");
  client.resolve(loopback("127.0.0.1", PlainServer().port));
  must(client.id.connect(*client.end.qp), "connect");
  must(client.end.qp->modify(QpState::kError), "ERROR");
  EXPECT_EQ(expect_event(client.events, ConnectionEventType::kConnectError).error->code, Errc::kInvalidState);
  EXPECT_EQ(client.events.get_event(30ms).error().code, Errc::kTimedOut);
}

// When the failure is told, the queue pair is in ERROR and its work completed.
TEST(Refusals, FlushBeforeTheyAreTold) {
  Client client;
  std::uint16_t port = PlainServer().port;
  client.resolve(loopback("127.0.0.1", port));
  must(client.end.qp->post_receive({.wr_id = 5}), "post_receive");
  must(client.id.connect(*client.end.qp), "connect");
  expect_event(client.events, ConnectionEventType::kRejected);
  EXPECT_EQ(client.end.qp->state(), QpState::kError);
  WorkCompletion flushed;
  ASSERT_EQ(must(client.end.cq.poll(std::span(&flushed, 1)), "poll"), 1U) << "not later than the event";
  EXPECT_EQ(flushed.wr_id, 5U);
  EXPECT_EQ(flushed.status, WcStatus::kFlushed);
}

TEST(TimeOuts, APeerThatNeverAnswers) {  // MPA-7.1.2-31
  Client client;
  PlainServer silent;
  must(client.id.set_policy({.startup_timeout = 50ms}), "policy");
  client.resolve(loopback("127.0.0.1", silent.port));
  must(client.id.connect(*client.end.qp), "connect");
  EXPECT_EQ(expect_event(client.events, ConnectionEventType::kUnreachable).error->code, Errc::kTimedOut);
}

TEST(TimeOuts, APeerThatNeverAsks) {  // MPA-7.1.2-26: the half-open connection is closed
  Server server({.startup_timeout = 50ms});
  const int descriptor = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_storage storage{};
  const auto size = server.id.local_address().to_sockaddr(storage);
  ASSERT_EQ(::connect(descriptor, reinterpret_cast<sockaddr*>(&storage), size), 0);
  char octet{};
  EXPECT_EQ(::recv(descriptor, &octet, 1, 0), 0);  // waits until the server gives up
  ::close(descriptor);
  EXPECT_EQ(server.events.get_event(0ms).error().code, Errc::kTimedOut);  // the application heard nothing
}

TEST(Fallback, ToRevision1OnANewConnection) {
  Server server({.mpa_revision = 1});
  for (const bool allowed : {true, false}) {
    Client client;
    End end;
    must(client.id.set_policy({.fall_back_to_revision_1 = allowed}), "policy");
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
  const char* rtr = "none";
};

void PrintTo(const Wishes& wishes, std::ostream* out) { *out << wishes.name; }

class Negotiation : public ::testing::TestWithParam<Wishes> {};

TEST_P(Negotiation, SettlesAndMovesData) {
  const Wishes& wishes = GetParam();
  // A ready-to-receive Send is a Send: it takes a receive, which completes with no octets.
  const bool by_send = std::string(wishes.rtr) == "send";
  Pair pair({.client_policy = wishes.client, .server_policy = wishes.server, .before_connect = [&](End&, End& server) {
               if (by_send) must(server.qp->post_receive({.wr_id = 99}), "post_receive");
             }});
  if (by_send) {
    EXPECT_EQ(pair.server.next().byte_len, 0U);
  }
  const auto client = pair.client.qp->query().negotiated, server = pair.server.qp->query().negotiated;
  ASSERT_TRUE(client && server);
  EXPECT_EQ(client->revision, wishes.client.mpa_revision);
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
  return {.mpa_revision = revision, .crc = crc, .markers = markers};
}
Policy ready(RtrTypes types) { return {.peer_to_peer = true, .rtr = types}; }

const Wishes kWishes[] = {
    {"Defaults", {}, {}, true, false, false},
    {"Revision1", with(1, true, false), {}, true, false, false},
    {"NoCrc", with(2, false, false), with(2, false, false), false, false, false},
    {"OneEndWantsCrc", with(2, false, false), with(2, true, false), true, false, false},
    {"ClientMarkers", with(2, true, true), with(2, true, false), true, true, false},
    {"ServerMarkers", with(2, true, false), with(2, true, true), true, false, true},
    {"AllMarkersNoCrcRevision1", with(1, false, true), with(1, false, true), false, true, true},
    {"AllMarkers", with(2, true, true), with(2, true, true), true, true, true},
    {"ReadyBySend", ready({.send = true}), {.rtr = {true, true, true}}, true, false, false, "send"},
    {"ReadyByWrite", ready({.write = true}), {}, true, false, false, "write"},
    {"ReadyByRead", ready({.read = true}), {}, true, false, false, "read"},
    {"SmallFpdus", {.max_ulpdu = 512}, {.max_ulpdu = 512}, true, false, false},
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
  Pair pair({.client_policy = {.peer_to_peer = true}});
  must(pair.client.qp->post_receive({.wr_id = 1}), "post_receive");
  must(pair.server.qp->post_send({.opcode = SendOpcode::kSend}), "post_send");
  EXPECT_EQ(pair.client.next().wr_id, 1U);
}

// An event whose identifier is gone is not waited for.
TEST(Channels, AnUndeliveredEventGoesWithItsIdentifier) {
  auto events = must(EventChannel::create(), "channel");
  {
    auto id = must(ConnectionId::create(events), "id");
    must(id.resolve_address(loopback("127.0.0.1", 7)), "resolve_address");
  }
  pollfd waiting{.fd = events.descriptor(), .events = POLLIN, .revents = 0};
  EXPECT_EQ(poll(&waiting, 1, 0), 0);
  EXPECT_EQ(events.get_event(20ms).error().code, Errc::kTimedOut);
}

TEST(Channels, EventsWaitBehindTheDescriptor) {
  auto events = must(EventChannel::create(), "EventChannel");
  EXPECT_EQ(events.get_event(0ms).error().code, Errc::kTimedOut);
  auto id = must(ConnectionId::create(events), "id");
  must(id.resolve_address(loopback("127.0.0.1", 1)), "resolve");
  auto elsewhere = must(EventChannel::create(), "EventChannel");
  must(id.migrate(elsewhere), "migrate");
  EXPECT_EQ(expect_event(elsewhere, ConnectionEventType::kAddressResolved).id, id.number());
  must(id.resolve_route(), "route");
  expect_event(elsewhere, ConnectionEventType::kRouteResolved);
  must(id.migrate(events), "migrate back");
  // A token of an event that was withdrawn is no event: a non-blocking reader finds nothing.
  ASSERT_EQ(::fcntl(events.descriptor(), F_SETFL, O_NONBLOCK), 0);
  EXPECT_EQ(events.get_event().error().code, Errc::kWouldBlock);
}

TEST(Misuse, OutOfOrder) {
  Client client;
  EXPECT_EQ(client.id.connect(*client.end.qp).error().code, Errc::kInvalidState);
  EXPECT_EQ(client.id.resolve_route().error().code, Errc::kInvalidState);
  EXPECT_EQ(client.id.accept(*client.end.qp).error().code, Errc::kInvalidState);
  EXPECT_EQ(client.id.disconnect().error().code, Errc::kInvalidState);
  EXPECT_EQ(client.id.set_policy({.mpa_revision = 3}).error().argument, "policy.mpa_revision");
  EXPECT_EQ(client.id.set_policy({.startup_timeout = 0ms}).error().code, Errc::kInvalidArgument);
  EXPECT_EQ(client.id.set_policy({.finish_timeout = 0ms}).error().code, Errc::kInvalidArgument);
  EXPECT_EQ(client.id.resolve_address(loopback("127.0.0.1", 0)).error().argument, "destination");
  Pair pair;
  client.resolve(pair.listener.local_address());
  EXPECT_EQ(client.id.connect(*pair.client.qp).error().argument, "queue_pair");  // used already
}

// The peer of the next test, run in a process of its own: ThreadSanitizer allows no thread in a child of fork() whose
// parent has threads, and the log's thread stays. It tells its port through the pipe that its environment names.
constexpr const char* kPortPipe = "WEFT_TEST_PORT_PIPE";
TEST(LostPeers, DISABLED_WhoIsKilled) {
  const char* const pipe_end = std::getenv(kPortPipe);
  ASSERT_NE(pipe_end, nullptr) << "run by LostPeers.AKilledProcess alone";
  Server server;
  const auto port = server.id.local_address().port;
  ASSERT_EQ(::write(std::atoi(pipe_end), &port, sizeof port), static_cast<ssize_t>(sizeof port));
  auto request = expect_event(server.events, ConnectionEventType::kConnectRequest);
  End end;
  must(request.request->accept(*end.qp), "accept");
  ::pause();
}

// A peer that is killed: work is flushed and both the application and its queue pair learn of it.
TEST(LostPeers, AKilledProcess) {
  int pipe_ends[2];
  ASSERT_EQ(::pipe(pipe_ends), 0);
  ASSERT_EQ(::setenv(kPortPipe, std::to_string(pipe_ends[1]).c_str(), 1), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::execl("/proc/self/exe", "who-is-killed", "--gtest_also_run_disabled_tests",
            "--gtest_filter=LostPeers.DISABLED_WhoIsKilled", "--gtest_repeat=1", nullptr);
    ::_exit(127);
  }
  ::close(pipe_ends[1]);  // so that a peer that does not come up ends the read
  std::uint16_t port = 0;
  ASSERT_EQ(::read(pipe_ends[0], &port, sizeof port), static_cast<ssize_t>(sizeof port));
  Client client;
  client.resolve(loopback("127.0.0.1", port));
  must(client.id.connect(*client.end.qp), "connect");
  expect_event(client.events, ConnectionEventType::kEstablished);
  Buffer big(client.end, 1 << 20);
  const auto sge = big.sge();
  must(client.end.qp->post_receive({.wr_id = 1}), "post_receive");
  for (int i = 0; i < 20; ++i)
    must(client.end.qp->post_send({.wr_id = 2, .opcode = SendOpcode::kSend, .segments = {&sge, 1}}), "post_send");
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  expect_event(client.events, ConnectionEventType::kDisconnected);
  WorkCompletion done{};
  int flushed = 0;
  while (must(client.end.cq.poll({&done, 1}), "poll") == 1) flushed += done.status == WcStatus::kFlushed;
  EXPECT_GT(flushed, 1);
  EXPECT_EQ(client.end.qp->state(), QpState::kError);
  ::close(pipe_ends[0]);
}

TEST(LostPeers, AQueuePairThatIsDestroyed) {
  Pair pair;
  must(pair.client.qp->post_receive({.wr_id = 1}), "post_receive");
  pair.server.qp.reset();
  const auto event = pair.event(ConnectionEventType::kDisconnected);
  pair.event(ConnectionEventType::kDisconnected);
  EXPECT_EQ(pair.client.next().status, WcStatus::kFlushed);
}

TEST(LostPeers, GarbageInsteadOfARequest) {
  Server server;
  const int descriptor = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_storage storage{};
  const auto size = server.id.local_address().to_sockaddr(storage);
  ASSERT_EQ(::connect(descriptor, reinterpret_cast<sockaddr*>(&storage), size), 0);
  const auto garbage = octets(1000, 5);
  ASSERT_EQ(::send(descriptor, garbage.data(), garbage.size(), 0), 1000);
  char octet{};
  EXPECT_LE(::recv(descriptor, &octet, 1, 0), 0);
  ::close(descriptor);
  EXPECT_EQ(server.events.get_event(0ms).error().code, Errc::kTimedOut);
}

TEST(Identifiers, MayGoBeforeTheirConnection) {
  Pair pair;
  pair.client.id.reset();
  must(pair.server.qp->post_receive({.wr_id = 1}), "post_receive");
  must(pair.client.qp->post_send({.opcode = SendOpcode::kSend}), "post_send");
  EXPECT_EQ(pair.server.next().wr_id, 1U);
}

TEST(Identifiers, DestroyedWhileConnecting) {
  PlainServer deaf, hears;
  for (int i = 0; i < 20; ++i) {
    const PlainServer& server = i % 2 == 0 ? hears : deaf;
    Client client;
    client.resolve(loopback("127.0.0.1", server.port));
    must(client.id.connect(*client.end.qp), "connect");
    if (&server == &deaf) continue;
    const int peer = ::accept(hears.descriptor, nullptr, nullptr);
    char octet{};
    EXPECT_EQ(::recv(peer, &octet, 1, 0), 1) << "the Request is there";
    ::close(peer);
  }
}

}  // namespace
}  // namespace weft::verbs::test
