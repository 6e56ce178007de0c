// SPDX-License-Identifier: Apache-2.0
// A process that forks while it has connections: they are the parent's, and the child may make its own.
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <memory>
#include <mutex>
#include <optional>
#include <semaphore>
#include <stdexcept>
#include <thread>

#include "loopback.hpp"
#include "tests/skips/sanitizers.hpp"
#include "verbs/base/compact_mutex.hpp"
#include "verbs/progress/runtime.hpp"

namespace weft::verbs::test {
namespace {

// Runs `body` in a child; its answer is the exit code.
template <typename Body>
pid_t in_child(Body body) {
  const pid_t child = ::fork();
  if (child != 0) return child;
  int code = 99;
  try {
    code = body();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "child: %s\n", error.what());
  }
  ::_exit(code);
}

int exit_code(pid_t child) {
  int status = -1;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// The child's own threads would be its first.
TEST(Fork, AChildThatMayHaveNoThreadIsToldSo) {
  const int code = exit_code(in_child([] {
    constexpr uid_t kNobody = 65534;
    const rlimit none{.rlim_cur = 0, .rlim_max = 0};
    if ((::geteuid() == 0 && ::setresuid(kNobody, kNobody, kNobody) != 0) || ::setrlimit(RLIMIT_NPROC, &none) != 0)
      return 1;
    auto events = must(EventChannel::create(), "channel");
    auto id = must(ConnectionId::create(events), "identifier");
    must(id.bind_address({Address::loopback(transport::Family::kIpv4), 0}), "bind");
    const auto listening = id.listen();
    if (listening || listening.error().code != Errc::kSystem || listening.error().os_error != EAGAIN) return 2;
    return 0;
  }));
  EXPECT_EQ(code, 0);
}

// One Send from the client to the server.
void exchange(Pair& pair) {
  Buffer inbox(pair.server, 64);
  Buffer outbox(pair.client, 64);
  outbox.fill(7);
  must(pair.server.qp->post_receive({.wr_id = 1, .segments = std::array{inbox.sge()}}), "post_receive");
  must(pair.client.qp->post_send({.wr_id = 2,
                                  .opcode = SendOpcode::kSend,
                                  .flags = SendFlags::kSignaled,
                                  .segments = std::array{outbox.sge()}}),
       "post_send");
  EXPECT_EQ(pair.client.next().status, WcStatus::kSuccess);
  EXPECT_EQ(pair.server.next().status, WcStatus::kSuccess);
  EXPECT_EQ(inbox.octets, outbox.octets);
}

TEST(Fork, AChildMakesConnectionsOfItsOwn) {
  if (weft::test::kThreadSanitizer) GTEST_SKIP() << "ThreadSanitizer allows no threads in a child: nothing is tried";
  Pair pair;
  exchange(pair);
  const pid_t child = in_child([] {
    Pair own;
    exchange(own);
    return testing::Test::HasFailure() ? 1 : 0;
  });
  EXPECT_EQ(exit_code(child), 0);
  exchange(pair);  // the parent's is as it was
}

TEST(Fork, AChildsConnectionsAreCountedWithoutItsParents) {
  if (weft::test::kThreadSanitizer) GTEST_SKIP() << "ThreadSanitizer allows no threads in a child: nothing is tried";
  const PairOptions one{.server_policy = {.admission = {.connections_per_process = 1}}};
  Pair pair(one);
  const pid_t child = in_child([&] {
    const Pair own(one);
    return 0;
  });
  EXPECT_EQ(exit_code(child), 0);
}

TEST(Fork, WhatAChildDoesToItsParentsConnectionReachesNobody) {
  Pair pair;
  exchange(pair);
  const pid_t child = in_child([&] {
    const auto posted = pair.client.qp->post_send({.wr_id = 9, .opcode = SendOpcode::kSend});
    static_cast<void>(posted);
    static_cast<void>(pair.client.qp->modify(QpState::kError));
    return 0;
  });
  EXPECT_EQ(exit_code(child), 0);
  exchange(pair);
}

// A child that runs, fork() and all it has to do after it, and waits until the test has seen what it came for.
class WaitingChild {
 public:
  WaitingChild() {
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends_.data()) != 0) throw std::runtime_error("no sockets");
    child_ = in_child([this] {
      ::close(ends_[0]);
      char octet{};
      if (::write(ends_[1], &octet, 1) != 1) return 1;
      return static_cast<int>(::read(ends_[1], &octet, 1));
    });
    ::close(ends_[1]);
    char octet{};
    if (::read(ends_[0], &octet, 1) != 1) throw std::runtime_error("the child does not run");
  }
  ~WaitingChild() {
    ::close(ends_[0]);
    EXPECT_EQ(exit_code(child_), 0);
  }
  WaitingChild(const WaitingChild&) = delete;
  WaitingChild& operator=(const WaitingChild&) = delete;

