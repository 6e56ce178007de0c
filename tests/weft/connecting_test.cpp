// SPDX-License-Identifier: Apache-2.0
// How connections come about and end.
#include <algorithm>
#include <cstring>
#include <filesystem>

#include "ends.hpp"
#include "verbs/policy_text.hpp"
#include "verbs/verbs.hpp"

namespace weft::test {
namespace {

std::span<const std::byte> octets(std::string_view text) { return std::as_bytes(std::span(text)); }
std::string text(std::span<const std::byte> octets) {
  return {reinterpret_cast<const char*>(octets.data()), octets.size()};
}

TEST(Connecting, CarriesPrivateDataBothWays) {
  Listener listener = must(Listener::listen({"127.0.0.1", 0}));
  std::jthread server([&] {
    Connection request = must(listener.next(kPatience));
    EXPECT_EQ(text(request.peer_data()), "who is there?");
    EXPECT_EQ(request.peer().host, "127.0.0.1");
    must(request.establish(kPatience, octets("I am")));
    must(request.receive({}, kPatience));
  });
  Connection client = must(Connection::connect(listener.local(), kPatience, octets("who is there?")));
  EXPECT_EQ(text(client.peer_data()), "I am");
  EXPECT_EQ(client.peer(), listener.local());
  must(client.send({}, kPatience));
}

TEST(Connecting, IsRefusedWhereNobodyListens) {
  const Endpoint nobody = must(Listener::listen({"127.0.0.1", 0})).local();
  const auto refused = Connection::connect(nobody, kPatience);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::kRefused) << refused.error().message();
  EXPECT_EQ(refused.error().operation, "establish");
}

TEST(Connecting, IsRejectedByTheProgramWithItsWords) {
  Listener listener = must(Listener::listen({"127.0.0.1", 0}));
  std::jthread server([&] { must(must(listener.next(kPatience)).reject(octets("not today"))); });
  Connection client = must(Connection::prepare(listener.local()));
  const auto rejected = client.establish(kPatience);
  ASSERT_FALSE(rejected);
  EXPECT_EQ(rejected.error().code, Errc::kRejected);
  EXPECT_EQ(text(client.peer_data()), "not today");
}

// The cause of the end is that of all that follows.
TEST(Connecting, SaysLaterWhyItWasRejected) {
  Listener listener = must(Listener::listen({"127.0.0.1", 0}));
  std::optional<Connection> request;
  std::jthread server([&] {
    request = must(listener.next(kPatience));
    must(request->reject());
  });
  Connection client = must(Connection::prepare(listener.local()));
  const auto rejected = client.establish(kPatience);
  server.join();
  ASSERT_FALSE(rejected);
  const auto again = client.establish(kPatience), sent = client.send({}, kPatience);
  ASSERT_FALSE(again || sent);
  EXPECT_EQ(again.error().message(), rejected.error().message());
  EXPECT_EQ(sent.error().code, Errc::kRejected) << sent.error().message();
  EXPECT_EQ(sent.error().reason, rejected.error().reason);
  EXPECT_EQ(sent.error().status, verbs::WcStatus::kFlushed);
  EXPECT_EQ(sent.error().operation, "send");
  const auto accepted = request->establish(kPatience);
  ASSERT_FALSE(accepted);
  EXPECT_EQ(accepted.error().reason, "this end rejected the request");
}

TEST(Connecting, MayBeRepeatedWithLessPrivateData) {
  Listener listener = must(Listener::listen({"127.0.0.1", 0}));
  const std::vector<std::byte> much(509);
  std::jthread server([&] {
    Connection request = must(listener.next(kPatience));
    const auto refused = request.establish(kPatience, much);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Errc::kPrivateDataTooLong);
    must(request.establish(kPatience));
    must(request.receive({}, kPatience));
  });
  Connection client = must(Connection::prepare(listener.local()));
  const auto refused = client.establish(kPatience, much);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::kPrivateDataTooLong);
  must(client.establish(kPatience));
  EXPECT_EQ(client.establish(kPatience).error().code, Errc::kInvalidState);
  must(client.send({}, kPatience));
}

TEST(Connecting, GivesUpAPeerThatDoesNotAnswer) {
  Listener listener = must(Listener::listen({"127.0.0.1", 0}));  // and takes no request
  const auto late = Connection::connect(listener.local(), 50ms);
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, Errc::kTimedOut) << late.error().message();
}

TEST(Connecting, FailsForAnAddressThatCannotBe) {
  const auto unknown = Connection::connect({"127.0.0.1", 0}, kPatience);
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, Errc::kInvalidArgument);
  EXPECT_EQ(unknown.error().operation, "connect");
  const auto elsewhere = Listener::listen({"192.0.2.1", 0});
  ASSERT_FALSE(elsewhere);
  EXPECT_EQ(elsewhere.error().operation, "listen");
}

