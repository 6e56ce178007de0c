// SPDX-License-Identifier: Apache-2.0
// What is done to a queue pair or an identifier while connect() runs.
#include <sched.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <deque>
#include <filesystem>
#include <functional>
#include <string>
#include <utility>

#include "loopback.hpp"

namespace {

thread_local std::function<void()> meanwhile;  // once
std::atomic<bool> of_low_priority = false;     // the next thread that connects; others interrupt it

}  // namespace

// In place of the C library's.
extern "C" int connect(int descriptor, const sockaddr* to, socklen_t size) {
  if (meanwhile) std::exchange(meanwhile, nullptr)();
  const sched_param none{};
  if (of_low_priority.exchange(false)) ::sched_setscheduler(0, SCHED_IDLE, &none);
  return static_cast<int>(::syscall(SYS_connect, descriptor, to, size));
}

namespace weft::verbs::test {
namespace {

TEST(InterruptedConnect, TheQueuePairIsPutToError) {
  auto events = must(EventChannel::create(), "EventChannel");
  auto listener = must(ConnectionId::create(events), "ConnectionId");
  must(listener.bind_address(loopback("127.0.0.1")), "bind");
  must(listener.listen(), "listen");
  End client;
  client.id = must(ConnectionId::create(events), "ConnectionId");
  resolve(*client.id, events, listener.local_address());
  meanwhile = [&] { must(client.qp->modify(QpState::kError), "ERROR"); };
  must(client.id->connect(*client.qp), "connect");
  EXPECT_FALSE(meanwhile) << "nothing was interrupted";
  EXPECT_EQ(expect_event(events, ConnectionEventType::kConnectError).error->argument, "queue_pair");
  EXPECT_EQ(client.qp->state(), QpState::kError);
  EXPECT_EQ(events.get_event(0ms).error().code, Errc::kTimedOut);
}

// All threads on one processor, until the end: a thread of SCHED_IDLE is then interrupted by whatever it wakes.
struct OneProcessor {
  OneProcessor() {
    ::sched_getaffinity(0, sizeof before, &before);
    cpu_set_t one;
    CPU_ZERO(&one);
    for (unsigned i = 0; i < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++i) {
      if (CPU_ISSET(i, &before)) CPU_SET(i, &one);
    }
    apply(one);
  }
  ~OneProcessor() { apply(before); }
  OneProcessor(const OneProcessor&) = delete;
  OneProcessor& operator=(const OneProcessor&) = delete;
  static void apply(const cpu_set_t& to) {
    for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
      ::sched_setaffinity(std::stoi(task.path().filename()), sizeof to, &to);
    }
  }
  cpu_set_t before{};
};

// A connect that was refused is repeated by a thread of weft. That one is interrupted between its last octet and the end of
// its work; meanwhile the connection is established and its identifier destroyed. The connection stays.
TEST(InterruptedConnect, TheIdentifierIsDestroyedOnceItIsEstablished) {
  const OneProcessor until_the_end;
  constexpr int kRounds = 20;
  auto requests = must(EventChannel::create(), "EventChannel");
  auto events = must(EventChannel::create(), "EventChannel");
  std::deque<End> clients, servers;
  for (int round = 0; round < kRounds; ++round) {
    auto listener = must(ConnectionId::create(requests), "ConnectionId");
    must(listener.bind_address(loopback("127.0.0.1")), "bind");
    End& client = clients.emplace_back();
    End& server = servers.emplace_back();
    client.id = must(ConnectionId::create(events), "ConnectionId");
    resolve(*client.id, events, listener.local_address());
    must(client.id->connect(*client.qp), "connect");
    of_low_priority = true;
    must(listener.listen(), "listen");
    auto request = expect_event(requests, ConnectionEventType::kConnectRequest);
    server.id = std::move(*request.request);
    must(server.id->accept(*server.qp), "accept");
    static_cast<void>(expect_event(events, ConnectionEventType::kEstablished));
    client.id.reset();
    static_cast<void>(expect_event(requests, ConnectionEventType::kEstablished));
  }
  for (std::size_t round = 0; round + 1 < kRounds; ++round) {  // whose thread has gone on to the next round
    Buffer from(clients[round], 8), into(servers[round], 8);
    const Sge source = from.sge(), sink = into.sge();
    must(servers[round].qp->post_receive({.wr_id = 1, .segments = {&sink, 1}}), "post_receive");
    EXPECT_TRUE(clients[round].qp->post_send({.opcode = SendOpcode::kSend, .segments = {&source, 1}}))
        << "round " << round;
    EXPECT_EQ(servers[round].next().status, WcStatus::kSuccess) << "round " << round;
  }
}

}  // namespace
}  // namespace weft::verbs::test
