// SPDX-License-Identifier: Apache-2.0
// In which order a listener takes offers of shared memory, and so the Requests in it. The initiators are the test's own: they
// offer rings before or after they connect by TCP.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "lone_ends.hpp"
#include "mpa/startup_frame.hpp"
#include "tests/transport/same_host_pair.hpp"
#include "transport/same_host/offer.hpp"

namespace weft::verbs::test {
namespace {

using transport::same_host::Session;

class HandInitiator {
 public:
  explicit HandInitiator(const Endpoint& server, std::uint16_t from = 0)
      : server_(server), socket_(transport::test::bind_loopback(from)) {}
  ~HandInitiator() { ::close(socket_.descriptor); }
  HandInitiator(const HandInitiator&) = delete;
  HandInitiator& operator=(const HandInitiator&) = delete;

  [[nodiscard]] std::uint16_t port() const { return socket_.at.port; }
  void connect() const {
    sockaddr_storage storage{};
    const socklen_t size = server_.to_sockaddr(storage);
    ASSERT_EQ(::connect(socket_.descriptor, reinterpret_cast<sockaddr*>(&storage), size), 0);
  }
  void offer() {
    auto offered = Session::offer(socket_.at, server_);
    ASSERT_TRUE(offered) << offered.error().message();
    rings_ = std::move(*offered);
  }
  void request(std::string_view name) {
    const mpa::StartupFrame frame{
        .kind = mpa::FrameKind::kRequest, .crc = true, .revision = 1, .private_data = std::as_bytes(std::span(name))};
    std::array<std::byte, mpa::kMaxStartupFrameSize> octets;
    const Bytes all(octets.data(), serialize(frame, octets));
    ASSERT_EQ(rings_->write(std::span(&all, 1)).octets, all.size());
  }
  [[nodiscard]] bool is_refused() const { return rings_->peer_has_closed(); }

 private:
  Endpoint server_;
  transport::test::Bound socket_;
  std::unique_ptr<Session> rings_;
};

// The name that the next Request brings.
std::string next_name(Server& server) {
  auto event = expect_event(server.events, ConnectionEventType::kConnectRequest);
  return {reinterpret_cast<const char*>(event.private_data.data()), event.private_data.size()};
}

// perftest makes several connections one after the other, and pairs its queue pairs with them by the order of the requests.
TEST(SameHostOffers, OfOneProcessAreTakenInTheirOrderAndHoldBackNoOther) {
  Server server({.startup = {.same_host = SameHost::kOn}});
  const Endpoint at = server.id.local_address();
  HandInitiator first(at), second(at);
  first.offer();  // its TCP connection is not there yet
  first.request("first");
  second.connect();
  second.offer();
  second.request("second");
  const pid_t other = ::fork();
  if (other == 0) {
    HandInitiator third(at);
    third.connect();
    third.offer();
    third.request("other");
    for (;;) ::pause();
  }
  EXPECT_EQ(next_name(server), "other");
  first.connect();
  EXPECT_EQ(next_name(server), "first");
  EXPECT_EQ(next_name(server), "second");
  ::kill(other, SIGKILL);
  ::waitpid(other, nullptr, 0);
}

// The bell of the first may have been heard by no thread yet.
TEST(SameHostOffers, ARequestThatWaitsInItsRingIsReadBeforeTheNextOfferIsTaken) {
  Server server({.startup = {.same_host = SameHost::kOn}});
  for (int round = 0; round < 200; ++round) {
    HandInitiator first(server.id.local_address()), second(server.id.local_address());
    first.connect();
    first.offer();
    second.connect();
    first.request("first");
    second.offer();
    second.request("second");
    ASSERT_EQ(next_name(server), "first");
    ASSERT_EQ(next_name(server), "second");
  }
}

// The kernel's queue of connections was full, and the initiator does not know.
TEST(SameHostOffers, OneWhoseConnectionNeverComesHoldsBackTheOthersForATime) {
  Server server({.startup = {.same_host = SameHost::kOn}});
  HandInitiator lost(server.id.local_address()), second(server.id.local_address());
  lost.offer();
  lost.request("lost");
  second.connect();
  second.offer();
  second.request("second");
  EXPECT_EQ(next_name(server), "second");
  EXPECT_TRUE(lost.is_refused());
}

// Its process would wait for it for seconds, with all connections that it makes meanwhile.
TEST(SameHostOffers, OneWhoseConnectionHadToMakeWayIsRefused) {
  Server server({.startup = {.same_host = SameHost::kOn}, .admission = {.half_open_per_peer = 1}});
  HandInitiator first(server.id.local_address()), second(server.id.local_address());
  first.connect();
  wait_until([&] { return server.counts().half_open == 1; }, "the first connection");
  second.connect();
  wait_until([&] { return server.counts().dropped == 1; }, "its end");
  first.offer();
  first.request("first");
  second.offer();
  second.request("second");
  EXPECT_EQ(next_name(server), "second");
}

// Two clients may have one port towards two addresses of a listener. What becomes of one says nothing about the other.
TEST(SameHostOffers, AreOfAConnectionAndNotOfAPort) {
  Server server({.startup = {.same_host = SameHost::kOn}, .admission = {.half_open_per_peer = 1}}, 128, "0.0.0.0");
  const std::uint16_t port = server.id.local_address().port;
  HandInitiator first({Address::parse("127.0.0.1").value(), port});
  HandInitiator second({Address::parse("127.0.0.2").value(), port}, first.port());
  first.connect();
  wait_until([&] { return server.counts().half_open == 1; }, "the first connection");
  second.connect();
  wait_until([&] { return server.counts().dropped == 1; }, "its end");
  second.offer();
  second.request("second");
  EXPECT_EQ(next_name(server), "second");
}

// Ports are used again. The offer of an initiator that gave up is not for the next connection from its port.
TEST(SameHostOffers, OneThatWasGivenUpIsNotForTheNextConnectionOfItsPort) {
  Server server({.startup = {.same_host = SameHost::kOn}});
  const Endpoint at = server.id.local_address();
  HandInitiator holds_back_the_others(at);
  holds_back_the_others.offer();
  holds_back_the_others.request("first");
  auto gives_up = std::make_unique<HandInitiator>(at);
  gives_up->offer();
  const std::uint16_t port = gives_up->port();
  gives_up.reset();
  HandInitiator next(at, port);
  next.connect();
  wait_until([&] { return server.counts().half_open == 1; }, "the connection");
  next.offer();
  next.request("next");
  holds_back_the_others.connect();
  EXPECT_EQ(next_name(server), "first");
  EXPECT_EQ(next_name(server), "next");
}

}  // namespace
}  // namespace weft::verbs::test
