// SPDX-License-Identifier: Apache-2.0
// Listener and Connector against each other and against plain sockets.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>

#include <array>
#include <memory>
#include <mutex>

#include "tests/transport/support.hpp"
#include "transport/connector.hpp"
#include "transport/listener.hpp"

namespace weft::transport::test {
namespace {

using Result = std::expected<Socket, std::error_code>;
using Status = IoResult::Status;

Endpoint loopback(Family family) { return {Address::loopback(family), 0}; }

struct Connection : testing::Test {
  RunningReactor reactor{};
  Mailbox<Result> accepted{};
  Mailbox<Result> connected{};

  Listener listen(const Endpoint& at, const ListenOptions& options = {}) {
    return Listener::create(*reactor, reactor.sockets(), at, options,
                            [this](Result result) { accepted.put(std::move(result)); })
        .value();
  }
  Connector connect(const Endpoint& to, const ConnectOptions& options = {}) {
    return {*reactor, to, options, [this](Result result) { connected.put(std::move(result)); }};
  }
};

// Over loopback TCP connects within the call, as far as the kernel has time for it; what it leaves, a connector does.
TEST_F(Connection, IsBegunInTheCallingThread) {
  const Listener listener = listen(loopback(Family::kIpv4));
  auto begun = begin_connect({}, listener.local(), {});
  ASSERT_TRUE(begun);
  const bool at_once = begun->connected;
  if (at_once) {
    EXPECT_EQ(begun->socket.peer(), listener.local());
  }
  const Connector connector(*reactor, std::move(begun), std::chrono::seconds(10),
                            [this](Result result) { connected.put(std::move(result)); });
  const auto client = connected.take().value();
  ASSERT_TRUE(client);
  EXPECT_EQ(client->local(), accepted.take().value()->peer());
  EXPECT_GT(client->round_trip(), 0us) << "as the kernel measured it while connecting";
}

TEST_F(Connection, BeginsNothingWhereItCannot) {
  const Listener listener = listen(loopback(Family::kIpv4));
  const auto begun = begin_connect({}, listener.local(), {.local = Endpoint::parse("192.0.2.1:0").value()});
  ASSERT_FALSE(begun);
  EXPECT_EQ(begun.error(), std::errc::address_not_available);
}

struct ConnectionOf : Connection, testing::WithParamInterface<Family> {};

TEST_P(ConnectionOf, CarriesOctetsBothWays) {
  if (GetParam() == Family::kIpv6 && !has_ipv6_loopback()) GTEST_SKIP() << "SKIPPED: this host has no IPv6 loopback";
  const Listener listener = listen(loopback(GetParam()));
  EXPECT_NE(listener.local().port, 0);
  const Connector connector = connect(listener.local());
  Socket client = std::move(connected.take().value().value());
  Socket server = std::move(accepted.take().value().value());
  EXPECT_EQ(client.peer(), listener.local());
  EXPECT_EQ(client.local(), server.peer());
  const auto octets = pattern(1000);
  std::vector<std::byte> got(1000);
  EXPECT_EQ(write_one(client, octets).octets, 1000U);
  EXPECT_EQ(read_patiently(server, got).octets, 1000U);
  EXPECT_EQ(got, octets);
  EXPECT_EQ(write_one(server, octets).octets, 1000U);
  EXPECT_EQ(read_patiently(client, got).octets, 1000U);
}

INSTANTIATE_TEST_SUITE_P(Families, ConnectionOf, testing::Values(Family::kIpv4, Family::kIpv6),
                         [](const auto& family) { return family.param == Family::kIpv4 ? "Ipv4" : "Ipv6"; });

TEST_F(Connection, Ipv6WildcardTakesIpv4Too) {
  if (!has_ipv6_loopback()) GTEST_SKIP() << "SKIPPED: this host has no IPv6 loopback";
  const Listener listener = listen({Address::any(Family::kIpv6), 0});
  const Connector connector = connect({Address::loopback(Family::kIpv4), listener.local().port});
  ASSERT_TRUE(connected.take().value());
  EXPECT_EQ(accepted.take().value()->peer()->address, Address::loopback(Family::kIpv4));
}

TEST_F(Connection, ManyAtOnce) {
  const Listener listener = listen(loopback(Family::kIpv4));
  std::vector<Connector> connectors;
  for (int i = 0; i < 100; ++i) connectors.push_back(connect(listener.local()));
  for (int i = 0; i < 100; ++i) {
    EXPECT_TRUE(connected.take().value());
    EXPECT_TRUE(accepted.take().value());
  }
}

TEST_F(Connection, BindsToTheLocalEndpoint) {
  const Listener listener = listen(loopback(Family::kIpv4));
  const Connector connector = connect(listener.local(), {.local = Endpoint::parse("127.0.0.2:0").value()});
  ASSERT_TRUE(connected.take().value());
  EXPECT_EQ(accepted.take().value()->peer()->address.to_string(), "127.0.0.2");
}

TEST_F(Connection, OptionsReachBothEnds) {
  const SocketOptions options{.user_timeout = 4321ms, .receive_buffer = 50000};
  const Listener listener = listen(loopback(Family::kIpv4), {.socket = options});
  const Connector connector = connect(listener.local(), {.socket = options});
  for (auto* box : {&connected, &accepted}) {
    const Socket socket = std::move(box->take().value().value());
    int size = 0;
    socklen_t length = sizeof size;
    getsockopt(socket.descriptor(), SOL_SOCKET, SO_RCVBUF, &size, &length);
    EXPECT_EQ(size, 100000);
  }
}

// An accepted socket has them from its listener, which was told once.
TEST_F(Connection, AcceptedSocketsAreLikeConnectedOnes) {
  const SocketOptions options{.keepalive = KeepAlive{.idle = 33s, .interval = 7s, .probes = 4},
                              .user_timeout = 4321ms,
                              .congestion_control = "reno"};
  const Listener listener = listen(loopback(Family::kIpv4), {.socket = options});
  const Connector connector = connect(listener.local(), {.socket = options});
  for (auto* box : {&connected, &accepted}) {
    const Socket socket = std::move(box->take().value().value());
    const auto option = [&](int level, int name) {
      int value = 0;
      socklen_t length = sizeof value;
      getsockopt(socket.descriptor(), level, name, &value, &length);
      return value;
    };
    EXPECT_EQ(option(IPPROTO_TCP, TCP_NODELAY), 1);
    EXPECT_EQ(congestion_control_of(socket.descriptor()), "reno");
    EXPECT_EQ(option(SOL_SOCKET, SO_KEEPALIVE), 1);
    EXPECT_EQ(option(IPPROTO_TCP, TCP_KEEPIDLE), 33);
    EXPECT_EQ(option(IPPROTO_TCP, TCP_KEEPINTVL), 7);
    EXPECT_EQ(option(IPPROTO_TCP, TCP_KEEPCNT), 4);
    EXPECT_EQ(option(IPPROTO_TCP, TCP_USER_TIMEOUT), 4321);
    EXPECT_EQ(fcntl(socket.descriptor(), F_GETFL) & O_NONBLOCK, O_NONBLOCK);
    EXPECT_EQ(fcntl(socket.descriptor(), F_GETFD), FD_CLOEXEC);
  }
}

TEST_F(Connection, RefusedWhereNobodyListens) {
  const Bound bound = bind_loopback();  // bound, so that no other socket takes the port; but not listening
  const Connector connector = connect(bound.at);
  EXPECT_EQ(connected.take().value().error(), std::errc::connection_refused);
  ::close(bound.descriptor);
}

TEST_F(Connection, LocalEndpointThatIsNotOursFails) {
  const Listener listener = listen(loopback(Family::kIpv4));
  const Connector connector = connect(listener.local(), {.local = Endpoint::parse("192.0.2.1:0").value()});
  EXPECT_EQ(connected.take().value().error(), std::errc::address_not_available);
}

// A connect from a port to itself succeeds in TCP (simultaneous open); here it counts as refused.
TEST_F(Connection, DoesNotMeetItself) {
  const Bound bound = bind_loopback();
  ::close(bound.descriptor);
  const Connector connector = connect(bound.at, {.local = bound.at});
  EXPECT_EQ(connected.take().value().error(), std::errc::connection_refused);
}

// A listener whose queue is full drops SYNs: the nearest thing to a silent host that loopback offers. With one connection
// it is full.
struct Silent : Bound {
  Silent() : Bound(bind_loopback()) {
    EXPECT_EQ(::listen(descriptor, 0), 0);
    filler = connect_plainly(at);
    EXPECT_TRUE(becomes_readable(descriptor));
  }
  ~Silent() {
    ::close(filler);
    ::close(descriptor);
  }
  Silent(const Silent&) = delete;
  Silent& operator=(const Silent&) = delete;

