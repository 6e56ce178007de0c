// SPDX-License-Identifier: Apache-2.0
// What is done to a queue pair while the system makes the TCP connection for it, by whatever thread: here by the same
// one, from within the system call.
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <functional>
#include <utility>

#include "loopback.hpp"

namespace {

thread_local std::function<void()> meanwhile;  // once

}  // namespace

// In place of the C library's.
extern "C" int connect(int descriptor, const sockaddr* to, socklen_t size) {
  if (meanwhile) std::exchange(meanwhile, nullptr)();
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

}  // namespace
}  // namespace weft::verbs::test