 private:
  std::array<int, 2> ends_{};
  pid_t child_{};
};

struct Listening {
  EventChannel events = must(EventChannel::create(), "EventChannel");
  std::optional<ConnectionId> id = must(ConnectionId::create(events), "ConnectionId");
  Endpoint at{};

  Listening() {
    must(id->bind_address(loopback("127.0.0.1")), "bind");
    must(id->listen(), "listen");
    at = id->local_address();
  }
};

// What TCP says to a connection there: 0, or an errno.
int tcp_connect(const Endpoint& at) {
  sockaddr_storage storage{};
  const socklen_t length = at.to_sockaddr(storage);
  const int descriptor = ::socket(storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int error = ::connect(descriptor, reinterpret_cast<const sockaddr*>(&storage), length) == 0 ? 0 : errno;
  ::close(descriptor);
  return error;
}

TEST(Fork, AChildDoesNotKeepItsParentsPort) {
  Listening listening;
  const WaitingChild child;
  EXPECT_EQ(tcp_connect(listening.at), 0);
  listening.id.reset();
  EXPECT_EQ(tcp_connect(listening.at), ECONNREFUSED);
}

// Parent and child share one epoll set: what the child took out of it, the parent would not hear of any more.
TEST(Fork, AParentListensOnWhenItsChildDestroysTheListener) {
  Listening listening;
  const pid_t child = in_child([&] {
    listening.id.reset();
    return 0;
  });
  EXPECT_EQ(exit_code(child), 0);
  End client;
  client.id = must(ConnectionId::create(listening.events), "ConnectionId");
  resolve(*client.id, listening.events, listening.at);
  must(client.id->connect(*client.qp), "connect");
  expect_event(listening.events, ConnectionEventType::kConnectRequest);
}

TEST(Fork, AChildDoesNotKeepItsParentsConnectionOpen) {
  Pair pair;
  const WaitingChild child;
  pair.client.qp.reset();
  wait_until([&] { return pair.server.qp->state() == QpState::kError; }, "the server's end");
}

// Writes one after the other, and a thread that waits for each, until it goes.
class Traffic {
 public:
  explicit Traffic(Pair& pair)
      : pair_(pair), source_(pair.client, 4096), sink_(pair.server, 4096, kRemoteWrite), thread_([this] { run(); }) {}
  ~Traffic() { stop(); }
  // What was written last may not have arrived when this returns; the memory lives on.
  void stop() {
    over_ = true;
    if (thread_.joinable()) thread_.join();
  }
  Traffic(const Traffic&) = delete;
  Traffic& operator=(const Traffic&) = delete;

 private:
  static constexpr Access kRemoteWrite = Access::kLocalWrite | Access::kRemoteWrite;

  void run() {
    while (!over_) {
      must(pair_.client.qp->post_send({.opcode = SendOpcode::kRdmaWrite,
                                       .flags = SendFlags::kSignaled,
                                       .segments = std::array{source_.sge()},
                                       .remote_address = sink_.remote(),
                                       .rkey = sink_.region.rkey()}),
           "post_send");
      WorkCompletion completion;
      while (must(pair_.client.cq.poll({&completion, 1}), "poll") == 0) continue;
    }
  }

  Pair& pair_;
  Buffer source_;
  Buffer sink_;
  std::atomic<bool> over_{false};
  std::thread thread_;
};

// A lock that some thread of the parent held when it forked is held for ever in the child.
TEST(Fork, ChildrenDestroyWhatTheyInherited) {
  Pair pair;
  Listening listening;
  auto bystander = std::make_unique<Buffer>(pair.client, 64);
  Traffic traffic(pair);
  for (int i = 0; i < 200; ++i) {
    const pid_t child = in_child([&] {
      ::alarm(20);
      if (i % 2 == 0) static_cast<void>(pair.client.qp->modify(QpState::kError));
      if (i % 2 == 0) static_cast<void>(pair.server.id->disconnect());
      pair.client.qp.reset();
      pair.server.qp.reset();
      pair.client.id.reset();
      pair.server.id.reset();
      listening.id.reset();
      bystander.reset();
      return 0;
    });
    ASSERT_EQ(exit_code(child), 0) << "child " << i << " hung or crashed";
  }
  traffic.stop();
  exchange(pair);
  EXPECT_EQ(tcp_connect(listening.at), 0);
}

TEST(Fork, WhatIsTheParentsSaysSo) {
  Pair pair;
  const pid_t child = in_child([&] {
    ::alarm(20);
    const auto refused = [](const auto& result) { return !result && result.error().code == Errc::kInvalidState; };
    if (!refused(pair.client.id->disconnect())) return 1;
    if (!refused(pair.client.qp->modify(QpState::kError))) return 2;
    if (!refused(pair.client.channel.get_event())) return 3;
    return refused(pair.client.qp->post_send({.opcode = SendOpcode::kSend})) ? 0 : 4;
  });
  EXPECT_EQ(exit_code(child), 0);
  exchange(pair);
}

// The handler may run while its thread holds a lock of the runtime's.
TEST(Fork, InASignalHandler) {
  static std::atomic<int> children{0};  // lock-free, as a handler wants it
  const auto runtime = must(detail::Runtime::acquire(), "runtime");
  struct sigaction forks{};
  struct sigaction before{};
  forks.sa_handler = [](int) {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(0);
    if (child > 0 && ::waitpid(child, nullptr, 0) == child) ++children;
  };
  ASSERT_EQ(::sigaction(SIGUSR1, &forks, &before), 0);
  std::atomic<bool> over{false};
  std::thread busy([&] {
    while (!over) static_cast<void>(runtime->find(1));  // takes the lock of the streams
  });
  constexpr int kSignals = 30;
  for (int i = 0; i < kSignals; ++i) {
    const int seen = children;
    ASSERT_EQ(::pthread_kill(busy.native_handle(), SIGUSR1), 0);
    wait_until([&] { return children != seen; }, "a child");
  }
  over = true;
  busy.join();
  ::sigaction(SIGUSR1, &before, nullptr);
  Pair pair;
  exchange(pair);
}

TEST(Fork, AHeldLockIsFreeInTheChild) {
  const auto runtime = must(detail::Runtime::acquire(), "runtime");  // which hears of fork()
  detail::CompactMutex held;
  detail::CompactMutex reserved;
  std::binary_semaphore locked{0};
  std::binary_semaphore over{0};
  std::thread holder([&] {
    const std::scoped_lock lock(held, reserved);
    locked.release();
    over.acquire();
  });
  locked.acquire();
  const pid_t child = in_child([&] {
    ::alarm(20);
    if (!held.try_lock()) return 1;
    reserved.lock();
    if (reserved.try_lock()) return 2;
    reserved.unlock();
    held.unlock();
    return held.try_lock() && reserved.try_lock() ? 0 : 3;
  });
  EXPECT_EQ(exit_code(child), 0);
  EXPECT_FALSE(held.try_lock());
  over.release();
  holder.join();
  EXPECT_TRUE(held.try_lock());
  held.unlock();
}

}  // namespace
}  // namespace weft::verbs::test