TEST(Connecting, TakesThePolicyOfBothEnds) {
  const verbs::Policy policy = verbs::parse_policy("crc=off").value();
  Listener listener = must(Listener::listen({"127.0.0.1", 0}, policy));
  std::jthread server([&] {
    Connection accepted = must(listener.accept(kPatience));
    must(accepted.receive({}, kPatience));
  });
  Connection client = must(Connection::prepare(listener.local()));
  ASSERT_TRUE(client.id().set_policy(policy));
  must(client.establish(kPatience));
  EXPECT_FALSE(client.queue_pair().query().negotiated->crc);
  EXPECT_EQ(client.queue_pair().query().negotiated->rtr, verbs::Rtr::kNone);
  must(client.send({}, kPatience));
}

TEST(Connecting, LetsTheConnectingEndSendFirst) {
  Ends ends;
  std::array<verbs::WorkCompletion, 1> done;
  must(ends.server.send({}, Post{1}));
  EXPECT_EQ(ends.server.completions(done, 0s).error().code, Errc::kTimedOut) << "it waits for the client";
  must(ends.client.send({}, kPatience));
  EXPECT_EQ(must(ends.server.completions(done, kPatience)), 1U);
  EXPECT_EQ(done[0].status, verbs::WcStatus::kSuccess);
}

TEST(Connecting, LetsEitherEndSendFirstIfPeerToPeer) {
  Ends ends({}, {.startup = {.peer_to_peer = true}});
  must(ends.server.send({}, kPatience));
  must(ends.client.receive({}, kPatience));
}

TEST(Listening, GivesUpAtTheDeadlineAndGoesOn) {
  Listener listener = must(Listener::listen({"127.0.0.1", 0}));
  const auto none = listener.next(20ms);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, Errc::kTimedOut);
  std::jthread server([&] { must(must(listener.accept(kPatience)).receive({}, kPatience)); });
  Connection client = must(Connection::connect(listener.local(), kPatience));
  must(client.send({}, kPatience));
}

TEST(Listening, HasTheBacklogThatIsAskedFor) {
  const auto half_open_most = [](Result<Listener> listener) {
    return must(std::move(listener)).id().listen_counts().value().half_open_most;
  };
  const std::size_t usual = half_open_most(Listener::listen({"127.0.0.1", 0}));
  EXPECT_EQ(half_open_most(Listener::listen({"127.0.0.1", 0}, Listener::kDefaultBacklog)), usual);
  EXPECT_GT(half_open_most(Listener::listen({"127.0.0.1", 0}, 1000)), usual) << "four times the backlog";
  EXPECT_GT(half_open_most(Listener::listen({"127.0.0.1", 0}, verbs::Policy{}, 1000)), usual);
  for (const int backlog : {0, -1}) {
    const auto none = Listener::listen({"127.0.0.1", 0}, backlog);
    ASSERT_FALSE(none);
    EXPECT_EQ(none.error().code, Errc::kInvalidArgument);
    EXPECT_EQ(none.error().argument, "backlog");
  }
}

TEST(Listening, GivesEachRequestToOneThread) {
  Listener listener = must(Listener::listen({"::1", 0}));
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] { must(must(listener.accept(kPatience)).receive({}, kPatience)); });
    threads.emplace_back([&] { must(must(Connection::connect(listener.local(), kPatience)).send({}, kPatience)); });
  }
}

TEST(Requests, AreRejectedByTheirDestructor) {
  Listener listener = must(Listener::listen({"127.0.0.1", 0}));
  std::jthread server([&] { must(listener.next(kPatience)); });
  const auto refused = Connection::connect(listener.local(), kPatience);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::kRejected) << refused.error().message();
}

TEST(Requests, TakeReceivesBeforeTheyAreAccepted) {
  std::optional<Memory> into;
  Ends ends([&](Connection& client, Connection& server) {
    into.emplace(server);
    must(server.receive(into->region, Post{3}));
    EXPECT_FALSE(client.send({}, Post{1}));
  });
  must(ends.client.send({}, kPatience));
  std::array<verbs::WorkCompletion, 1> done;
  EXPECT_EQ(must(ends.server.completions(done, kPatience)), 1U);
  EXPECT_EQ(done[0].wr_id, 3U);
  into.reset();
}

TEST(Closing, WaitsForThePeerAndIsNoErrorTwice) {
  Ends ends;
  must(ends.client.close(kPatience));
  must(ends.client.close(kPatience));
  must(ends.server.close(kPatience));
}

