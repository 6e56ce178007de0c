// SPDX-License-Identifier: Apache-2.0
// What an error says: which operation, which memory, and what ended the connection.
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <optional>

#include "ends.hpp"
#include "verbs/verbs.hpp"

namespace weft::test {
namespace {

using verbs::WcStatus;

template <typename T>
Error error_of(const Result<T>& result) {
  if (result) throw std::runtime_error("this has to fail");
  return result.error();
}

void expect_says(const Error& error, std::string_view words) {
  EXPECT_NE(error.message().find(words), std::string::npos) << error.message();
}

// --- This end's memory

TEST(LocalProtection, NamesTheMemoryThatWasDeregistered) {
  Ends ends;
  Memory target(ends.server);
  std::array<char, 24> text{};
  std::optional<Region> region(must(ends.client.register_memory(text)));
  const Slice slice = must(region->subspan(8, 16));
  region.reset();
  const Error error = error_of(ends.client.write(slice, target.remote(), kPatience));
  EXPECT_EQ(error.status, WcStatus::kLocalProtectionError);
  EXPECT_EQ(error.code, Errc::kInvalidKey);
  EXPECT_EQ(error.operation, "write");
  ASSERT_TRUE(error.segment);
  EXPECT_EQ(*error.segment, must(slice.sge()));
  expect_says(error, "write: 16 octets at 0x");
  expect_says(error, "lkey: unknown, or its region was deregistered (invalid key)");
}

TEST(LocalProtection, SaysThatMemoryIsNotWritable) {
  Ends ends;
  Memory target(ends.server);
  const std::string text = "only read";
  const Region region = must(ends.client.register_memory(text));
  const RemoteRegion source = must(target.remote().subspan(0, text.size()));
  const Error error = error_of(ends.client.read(region, source, kPatience));
  EXPECT_EQ(error.status, WcStatus::kLocalProtectionError);
  EXPECT_EQ(error.code, Errc::kBadAddress);
  EXPECT_EQ(error.reason, "the region is not writable");
  // What follows is flushed, and says why.
  const Error later = error_of(ends.client.write(region, target.remote(), kPatience));
  EXPECT_EQ(later.status, WcStatus::kFlushed);
  EXPECT_EQ(later.operation, "write");
  EXPECT_EQ(later.reason, "the region is not writable");
}

TEST(LocalProtection, IsCheckedPerConnection) {
  Ends ends, others;
  Memory target(ends.server);
  const Memory foreign(others.client);
  const Error error = error_of(ends.client.write(foreign.region, target.remote(), kPatience));
  EXPECT_EQ(error.status, WcStatus::kLocalProtectionError);
  EXPECT_EQ(error.reason, "belongs to a window or to another protection domain");
}

TEST(LocalLength, IsTheReceiversError) {
  Ends ends;
  const Memory message(ends.client, 64);
  Memory into(ends.server, 63);
  must(ends.client.send(message.region, kPatience));
  const Error error = error_of(ends.server.receive(into.region, kPatience));
  EXPECT_EQ(error.status, WcStatus::kLocalLengthError);
  EXPECT_EQ(error.code, Errc::kMessageTooLong);
  EXPECT_EQ(error.operation, "receive");
}

// --- The connection

TEST(Established, ItCannotBeAgain) {
  Ends ends;
  const Error error = error_of(ends.client.establish(kPatience));
  EXPECT_EQ(error.code, Errc::kInvalidState);
  expect_says(error, "already established");
  EXPECT_TRUE(ends.client.send({}, kPatience)) << "and this changes nothing";
}

// Its process was killed, say. That breaks no rule.
TEST(PeerThatEndsInsideAMessage, IsLost) {
  Listener listener = must(Listener::listen({"127.0.0.1", 0}));
  const int peer = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  at.sin_port = htons(listener.local().port);
  ASSERT_EQ(::connect(peer, reinterpret_cast<sockaddr*>(&at), sizeof at), 0);
  const std::string request("MPA ID Req Frame\x40\x01\0\0", 20), half_an_fpdu("\0\x40\x41\x43", 4);
  ASSERT_EQ(::send(peer, request.data(), request.size(), 0), 20);
  Connection connection = must(listener.next(kPatience));
  must(connection.establish(kPatience));
  std::array<char, 20> reply;
  ASSERT_EQ(::recv(peer, reply.data(), reply.size(), MSG_WAITALL), 20) << "else close() resets";
  ASSERT_EQ(::send(peer, half_an_fpdu.data(), half_an_fpdu.size(), 0), 4);
  ::close(peer);
  const Error error = error_of(connection.receive({}, kPatience));
  EXPECT_EQ(error.code, Errc::kDisconnected);
  expect_says(error, "the connection was lost");
}

// --- The peer's memory

// Both ends: the one that asked, and the one that refused.
void expect_refused(const std::function<Result<void>(Connection&, RemoteRegion)>& access, Access granted,
                    std::string_view words) {
  Ends ends;
  Memory target(ends.server, 64, 0, granted);
  Error asked{}, owner{};
  {
    std::jthread waits([&] { owner = error_of(ends.server.receive({}, kPatience)); });
    asked = error_of(access(ends.client, target.remote()));
  }
  expect_says(asked, words);
  ASSERT_TRUE(asked.stream);
  EXPECT_TRUE(asked.stream->remote);
  EXPECT_EQ(owner.status, WcStatus::kFlushed);
  EXPECT_EQ(owner.operation, "receive");
  EXPECT_EQ(owner.code, Errc::kProtocol);
  ASSERT_TRUE(owner.stream);
  EXPECT_FALSE(owner.stream->remote);
  EXPECT_EQ(owner.stream->layer, asked.stream->layer);
  EXPECT_EQ(owner.stream->code, asked.stream->code);
  EXPECT_FALSE(owner.reason.empty());
}

// A write is complete before the peer has refused it, so what follows it hears of that.
Result<void> write_and_wait(Connection& end, const RemoteRegion& to) {
  const Memory local(end);
  if (auto written = end.write(local.region, to, kPatience); !written) return written;
  const auto answer = end.receive({}, kPatience);
  return answer ? Result<void>{} : std::unexpected(answer.error());
}

TEST(RemoteProtection, OfAReadIsNamedAtBothEnds) {
  const auto read = [](Connection& end, const RemoteRegion& from) {
    Memory local(end);
    auto done = end.read(local.region, from, kPatience);
    EXPECT_EQ(error_of(done).status, WcStatus::kRemoteAccessError);
    EXPECT_EQ(error_of(done).code, Errc::kInvalidKey);
    EXPECT_EQ(error_of(done).operation, "read");
    return done;
  };
  expect_refused(read, Access::kLocalWrite, "read: remote memory: ");
}

TEST(RemoteProtection, OfAWriteIsNamedAtBothEnds) {
  expect_refused(write_and_wait, Access::kLocalWrite | Access::kRemoteRead, "; Terminate received: layer ");
}

TEST(RemoteProtection, OutsideTheRegionIsNamedAtBothEnds) {
  const auto beyond = [](Connection& end, RemoteRegion to) {
    to.address += 1;
    return write_and_wait(end, to);
  };
  expect_refused(beyond, kEverything, "outside");
}

// --- The end of the connection

TEST(Flushed, SaysThatThePeerHasClosed) {
  Ends ends;
  Error waiting{};
  {
    std::jthread waits([&] { waiting = error_of(ends.server.receive({}, kPatience)); });
    must(ends.client.close(kPatience));
  }
  EXPECT_EQ(waiting.status, WcStatus::kFlushed);
  EXPECT_EQ(waiting.code, Errc::kDisconnected);
  EXPECT_EQ(waiting.message(), "receive: connection: the peer closed the connection (disconnected)");
  const Error after = error_of(ends.client.send({}, kPatience));
  EXPECT_EQ(after.reason, "this end closed the connection");
  EXPECT_EQ(after.operation, "send");
}

TEST(Flushed, SaysThatThePeerHasReset) {
  Ends ends;
  Memory target(ends.server, 1 << 20);
  Error waiting{};
  {
    std::jthread waits([&] { waiting = error_of(ends.server.receive({}, kPatience)); });
    // A deadline that has expired resets the connection, if something was under way.
    Memory big(ends.client, 1 << 20);
    for (std::uint64_t i = 0; i < 64; ++i) must(ends.client.write(big.region, target.remote(), Post{i}));
    const Error late = error_of(ends.client.receive({}, 0ms));
    EXPECT_EQ(late.code, Errc::kTimedOut);
  }
  EXPECT_EQ(waiting.status, WcStatus::kFlushed);
  EXPECT_EQ(waiting.code, Errc::kDisconnected);
  EXPECT_TRUE(waiting.os_error == ECONNRESET || waiting.reason == "the peer closed the connection")
      << waiting.message();
}

TEST(Flushed, SaysThatAnotherOperationWasTooLate) {
  Ends ends;
  Error other{};
  {
    std::jthread waits([&] { other = error_of(ends.client.receive({}, Deadline::never())); });
    const Error late = error_of(ends.client.receive({}, 50ms));
    EXPECT_EQ(late.code, Errc::kTimedOut);
    EXPECT_EQ(late.status, WcStatus::kFlushed);
    EXPECT_EQ(late.operation, "receive");
  }
  EXPECT_EQ(other.code, Errc::kTimedOut);
  EXPECT_EQ(other.status, WcStatus::kFlushed);
  const Error after = error_of(ends.client.send({}, kPatience));
  EXPECT_EQ(after.code, Errc::kTimedOut);
  EXPECT_EQ(after.operation, "send");
}

// The memory is the program's again when the call returns.
TEST(Deadlines, ThatExpireEndAWriteThatThePeerDoesNotTake) {
  Ends ends;
  // The server reads nothing more, after a Send that finds no receive.
  must(ends.client.send({}, kPatience));
  std::vector<unsigned char> octets(64 << 20);
  Memory target(ends.server, 64 << 20);
  const Region region = must(ends.client.register_memory(octets));
  const Error late = error_of(ends.client.write(region, target.remote(), 100ms));
  EXPECT_EQ(late.code, Errc::kTimedOut) << late.message();
}

TEST(Deadlines, CoverAllDurations) {
  using std::chrono::hours;
  using std::chrono::seconds;
  const std::array<Deadline, 8> expired{-1ms,
                                        0s,
                                        Deadline::Clock::time_point::min(),
                                        hours(-3'000'000),
                                        seconds(-10'000'000'000),
                                        -seconds::max(),
                                        hours::min(),
                                        std::chrono::duration<double>(-1e300)};
  for (const Deadline& one : expired) {
    EXPECT_TRUE(one.expired());
    EXPECT_EQ(one.left(), 0ms);
  }
  const std::array<Deadline, 6> later{hours(876'000 - 1),
                                      hours(3'000'000),
                                      seconds(10'000'000'000),
                                      seconds::max(),
                                      Deadline::Clock::duration::max(),
                                      std::chrono::duration<double>(1e300)};
  for (const Deadline& one : later) {
    EXPECT_FALSE(one.expired());
    EXPECT_EQ(one.left(), verbs::kMaxTimeout);
  }
}

// A success whose connection has ended would lose what follows it.
TEST(Deadlines, ThatExpireLeaveNoSuccessBehind) {
  for (int i = 0; i < 20; ++i) {
    Ends ends;
    const Memory message(ends.client);
    const auto sent = ends.client.send(message.region, 0s);
    const auto after = ends.client.send(message.region, kPatience);
    EXPECT_EQ(sent.has_value(), after.has_value());
    EXPECT_EQ(sent ? Errc::kTimedOut : sent.error().code, Errc::kTimedOut);
  }
}

TEST(Forked, ChildrenAreToldThatTheConnectionIsTheirParents) {
  Ends ends;
  const pid_t child = fork();
  if (child == 0) {
    std::array<verbs::WorkCompletion, 1> done;
    const auto none = ends.client.completions(done, kPatience);
    bool told = !none && none.error().code == Errc::kInvalidState && none.error().operation == "completions";
    const auto refused = [](const auto& result) {
      return !result && result.error().message().find("was made before fork()") != std::string::npos;
    };
    std::array<char, 8> octets{};
    told = told && refused(ends.client.send({}, kPatience)) && refused(ends.client.receive({}, Post{1})) &&
           refused(ends.client.register_memory(octets)) && refused(ends.client.close(kPatience));
    _exit(told ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST(Deadlines, ThatHaveExpiredDoNotStartForNothing) {
  Ends ends;
  must(ends.client.send({}, kPatience));
  EXPECT_EQ(must(ends.server.receive({}, kPatience)), 0U);
  const Error late = error_of(ends.server.receive({}, Deadline::Clock::now() - 1h));
  EXPECT_EQ(late.code, Errc::kTimedOut);
}

TEST(Reasons, OfPostedWorkRequests) {
  Ends ends;
  must(ends.client.receive({}, Post{5}));
  must(ends.server.close(kPatience));
  std::array<verbs::WorkCompletion, 1> done;
  ASSERT_EQ(must(ends.client.completions(done, kPatience)), 1U);
  EXPECT_EQ(done[0].status, WcStatus::kFlushed);
  const Error why = ends.client.why(done[0]);
  EXPECT_EQ(why.reason, "the peer closed the connection");
  EXPECT_EQ(why.status, WcStatus::kFlushed);
}

}  // namespace
}  // namespace weft::test
