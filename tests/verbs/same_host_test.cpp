// SPDX-License-Identifier: Apache-2.0
// Which connections of one host have their octets in shared memory (StartupPolicy::same_host), and what happens if the ends
// do not agree. The other tests of this directory run over shared memory by default, and over TCP in the entries that end in _tcp.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <thread>
#include <vector>

#include "live_ends.hpp"
#include "lone_ends.hpp"
#include "tests/transport/same_host_pair.hpp"
#include "transport/same_host/offer.hpp"

namespace weft::verbs::test {
namespace {

Policy policy(SameHost wanted) { return {.startup = {.same_host = wanted}}; }
Policy policy(SameHost wanted, Tls tls) { return {.startup = {.same_host = wanted}, .tls = {.mode = tls}}; }

void resolve(Client& client, const Endpoint& server, const Policy& wanted) {
  must(client.id.set_policy(wanted), "set_policy");
  client.resolve(server);
}

// More octets than a ring has.
void exchange(Pair& pair) {
  constexpr std::size_t kMuch = 3U << 20U;
  Buffer from(pair.client, kMuch), into(pair.server, kMuch);
  std::ranges::generate(from.octets, [n = 0U]() mutable { return static_cast<std::byte>(n++ * 7 / 3); });
  const auto all = into.sge(), source = from.sge();
  must(pair.server.qp->post_receive({.wr_id = 1, .segments = {&all, 1}}), "post_receive");
  must(pair.client.qp->post_send(
           {.wr_id = 2, .opcode = SendOpcode::kSend, .flags = SendFlags::kSignaled, .segments = {&source, 1}}),
       "post_send");
  EXPECT_EQ(pair.server.next().byte_len, kMuch);
  EXPECT_EQ(pair.client.next().status, WcStatus::kSuccess);
  EXPECT_TRUE(from.octets == into.octets);
}

struct Agreement {
  SameHost client{};
  SameHost server{};
  bool shared{};
};

// The environment of the entries for TCP would make all of them agree.
template <typename Base>
struct OfThisPolicy : Base {
  void SetUp() override { ::unsetenv("WEFT_TEST_SAME_HOST"); }
};

using SameHostOf = OfThisPolicy<testing::TestWithParam<Agreement>>;

TEST_P(SameHostOf, BothEndsHaveToWantIt) {
  Pair pair({.client_policy = policy(GetParam().client), .server_policy = policy(GetParam().server)});
  const auto [client, server] = live_ends();
  EXPECT_EQ(client.same_host, GetParam().shared);
  EXPECT_EQ(server.same_host, GetParam().shared);
  EXPECT_EQ(client.peer, pair.listener.local_address()) << "the addresses are TCP's";
  exchange(pair);
}

INSTANTIATE_TEST_SUITE_P(Policies, SameHostOf,
                         testing::Values(Agreement{SameHost::kOn, SameHost::kOn, true},
                                         Agreement{SameHost::kRequire, SameHost::kOn, true},
                                         Agreement{SameHost::kOn, SameHost::kRequire, true},
                                         Agreement{SameHost::kRequire, SameHost::kRequire, true},
                                         Agreement{SameHost::kOff, SameHost::kOff, false}));

using SameHostMixed = OfThisPolicy<testing::Test>;

TEST_F(SameHostMixed, OneEndAloneGetsTcp) {
  for (const bool client : {false, true}) {
    Pair pair({.client_policy = policy(client ? SameHost::kOn : SameHost::kOff),
               .server_policy = policy(client ? SameHost::kOff : SameHost::kOn)});
    EXPECT_FALSE(live_ends().client.same_host);
    exchange(pair);
  }
}

TEST_F(SameHostMixed, IPv6) {
  Pair pair({.address = "::1", .client_policy = policy(SameHost::kOn), .server_policy = policy(SameHost::kOn)});
  EXPECT_TRUE(live_ends().client.same_host);
  exchange(pair);
}

TEST_F(SameHostMixed, AnInitiatorThatRequiresItIsNotServedByTcp) {
  Server server(policy(SameHost::kOff));
  Client client;
  resolve(client, server.id.local_address(), policy(SameHost::kRequire));
  must(client.id.connect(*client.end.qp), "connect");
  const auto refused = expect_event(client.events, ConnectionEventType::kConnectError);
  EXPECT_EQ(refused.error->code, Errc::kNotSupported);
  EXPECT_EQ(refused.error->argument, "policy.startup.same_host");
}

TEST_F(SameHostMixed, AListenerThatRequiresItRejectsWhoComesByTcp) {
  Server server(policy(SameHost::kRequire));
  Client client;
  resolve(client, server.id.local_address(), policy(SameHost::kOff));
  must(client.id.connect(*client.end.qp), "connect");
  EXPECT_EQ(expect_event(client.events, ConnectionEventType::kRejected).error->code, Errc::kRejected);
}

TEST_F(SameHostMixed, TlsNeverUsesIt) {
  EXPECT_EQ(Client().id.set_policy(policy(SameHost::kRequire, Tls::kRequire)).error().argument,
            "policy.startup.same_host");
}

transport::same_host::OfferListener stranger_at(const Endpoint& listener) {
  auto listening = transport::same_host::listen_for_offers(listener, 8);
  if (!listening) throw std::runtime_error("listen_for_offers: " + listening.error().message());
  return std::move(*listening);
}

// Somebody else has the name beside the listener's port, takes the offer and drops it.
TEST_F(SameHostMixed, AnOfferThatIsDroppedLeadsToTcp) {
  Server server(policy(SameHost::kOff));
  const auto stranger = stranger_at(server.id.local_address());
  Client client;
  End accepts;
  resolve(client, server.id.local_address(), policy(SameHost::kOn));
  must(client.id.connect(*client.end.qp), "connect");
  wait_until([&] { return ::close(::accept(stranger.socket.descriptor(), nullptr, nullptr)) == 0; }, "the offer");
  auto request = expect_event(server.events, ConnectionEventType::kConnectRequest);
  must(request.request->accept(*accepts.qp), "accept");
  expect_event(client.events, ConnectionEventType::kEstablished);
}

// Who connects to the place for offers and makes none takes one of 1024 places there. The next offer is dropped.
TEST_F(SameHostMixed, OffersThatDoNotComeAreBounded) {
  const transport::test::DescriptorLimit limit(8192);
  Server server;
  std::vector<transport::Socket> silent;
  while (silent.size() < 1024) {
    silent.push_back(transport::same_host::test::connect_for_offers(server.id.local_address()));
  }
  Client client;
  End accepts;
  client.resolve(server.id.local_address());
  must(client.id.connect(*client.end.qp), "connect");
  auto request = expect_event(server.events, ConnectionEventType::kConnectRequest);
  must(request.request->accept(*accepts.qp), "accept");
  expect_event(client.events, ConnectionEventType::kEstablished);
  EXPECT_FALSE(live_streams().front().same_host);
}

// A sender that polls is rung for room each time and never sleeps: the bells must not fill the doorbell of its peer, whose turns
// end with octets left.
TEST_F(SameHostMixed, APollerMayFillTheRingAnyNumberOfTimes) {
  Pair pair;
  Buffer from(pair.client, 3U << 19U), into(pair.server, 3U << 19U);
  const auto sink = into.sge(), source = from.sge();
  for (int round = 0; round < 300; ++round) {
    must(pair.server.qp->post_receive({.segments = {&sink, 1}}), "post_receive");
    must(pair.client.qp->post_send(
             {.opcode = SendOpcode::kSend, .flags = SendFlags::kSignaled, .segments = {&source, 1}}),
         "post_send");
    ASSERT_EQ(pair.client.next().status, WcStatus::kSuccess);
    ASSERT_EQ(pair.server.next().status, WcStatus::kSuccess);
  }
}

// A post that finds the ring full settles what is watched, and so does the next one, before the thread sleeps. Room that was made
// in between wakes it all the same.
TEST_F(SameHostMixed, ASleeperMayPostWhileRoomIsMade) {
  constexpr std::uint32_t kRounds = 200, kSends = 64;
  Pair pair({.client_policy = policy(SameHost::kOn),
             .server_policy = policy(SameHost::kOn),
             .client = {.queue_pair = {.max_send_wr = kSends}},
             .server = {.queue_pair = {.max_receive_wr = kSends}}});
  Buffer from(pair.client, 1U << 16U), into(pair.server, 1U << 16U);
  const auto sink = into.sge(), source = from.sge();
  const auto post_receive = [&] { must(pair.server.qp->post_receive({.segments = {&sink, 1}}), "post_receive"); };
  for (std::uint32_t i = 0; i < kSends; ++i) post_receive();
  std::thread server([&] {
    std::array<WorkCompletion, kSends> done;
    for (std::size_t received = 0, taken = 0; received < kRounds * kSends; received += taken) {
      taken = must(pair.server.cq.wait(done), "wait");
      for (std::size_t i = 0; i < taken; ++i) post_receive();
    }
  });
  for (std::uint32_t round = 0; round < kRounds; ++round) {
    must(pair.client.cq.arm(Arm::kAll), "arm");
    for (std::uint32_t i = 1; i <= kSends; ++i) {
      const auto flags = i == kSends ? SendFlags::kSignaled : SendFlags{};
      must(pair.client.qp->post_send({.opcode = SendOpcode::kSend, .flags = flags, .segments = {&source, 1}}),
           "post_send");
    }
    must(pair.client.channel.get_event(), "get_event");
    ASSERT_EQ(pair.client.next().status, WcStatus::kSuccess);
  }
  server.join();
}

// What it had sent is received, and then the end is reported.
TEST_F(SameHostMixed, AKilledPeerIsNoticed) {
  if (weft::test::kThreadSanitizer) GTEST_SKIP() << "ThreadSanitizer allows no threads in a child: nothing is tried";
  Server server(policy(SameHost::kOn));
  const Endpoint at = server.id.local_address();
  const pid_t peer = ::fork();
  if (peer == 0) {
    Client client;
    resolve(client, at, policy(SameHost::kRequire));
    must(client.id.connect(*client.end.qp), "connect");
    expect_event(client.events, ConnectionEventType::kEstablished);
    must(client.end.qp->post_send({.opcode = SendOpcode::kSend}), "post_send");
    for (;;) ::pause();
  }
  End end;
  must(end.qp->post_receive({.wr_id = 1}), "post_receive");
  must(end.qp->post_receive({.wr_id = 2}), "post_receive");
  auto request = expect_event(server.events, ConnectionEventType::kConnectRequest);
  must(request.request->accept(*end.qp), "accept");
  expect_event(server.events, ConnectionEventType::kEstablished);
  EXPECT_EQ(end.next().wr_id, 1U);
  EXPECT_TRUE(live_streams().front().same_host);
  ::kill(peer, SIGKILL);
  ::waitpid(peer, nullptr, 0);
  EXPECT_EQ(end.next().status, WcStatus::kFlushed);
  expect_event(server.events, ConnectionEventType::kDisconnected);
}

}  // namespace
}  // namespace weft::verbs::test
