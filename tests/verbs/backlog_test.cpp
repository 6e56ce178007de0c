// SPDX-License-Identifier: Apache-2.0
// A listener's places: for requests that its application has not taken, and for connections that have not asked yet.
// RFC 5042 section 6.4: no peer may take memory without end, nor keep others out (SEC-6.4.1-03).
#include <netinet/in.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <filesystem>
#include <string_view>
#include <utility>

#include "listening.hpp"
#include "tests/transport/support.hpp"
#include "verbs/progress/runtime.hpp"

namespace {

std::atomic<long> threads_when_it_listened{};

long threads() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/task"), std::filesystem::directory_iterator());
}

}  // namespace

// In place of the C library's.
extern "C" int listen(int descriptor, int backlog) noexcept {
  threads_when_it_listened = threads();
  return static_cast<int>(::syscall(SYS_listen, descriptor, backlog));
}

namespace weft::verbs::test {
namespace {

// It asks, and goes. When this returns the server knows.
void ask_and_go(const Endpoint& server) {
  const Descriptor socket(::socket(AF_INET, SOCK_STREAM, 0));
  ask(socket, server);
  ::shutdown(socket.get(), SHUT_WR);
  char octet{};
  EXPECT_LE(::recv(socket.get(), &octet, 1, 0), 0);
}

// The connections of this process that were accepted at this port.
int accepted_at(std::uint16_t port) {
  int count = 0;
  for (int descriptor = 0; descriptor < 1024; ++descriptor) {
    sockaddr_in near{}, far{};
    socklen_t size = sizeof near;
    const bool named = ::getsockname(descriptor, reinterpret_cast<sockaddr*>(&near), &size) == 0;
    size = sizeof far;
    const bool connected = named && ::getpeername(descriptor, reinterpret_cast<sockaddr*>(&far), &size) == 0;
    count += connected && ntohs(near.sin_port) == port ? 1 : 0;
  }
  return count;
}

// How many events lie in a channel whose descriptor has one token for each.
std::uint64_t events_in(const EventChannel& channel) {
  pollfd waiting{.fd = channel.descriptor(), .events = POLLIN, .revents = 0};
  std::uint64_t count = 0, token = 0;
  for (; ::poll(&waiting, 1, 0) == 1; ++count) {
    EXPECT_EQ(::read(waiting.fd, &token, sizeof token), ssize_t{sizeof token});
  }
  if (count != 0) {
    EXPECT_EQ(::write(waiting.fd, &count, sizeof count), ssize_t{sizeof count});
  }
  return count;
}

// RFC 5042 section 6.4: no peer may take memory without end. Peers that go leave their request, and its place, behind.
TEST(Backlog, BoundsRequestsWhosePeersHaveGone) {
  constexpr int kPeers = 50;
  Server server(3);
  for (int i = 0; i < kPeers; ++i) ask(Descriptor(::socket(AF_INET, SOCK_STREAM, 0)), server.id.local_address());
  End end;
  for (int i = 0; i < kPeers; ++i) expect_event(server.events, ConnectionEventType::kConnectRequest);  // and dropped
  for (int round = 0; round < 100; ++round) {  // its end may be told only just now
    ask_and_go(server.id.local_address());
    auto event = expect_event(server.events, ConnectionEventType::kConnectRequest);
    EXPECT_EQ(event.request->accept(*end.qp).error().message(), "connection: the peer has gone (disconnected)");
    EXPECT_EQ(event.request->reject().error().code, Errc::kDisconnected);
    EXPECT_EQ(end.qp->state(), QpState::kInit);
    EXPECT_EQ(server.events.get_event(0ms).error().code, Errc::kTimedOut) << "told already";
  }
  Caller caller(server.id.local_address());
  End near;
  must(caller.id.connect(*near.qp), "connect");
  auto request = expect_event(server.events, ConnectionEventType::kConnectRequest).request;
  must(request->accept(*end.qp), "accept");
  expect_event(caller.events, ConnectionEventType::kEstablished);
}

// What is beyond it is not accepted, and not refused: the kernel's queue keeps it until there is room. But the listener
// may come once more before the Requests of those that it has accepted are read.
TEST(Backlog, KeepsTheRestInTheKernelsQueue) {
  constexpr int kPeers = 20;
  constexpr int kOneTurn = 3;
  Server server(3);
  const std::uint16_t port = server.id.local_address().port;
  std::vector<std::unique_ptr<Descriptor>> peers;
  for (int i = 0; i < kPeers; ++i) {
    ask(*peers.emplace_back(std::make_unique<Descriptor>(::socket(AF_INET, SOCK_STREAM, 0))),
        server.id.local_address());
  }
  std::vector<std::unique_ptr<ConnectionId>> requests;
  for (int taken = 0; taken < kPeers; ++taken) {
    const int most = std::min(kPeers, taken + 3);
    wait_until([&] { return accepted_at(port) >= most; }, "a place is taken");
    EXPECT_LE(accepted_at(port), most + kOneTurn);
    requests.push_back(expect_event(server.events, ConnectionEventType::kConnectRequest).request);
  }
}

TEST(Backlog, OfOneServesManyClients) {
  constexpr std::size_t kClients = 20;
  Server server(1);
  std::vector<std::unique_ptr<Caller>> callers;
  std::vector<std::unique_ptr<End>> ends;
  for (std::size_t i = 0; i < kClients; ++i) {
    auto& caller = *callers.emplace_back(
        std::make_unique<Caller>(server.id.local_address(), Policy{.timeouts = {.connect = 60s, .startup = 60s}}));
    must(caller.id.connect(*ends.emplace_back(std::make_unique<End>())->qp), "connect");
  }
  for (std::size_t served = 0; served < kClients;) {
    auto event = must(server.events.get_event(10000ms), "event");
    if (!event.request) continue;  // established
    auto& end = *ends.emplace_back(std::make_unique<End>());
    end.id = std::move(*event.request);
    must(end.id->accept(*end.qp), "accept");
    ++served;
  }
  for (auto& caller : callers) expect_event(caller->events, ConnectionEventType::kEstablished);
}

// A listener that moves to another channel takes along what is on its way to it.
TEST(Backlog, MovesWithItsListener) {
  Server server;
  const Descriptor late(::socket(AF_INET, SOCK_STREAM, 0)), early(::socket(AF_INET, SOCK_STREAM, 0));
  dial(late, server.id.local_address());
  wait_until([&] { return accepted_at(server.id.local_address().port) == 1; }, "accepted");
  ask(early, server.id.local_address());
  pollfd waiting{.fd = server.events.descriptor(), .events = POLLIN, .revents = 0};
  ASSERT_EQ(::poll(&waiting, 1, 10000), 1);
  auto elsewhere = must(EventChannel::create(), "EventChannel");
  must(server.id.migrate(elsewhere), "migrate");
  expect_event(elsewhere, ConnectionEventType::kConnectRequest);
  // Its request comes now. What becomes of it is told there, too.
  constexpr std::string_view kRequest{"MPA ID Req Frame\x40\x01\0\0", 20};
  ASSERT_EQ(::send(late.get(), kRequest.data(), kRequest.size(), MSG_NOSIGNAL), 20);
  const auto event = expect_event(elsewhere, ConnectionEventType::kConnectRequest);
  End end;
  must(event.request->accept(*end.qp), "accept");
  expect_event(elsewhere, ConnectionEventType::kEstablished);
  EXPECT_EQ(server.events.get_event(0ms).error().code, Errc::kTimedOut);
}

// A program that has told its port is connected to at once, and threads take long to start.
TEST(Listening, BeginsBeforeThereAreThreads) {
  const auto before = threads();
  const Server server;
  EXPECT_EQ(threads_when_it_listened, before);
  EXPECT_GT(threads(), before);
  const auto busy = threads();
  auto other = must(ConnectionId::create(server.events), "ConnectionId");
  must(other.bind_address(loopback("127.0.0.1")), "bind_address");
  must(other.listen(), "listen");
  EXPECT_EQ(threads(), busy);
}

// --- Peers that have not asked yet

// Places for requests are not theirs: D-01 of the review of November 2026.
TEST(HalfOpen, KeepNobodyOut) {
  constexpr int kBacklogs[] = {1, 3};
  for (const int backlog : kBacklogs) {
    Server server(backlog);
    std::vector<Descriptor> attackers;
    for (int i = 0; i < 12; ++i) attackers.push_back(silent(server));
    EXPECT_EQ(::send(attackers.front().get(), "M", 1, MSG_NOSIGNAL), 1);
    for (int i = 0; i < 4; ++i) {
      Caller caller(server.id.local_address());
      End near, far;
      must(caller.id.connect(*near.qp), "connect");
      auto request = expect_event(server.events, ConnectionEventType::kConnectRequest).request;
      must(request->accept(*far.qp), "accept");
      expect_event(caller.events, ConnectionEventType::kEstablished);
      expect_event(server.events, ConnectionEventType::kEstablished);
    }
    wait_for_half_open(server, 12);
    EXPECT_EQ(server.counts().requests, 0U);
    EXPECT_EQ(server.counts().dropped, 0U);
    EXPECT_GE(server.counts().half_open_most, 12U);
    for (const auto& attacker : attackers) EXPECT_TRUE(still_open(attacker)) << "nobody wanted its place";
  }
}

TEST(HalfOpen, TheOldestOfAPeerGoesForItsNewest) {
  Server server(128, {.admission = {.half_open_per_peer = 2}});
  const auto first = silent(server), second = silent(server);
  wait_for_half_open(server, 2);
  const auto third = silent(server);
  EXPECT_TRUE(was_reset(first));
  wait_until([&] { return server.counts().dropped == 1; }, "counted");
  for (const auto* asks : {&third, &second}) {
    say(*asks);
    const auto event = expect_event(server.events, ConnectionEventType::kConnectRequest);
    EXPECT_EQ(event.request->remote_address().port, port_of(*asks));
  }
  EXPECT_EQ(server.counts().half_open, 0U);
  EXPECT_EQ(server.counts().dropped, 1U);
}

// A peer that has not asked holds a descriptor that another may need.
TEST(HalfOpen, TheOldestGoesWhenNoDescriptorsAreLeft) {
  Server server;
  const auto first = silent(server);
  wait_for_half_open(server, 1);
  const auto second = tcp_socket();
  {
    const transport::test::NoDescriptorsLeft none;
    dial(second, server.id.local_address());
    EXPECT_TRUE(was_reset(first));
    wait_until([&] { return server.counts().dropped == 1; }, "counted");
  }
  say(second);
  const auto event = expect_event(server.events, ConnectionEventType::kConnectRequest);
  EXPECT_EQ(event.request->remote_address().port, port_of(second));
  EXPECT_EQ(server.counts().dropped, 1U);
}

// A Request that is not read yet is one: the listener looks before it drops.
TEST(HalfOpen, WhoHasAskedStays) {
  const ProgressThreadCount one(1);
  Server server(128, {.admission = {.half_open_per_peer = 1}});
  const auto first = silent(server);
  wait_for_half_open(server, 1);
  auto& thread = must(detail::Runtime::acquire(), "runtime")->progress_threads().of(0);
  thread.rest();
  transport::test::wait_for_rest();  // else it may accept the second connection before the first one has asked
  const auto second = silent(server);
  say(first);
  thread.resume();
  const auto event = expect_event(server.events, ConnectionEventType::kConnectRequest);
  EXPECT_EQ(event.request->remote_address().port, port_of(first));
  wait_for_half_open(server, 1);
  EXPECT_EQ(server.counts().dropped, 0U);
  EXPECT_TRUE(still_open(second));
}

// Whose Request is complete when the application has taken too few already waits its turn, and no more are accepted.
TEST(HalfOpen, WhatTheyAskBeyondTheBacklogWaits) {
  constexpr std::size_t kPeers = 5;
  Server server(1);
  std::vector<Descriptor> peers;
  for (std::size_t i = 0; i < kPeers; ++i) peers.push_back(silent(server));
  wait_for_half_open(server, kPeers);
  for (std::size_t i = 0; i < kPeers; ++i) {
    say(peers[i]);
    wait_until([&] { return server.counts().requests == i + 1; }, "its request");
  }
  const auto late = tcp_socket();
  dial(late, server.id.local_address());
  say(late);
  for (std::size_t i = 0; i < kPeers; ++i) {
    EXPECT_EQ(events_in(server.events), 1U) << "the others wait";
    const auto event = expect_event(server.events, ConnectionEventType::kConnectRequest);
    EXPECT_EQ(event.request->remote_address().port, port_of(peers[i]));
  }
  const auto event = expect_event(server.events, ConnectionEventType::kConnectRequest);
  EXPECT_EQ(event.request->remote_address().port, port_of(late));
}

// Requests that nobody has taken have descriptors: those of a listener are bounded by a quarter of `ulimit -n`, whatever its
// backlog, and those of the process by half.
TEST(HalfOpen, RequestsLeaveDescriptorsToTheProgram) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit few{400, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
  Server one(1024), other(1024);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  std::vector<Descriptor> peers;
  const auto more = [&](const Server& server, std::size_t count) {
    const std::size_t asked = server.counts().requests;
    for (std::size_t i = 0; i < count; ++i) peers.push_back(silent(server));
    wait_for_half_open(server, count);
    for (auto peer = peers.end() - static_cast<std::ptrdiff_t>(count); peer != peers.end(); ++peer) say(*peer);
    wait_until([&] { return server.counts().requests == asked + count; }, "their requests");
  };
  more(one, 150);
  EXPECT_EQ(events_in(one.events), 100U) << "the others wait";
  more(other, 50);
  const auto refused = silent(other);
  say(refused);
  std::array<char, 21> reply{};
  ASSERT_EQ(::recv(refused.get(), reply.data(), 20, MSG_WAITALL), 20);
  EXPECT_EQ(reply[16] & 0x20, 0x20) << "rejected";
  EXPECT_EQ(other.counts().requests, 50U);
  for (int i = 0; i < 150; ++i) expect_event(one.events, ConnectionEventType::kConnectRequest);
  more(other, 1);
}

// A rejected connection waits for the peer's FIN, which may not come.
TEST(HalfOpen, RejectedOnesLeaveDescriptorsToTheProgram) {
  constexpr int kPeers = 60;
  Server server(128, {.timeouts = {.close = 60s}});
  const std::uint16_t port = server.id.local_address().port;
  std::vector<Descriptor> peers;
  std::vector<std::unique_ptr<ConnectionId>> requests;
  for (int i = 0; i < kPeers; ++i) {
    say(peers.emplace_back(silent(server)));
    requests.push_back(expect_event(server.events, ConnectionEventType::kConnectRequest).request);
  }
  EXPECT_EQ(accepted_at(port), kPeers);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit few{400, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
  requests.clear();
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  wait_until([&] { return accepted_at(port) <= 50; }, "an eighth of the descriptors");
  EXPECT_EQ(accepted_at(port), 50);
}

TEST(HalfOpen, WhatWaitsIsRefusedWithItsListener) {
  auto server = std::make_unique<Server>(1);
  std::vector<Descriptor> peers;
  for (int i = 0; i < 3; ++i) peers.push_back(silent(*server));
  wait_for_half_open(*server, 3);
  for (const auto& peer : peers) say(peer);
  wait_until([&] { return server->counts().requests == 3; }, "all have asked");
  server.reset();
  std::array<char, 21> reply{};
  for (const auto& peer : peers) {
    ASSERT_EQ(::recv(peer.get(), reply.data(), 20, MSG_WAITALL), 20);
    EXPECT_EQ(reply[16] & 0x20, 0x20) << "rejected";
  }
}

TEST(HalfOpen, AreCountedAtListenersOnly) {
  const Server server;
  EXPECT_EQ(Caller(server.id.local_address()).id.listen_counts().error().code, Errc::kInvalidState);
}

}  // namespace
}  // namespace weft::verbs::test
