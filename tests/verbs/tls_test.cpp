// SPDX-License-Identifier: Apache-2.0
// Connections through TLS: all kinds of work, whichever thread reads, and no octet is left lying in the pipe.
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <future>
#include <vector>

#include "tests/skips/sanitizers.hpp"
#include "tls_pair.hpp"

namespace weft::verbs::test {
namespace {

struct TlsConnection : testing::Test {
  const TlsKeys keys{};
  Pair pair{tls_pair(keys)};

  void post_receives(int count) {
    for (int i = 0; i < count; ++i)
      must(pair.server.qp->post_receive({.wr_id = static_cast<std::uint64_t>(i)}), "post_receive");
  }
  void send(int count) {
    const std::vector<SendRequest> work(static_cast<std::size_t>(count), {.opcode = SendOpcode::kSend});
    ASSERT_TRUE(pair.client.qp->post_send(work));
  }
};

SendRequest write_all(const Sge& from, const Buffer& to) {
  return {.opcode = SendOpcode::kRdmaWrite,
          .flags = SendFlags::kSignaled,
          .segments = {&from, 1},
          .remote_address = to.remote(),
          .rkey = to.region.rkey()};
}

TEST_F(TlsConnection, TellsEachEndWhoTheOtherIs) {
  const auto server = pair.client.id->peer_identity(), client = pair.server.id->peer_identity();
  ASSERT_TRUE(server && client);
  EXPECT_EQ(server->subject, "CN=server");
  EXPECT_EQ(client->subject, "CN=client");
  EXPECT_EQ(client->names, std::vector<std::string>{"dns:client.example"});
  EXPECT_FALSE(pair.listener.peer_identity());
}

// The progress threads alone read at the target.
TEST_F(TlsConnection, OneSidedWorkNeedsNoTarget) {
  Buffer near(pair.client, 1'000'000), far(pair.server, 1'000'000);
  const auto all = near.sge(), word = near.sge(0, 8);
  for (unsigned round = 0; round < 5; ++round) {
    near.fill(round);
    const auto written = near.octets;
    ASSERT_TRUE(pair.client.qp->post_send(write_all(all, far)));
    EXPECT_EQ(pair.client.next().status, WcStatus::kSuccess);
    SendRequest read = write_all(all, far);
    read.opcode = SendOpcode::kRdmaRead;
    std::ranges::fill(near.octets, std::byte{0});
    ASSERT_TRUE(pair.client.qp->post_send(read));
    EXPECT_EQ(pair.client.next().status, WcStatus::kSuccess);
    EXPECT_TRUE(near.octets == written);
    SendRequest add = write_all(word, far);
    add.opcode = SendOpcode::kFetchAndAdd;
    add.swap_or_add = 1;
    ASSERT_TRUE(pair.client.qp->post_send(add));
    EXPECT_EQ(pair.client.next().status, WcStatus::kSuccess);
  }
  pair.disconnect();
}

TEST_F(TlsConnection, ThreadsThatPollExchangeMessagesOfAllSizes) {
  Buffer near(pair.client, 1 << 20), far(pair.server, 1 << 20);
  for (const std::uint32_t size : {1U, 64U, 4096U, 16'384U, 16'385U, 100'000U, 1U << 20U}) {
    for (unsigned round = 0; round < 3; ++round) {
      near.fill(round + size);
      const auto from = near.sge(0, size), into = far.sge();
      must(pair.server.qp->post_receive({.wr_id = 1, .segments = {&into, 1}}), "post_receive");
      must(pair.client.qp->post_send({.opcode = SendOpcode::kSend, .segments = {&from, 1}}), "send");
      const auto done = pair.server.next();
      ASSERT_EQ(done.status, WcStatus::kSuccess) << size;
      EXPECT_EQ(done.byte_len, size);
      EXPECT_TRUE(std::ranges::equal(std::span(far.octets).first(size), std::span(near.octets).first(size))) << size;
      std::swap(near.octets.front(), near.octets.back());
    }
  }
}

TEST_F(TlsConnection, AThreadThatWaitsIsWoken) {
  for (int i = 0; i < 100; ++i) {
    post_receives(1);
    must(pair.server.cq.arm(Arm::kAll), "arm");
    auto event = std::async(std::launch::async, [this] { return pair.server.channel.get_event(); });
    send(1);
    must(event.get(), "get_event");
    EXPECT_EQ(pair.server.next().status, WcStatus::kSuccess);
  }
}

// Both sockets are full both ways.
TEST_F(TlsConnection, LongWritesBothWaysAtOnce) {
  Buffer near(pair.client, 8 << 20), far(pair.server, 8 << 20);
  Buffer near_sink(pair.client, 8 << 20), far_sink(pair.server, 8 << 20);
  near.fill(1), far.fill(2);
  const auto from_near = near.sge(), from_far = far.sge();
  for (int round = 0; round < 3; ++round) {
    must(pair.client.qp->post_send(write_all(from_near, far_sink)), "write");
    must(pair.server.qp->post_send(write_all(from_far, near_sink)), "write");
    EXPECT_EQ(pair.client.next().status, WcStatus::kSuccess);
    EXPECT_EQ(pair.server.next().status, WcStatus::kSuccess);
  }
  pair.disconnect();
  EXPECT_TRUE(near_sink.octets == far.octets);
  EXPECT_TRUE(far_sink.octets == near.octets);
}

// More small FPDUs than one turn takes, in few records: what a turn leaves must not lie where no thread is told of it.
TEST(TlsTurns, WhatATurnLeavesIsRead) {
  constexpr int kSends = 4000;
  const TlsKeys keys;
  PairOptions options = tls_pair(keys);
  options.client = {.queue_pair = {.max_send_wr = kSends}, .cq_capacity = kSends};
  options.server = {.queue_pair = {.max_receive_wr = kSends}, .cq_capacity = kSends};
  Pair pair(options);
  const std::vector<ReceiveRequest> receives(kSends);
  const std::vector<SendRequest> sends(kSends, {.opcode = SendOpcode::kSend});
  for (int round = 0; round < 5; ++round) {
    ASSERT_TRUE(pair.server.qp->post_receive(receives));
    ASSERT_TRUE(pair.client.qp->post_send(sends));
    std::size_t seen = 0;
    wait_until([&] { return (seen += drain(pair.server.cq)) == kSends; }, "the receives");
  }
}

// The messages after the one that waits are in the pipe by then, and the socket is empty: nothing would wake a thread.
TEST_F(TlsConnection, AStreamThatWaitedForAReceiveReadsOnByItself) {
  constexpr int kSends = 20;
  for (int round = 0; round < 3; ++round) {
    send(kSends);
    EXPECT_FALSE(pair.server.next_within(pair.server.cq, 20ms)) << "(were it slow, the test would pass all the same)";
    for (int i = 0; i < kSends; ++i) {
      post_receives(1);
      EXPECT_EQ(pair.server.next().status, WcStatus::kSuccess);
    }
  }
}

TEST(TlsEnd, AFinBehindAStalledSendIsTold) {
  const TlsKeys keys;
  PairOptions options = tls_pair(keys);
  for (Policy* policy : {&options.client_policy, &options.server_policy})
    policy->timeouts.no_receive = policy->timeouts.finish = policy->timeouts.close = 600s;
  Pair pair(options);
  must(pair.client.qp->post_send({.opcode = SendOpcode::kSend}), "send");
  EXPECT_FALSE(pair.server.next_within(pair.server.cq, 20ms));
  must(pair.client.id->disconnect(), "disconnect");
  pair.event(ConnectionEventType::kDisconnected);
  pair.event(ConnectionEventType::kDisconnected);
  must(pair.server.qp->post_receive({.wr_id = 7}), "post_receive");
  EXPECT_EQ(pair.server.next().status, WcStatus::kSuccess);
  wait_until([&] { return pair.server.qp->state() == QpState::kError; }, "the end");
}

TEST_F(TlsConnection, EndsGracefully) {
  send(1);
  post_receives(1);
  EXPECT_EQ(pair.server.next().status, WcStatus::kSuccess);
  pair.disconnect();
  EXPECT_FALSE(pair.client.async_within(0ms));
  EXPECT_FALSE(pair.server.async_within(0ms));
}

// TCP's FIN alone is no end: someone between the ends could have sent it. What waits is flushed.
TEST_F(TlsConnection, ACutConnectionIsLost) {
  post_receives(1);
  const int socket = socket_of(pair.client.id->local_address(), pair.client.id->remote_address());
  ASSERT_EQ(::shutdown(socket, SHUT_WR), 0);
  EXPECT_EQ(pair.server.next().status, WcStatus::kFlushed);
  pair.event(ConnectionEventType::kDisconnected);
}

// Octets that are no record of the peer's.
TEST_F(TlsConnection, AForgedRecordEndsIt) {
  const int socket = socket_of(pair.client.id->local_address(), pair.client.id->remote_address());
  const std::array<unsigned char, 30> forged{0x17, 3, 3, 0, 25};
  ASSERT_EQ(::send(socket, forged.data(), forged.size(), MSG_NOSIGNAL), static_cast<ssize_t>(forged.size()));
  pair.event(ConnectionEventType::kDisconnected);
  pair.event(ConnectionEventType::kDisconnected);
}

TEST_F(TlsConnection, NewFilesAreForNewConnections) {
  keys.issue("next", {.common_name = "next"});
  std::filesystem::rename(keys.path("next.pem"), keys.path("server.pem"));
  End client, server;
  client.id = must(ConnectionId::create(pair.events), "id");
  must(client.id->set_policy(tls_policy(keys, "client")), "set_policy");
  resolve(*client.id, pair.events, pair.listener.local_address());
  server.id = establish(*client.id, pair.events, *client.qp, *server.qp);
  EXPECT_EQ(client.id->peer_identity()->subject, "CN=next");
  send(1);
  post_receives(1);
  EXPECT_EQ(pair.server.next().status, WcStatus::kSuccess) << "the one that runs goes on";
}

// The second connection is made by a ticket of the first.
TEST_F(TlsConnection, IsResumed) {
  EXPECT_FALSE(pair.client.id->peer_identity()->resumed);
  const auto before = tls_counts();
  End client, server;
  client.id = must(ConnectionId::create(pair.events), "id");
  must(client.id->set_policy(tls_policy(keys, "client")), "set_policy");
  resolve(*client.id, pair.events, pair.listener.local_address());
  server.id = establish(*client.id, pair.events, *client.qp, *server.qp);
  EXPECT_TRUE(client.id->peer_identity()->resumed);
  EXPECT_EQ(server.id->peer_identity()->subject, "CN=client");
  EXPECT_EQ(tls_counts().resumed, before.resumed + 2) << "both ends are here";
  EXPECT_EQ(tls_counts().whole, before.whole);
  must(client.qp->post_send({.opcode = SendOpcode::kSend}), "send");
  must(server.qp->post_receive({.wr_id = 1}), "post_receive");
  EXPECT_EQ(server.next().status, WcStatus::kSuccess);
}

TEST_F(TlsConnection, AChildLeavesItToItsParent) {
  if (weft::test::kThreadSanitizer) GTEST_SKIP() << "ThreadSanitizer allows no threads in a child: nothing is tried";
  const pid_t child = ::fork();
  if (child == 0) ::exit(0);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  send(1);
  post_receives(1);
  EXPECT_EQ(pair.server.next().status, WcStatus::kSuccess);
  pair.disconnect();
}

// The smallest buffers that a path may have, with Markers, without CRC, and with copies by the kernel.
TEST(TlsPolicies, AreIndependentOfTheOthers) {
  const TlsKeys keys;
  for (int which = 0; which < 4; ++which) {
    PairOptions options = tls_pair(keys);
    for (Policy* policy : {&options.client_policy, &options.server_policy}) {
      policy->startup.markers = which == 1;
      policy->startup.crc = which != 2;
      policy->startup.checked_memory = which == 3;
      policy->startup.peer_to_peer = which == 1 && policy == &options.client_policy;
    }
    Pair pair(options);
    Buffer near(pair.client, 300'000), far(pair.server, 300'000);
    near.fill(static_cast<unsigned>(which));
    const auto all = near.sge();
    must(pair.client.qp->post_send(write_all(all, far)), "write");
    pair.disconnect();
    EXPECT_TRUE(far.octets == near.octets) << which;
  }
}

}  // namespace
}  // namespace weft::verbs::test
