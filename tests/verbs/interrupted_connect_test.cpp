// SPDX-License-Identifier: Apache-2.0
// What is done to a queue pair or an identifier while connect() runs.
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <semaphore>
#include <utility>

#include "loopback.hpp"

namespace {

thread_local std::function<void()> meanwhile;  // once
std::atomic<bool> stops_the_next = false;      // thread that connects, as soon as it has a TCP connection
thread_local bool is_to_stop = false;
std::binary_semaphore has_stopped(0);
std::binary_semaphore goes_on(0);

}  // namespace

// In place of the C library's.
extern "C" int connect(int descriptor, const sockaddr* to, socklen_t size) {
  if (meanwhile) std::exchange(meanwhile, nullptr)();
  if (stops_the_next.exchange(false)) is_to_stop = true;
  return static_cast<int>(::syscall(SYS_connect, descriptor, to, size));
}

// As above. A stream asks for the segment size before it sends its Request.
extern "C" int getsockopt(int descriptor, int level, int name, void* value, socklen_t* size) noexcept {
  if (level == IPPROTO_TCP && name == TCP_MAXSEG && std::exchange(is_to_stop, false)) {
    has_stopped.release();
    goes_on.acquire();
  }
  return static_cast<int>(::syscall(SYS_getsockopt, descriptor, level, name, value, size));
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

// A connect that was refused is repeated by a thread of weft. The identifier is destroyed when that thread has a TCP
// connection, and has sent no Request.
TEST(InterruptedConnect, TheIdentifierIsDestroyed) {
  auto events = must(EventChannel::create(), "EventChannel");
  auto listener = must(ConnectionId::create(events), "ConnectionId");
  must(listener.bind_address(loopback("127.0.0.1")), "bind");
  End client;
  client.id = must(ConnectionId::create(events), "ConnectionId");
  resolve(*client.id, events, listener.local_address());
  must(client.id->connect(*client.qp), "connect");
  stops_the_next = true;
  must(listener.listen(), "listen");
  ASSERT_TRUE(has_stopped.try_acquire_for(kPatience));
  client.id.reset();
  goes_on.release();
  EXPECT_EQ(client.qp->state(), QpState::kError);
  const auto data = octets(8, 1);
  End other;
  other.id = must(ConnectionId::create(events), "ConnectionId");
  resolve(*other.id, events, listener.local_address());
  must(other.id->connect(*other.qp, {.private_data = data}), "connect");
  EXPECT_EQ(expect_event(events, ConnectionEventType::kConnectRequest).private_data, data) << "the first one's request";
}

}  // namespace
}  // namespace weft::verbs::test