// More than TCP's buffers and the rings of shared memory hold.
constexpr std::size_t kMuch = 32 << 20;

void expect_finished(verbs::SameHost same_host) {
  Ends ends({}, {.startup = {.same_host = same_host}, .timeouts = {.disconnect = 10ms}});
  const Memory message(ends.client, kMuch, 7);
  must(ends.client.send(message.region, Post{1}));
  Result<void> closed;
  std::jthread closes([&] { closed = ends.client.close(kPatience); });
  std::array<verbs::WorkCompletion, 1> done;
  const auto none = ends.client.completions(done, 200ms);
  EXPECT_FALSE(none) << "the send cannot have been done: " << verbs::to_string(done[0].status);
  Memory into(ends.server, kMuch);
  EXPECT_EQ(must(ends.server.receive(into.region, kPatience)), kMuch);
  closes.join();
  must(closed);
  ASSERT_EQ(must(ends.client.completions(done, kPatience)), 1U);
  EXPECT_EQ(done[0].status, verbs::WcStatus::kSuccess);
}

TEST(Closing, FinishesSendsThatThePeerTakesLate) { expect_finished(verbs::SameHost::kOn); }
TEST(Closing, FinishesSendsThatThePeerTakesLateByTcp) { expect_finished(verbs::SameHost::kOff); }

TEST(Closing, SaysThatASendWasNotFinished) {
  for (const verbs::SameHost same_host : {verbs::SameHost::kOn, verbs::SameHost::kOff}) {
    Ends ends({}, {.startup = {.same_host = same_host}, .timeouts = {.finish = 50ms}});
    const Memory message(ends.client, kMuch);
    must(ends.client.send(message.region, Post{1}));
    const auto closed = ends.client.close(kPatience);
    ASSERT_FALSE(closed);
    EXPECT_EQ(closed.error().status, verbs::WcStatus::kFlushed);
    EXPECT_EQ(closed.error().message(), "close: connection: ended before all posted sends were done (disconnected)");
    must(ends.client.close(kPatience));
  }
}

// What failed before is told by its completion, and by no later close().
TEST(Closing, IsNoErrorAfterTheConnectionHasEnded) {
  Ends ends;
  const Memory message(ends.client, kMuch);
  must(ends.client.send(message.region, Post{1}));
  ends.client.queue_pair().modify(verbs::QpState::kError).value();
  std::array<verbs::WorkCompletion, 1> done;
  ASSERT_EQ(must(ends.client.completions(done, kPatience)), 1U);
  EXPECT_EQ(done[0].status, verbs::WcStatus::kFlushed);
  must(ends.client.close(kPatience));
}

TEST(Closing, IsAnErrorBeforeThereIsAConnection) {
  const Listener listener = must(Listener::listen({"127.0.0.1", 0}));
  Connection client = must(Connection::prepare(listener.local()));
  const auto closed = client.close(kPatience);
  ASSERT_FALSE(closed);
  EXPECT_EQ(closed.error().code, Errc::kInvalidState);
}

// What was sent reaches the peer, although the sender has gone.
TEST(Destruction, LosesNothingThatWasSent) {
  Listener listener = must(Listener::listen({"127.0.0.1", 0}));
  std::jthread client([&] {
    Connection connection = must(Connection::connect(listener.local(), kPatience));
    const Memory message(connection, 64, 7);
    must(connection.send(message.region, kPatience));
  });
  Connection server = must(listener.accept(kPatience));
  client.join();
  Memory into(server);
  EXPECT_EQ(must(server.receive(into.region, kPatience)), 64U);
  EXPECT_EQ(into.octets[1], 8);
}

TEST(Moving, TakesTheConnectionAlong) {
  Ends ends, others;
  Connection moved(std::move(ends.client));
  must(moved.send({}, kPatience));
  must(ends.server.receive({}, kPatience));
  moved = std::move(others.client);  // and ends the first
  EXPECT_FALSE(ends.server.receive({}, kPatience));
  must(moved.send({}, kPatience));
  must(others.server.receive({}, kPatience));
}

std::ptrdiff_t open_descriptors() { return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {}); }

// A server has as many connections as its limit of descriptors lets it have.
TEST(Connecting, AnEndNeedsFourDescriptors) {
  const verbs::Policy over_tcp{.startup = {.same_host = verbs::SameHost::kOff}};
  const Ends first({}, over_tcp);  // the process has its threads
  const auto before = open_descriptors();
  const Ends second({}, over_tcp);
  const auto listener = 2;
  EXPECT_EQ(open_descriptors() - before, 2 * 4 + listener);
}

}  // namespace
}  // namespace weft::test