  int filler = -1;
};

TEST_F(Connection, TimesOutOnSilence) {
  const Silent silent;
  const auto before = std::chrono::steady_clock::now();
  const Connector connector = connect(silent.at, {.timeout = 150ms});
  const auto result = connected.take();
  ASSERT_TRUE(result);
  EXPECT_EQ(result->error(), std::errc::timed_out);
  EXPECT_GE(std::chrono::steady_clock::now() - before, 150ms);
  EXPECT_FALSE(connected.take(50ms)) << "exactly once";
}

TEST_F(Connection, AbandonedConnectorStaysSilent) {
  const Silent silent;
  {
    const Connector connector = connect(silent.at, {.timeout = 30ms});
  }
  EXPECT_FALSE(connected.take(100ms));
}

TEST_F(Connection, ListeningTwiceFails) {
  const Listener listener = listen(loopback(Family::kIpv4));
  const auto second = Listener::create(*reactor, reactor.sockets(), listener.local(), {}, [](Result) {});
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error(), std::errc::address_in_use);
}

TEST_F(Connection, DestroyedListenerFreesItsPortAndRefuses) {
  std::optional<Listener> listener = listen(loopback(Family::kIpv4));
  const Endpoint at = listener->local();
  listener.reset();
  const Connector connector = connect(at);
  EXPECT_EQ(connected.take().value().error(), std::errc::connection_refused);
  EXPECT_TRUE(Listener::create(*reactor, reactor.sockets(), at, {}, [](Result) {}));
}

TEST_F(Connection, CallbackMayDestroyItsListener) {
  std::unique_ptr<Listener> listener;
  Mailbox<int> done;
  listener = std::make_unique<Listener>(
      Listener::create(*reactor, reactor.sockets(), loopback(Family::kIpv4), {}, [&](Result) {
        listener.reset();
        done.put(1);
      }).value());
  const int client = connect_plainly(listener->local());
  EXPECT_TRUE(done.take());
  ::close(client);
}

// Callbacks touch memory that dies right after the object: a sanitizer sees any that comes late.
TEST_F(Connection, NeverCallsBackAfterDestruction) {
  for (int i = 0; i < 200; ++i) {
    auto calls = std::make_unique<std::atomic<int>>(0);
    {
      const auto count = [&calls](Result) { ++*calls; };
      const Listener listener =
          Listener::create(*reactor, reactor.sockets(), loopback(Family::kIpv4), {}, count).value();
      const Connector connector(*reactor, listener.local(), {.timeout = std::chrono::milliseconds(i % 3)}, count);
      dawdle(i);
    }
    calls.reset();
  }
}

TEST_F(Connection, ListenerWithoutRoomIsAskedAgainWhenItResumes) {
  ReadinessThread thread = ReadinessThread::create([](const Ready&) {}).value();  // not started: serve_one() serves
  int room = 0, asked = 0;
  Listener listener =
      Listener::create(*reactor, thread, loopback(Family::kIpv4), {.room = [&] { return ++asked, room; }},
                       [this](Result result) { accepted.put(std::move(result)); })
          .value();
  const int client = connect_plainly(listener.local());
  ASSERT_TRUE(becomes_readable(listener.descriptor()));
  EXPECT_TRUE(thread.serve_one());
  EXPECT_FALSE(thread.serve_one()) << "a client that waits keeps the thread busy";
  EXPECT_EQ(asked, 1);
  EXPECT_EQ(accepted.size(), 0U);
  room = 1;
  listener.resume();
  EXPECT_TRUE(thread.serve_one());
  EXPECT_EQ(accepted.size(), 1U);
  ::close(client);
}

// The owner of descriptors that may be closed for the newcomer is asked first, and no client waits.
TEST_F(Connection, ListenerHasRoomMadeForWantOfDescriptors) {
  std::mutex mutex;  // of what follows
  std::optional<NoDescriptorsLeft> here;
  const auto make_room = [&] {
    const std::lock_guard lock(mutex);
    return here.reset(), true;
  };
  const Listener listener = listen(loopback(Family::kIpv4), {.make_room = make_room});
  const int client = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  {
    const std::lock_guard lock(mutex);
    here.emplace();
  }
  sockaddr_storage storage{};
  const socklen_t length = listener.local().to_sockaddr(storage);
  EXPECT_EQ(::connect(client, reinterpret_cast<sockaddr*>(&storage), length), 0);
  const auto first = accepted.take();
  ASSERT_TRUE(first);
  EXPECT_TRUE(first->has_value()) << "no error was told before";
  ::close(client);
}

// Out of descriptors: the listener says so, does not spin, and accepts the waiting connection when it can.
TEST_F(Connection, ListenerSurvivesLackOfDescriptors) {
  using Clock = std::chrono::steady_clock;
  Mailbox<std::pair<Result, Clock::time_point>> told;
  const Listener listener =
      Listener::create(*reactor, reactor.sockets(), loopback(Family::kIpv4), {}, [&](Result result) {
        told.put({std::move(result), Clock::now()});
      }).value();
  const int client = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  {
    const NoDescriptorsLeft here;
    sockaddr_storage storage{};
    const socklen_t length = listener.local().to_sockaddr(storage);
    EXPECT_EQ(::connect(client, reinterpret_cast<sockaddr*>(&storage), length), 0);
    const auto first = told.take();
    const auto second = told.take();
    ASSERT_TRUE(first && second);
    EXPECT_EQ(first->first.error(), std::errc::too_many_files_open);
    EXPECT_GE(second->second - first->second, 50ms) << "it makes pauses";
  }
  std::optional<std::pair<Result, Clock::time_point>> last;
  do {
    last = told.take();
    ASSERT_TRUE(last);
  } while (!last->first);
  ::close(client);
}

}  // namespace
}  // namespace weft::transport::test
