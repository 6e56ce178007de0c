// SPDX-License-Identifier: Apache-2.0
// The form with a completion token: coroutines, futures and callbacks, cancellation, and ends at awkward moments.
#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#include <cstring>
#include <future>
#include <optional>

#include "asio_ends.hpp"
#include "verbs/verbs.hpp"

namespace weft::test {
namespace {

TEST(Coroutines, HearThatCloseDidNotFinishASend) {
  AsioEnds both(verbs::Policy{.timeouts = {.finish = 50ms}});
  const Memory message(both.client, 32 << 20);
  must(both.client.send(message.region, Post{1}));
  play(both.io, [&]() -> awaitable<void> {
    const auto closed = co_await both.client.close(use_awaitable);
    EXPECT_FALSE(closed);
    EXPECT_EQ(closed ? verbs::WcStatus::kSuccess : closed.error().status, verbs::WcStatus::kFlushed);
  }());
}

TEST(Coroutines, WaitForEachOperation) {
  AsioEnds both;
  Memory source(both.client, 64, 1), sink(both.client, 16), target(both.server), into(both.server);
  play(both.io, [&]() -> awaitable<void> {
    must(co_await both.client.write(source.region, target.remote(), use_awaitable));
    must(co_await both.client.read(sink.region, must(target.remote().subspan(16, 16)), use_awaitable));
    EXPECT_EQ(sink.octets[0], 17);
    std::uint64_t first = 0;
    std::memcpy(&first, target.octets.data(), sizeof first);
    const RemoteRegion number = must(target.remote().subspan(0, 8));
    EXPECT_EQ(must(co_await both.client.fetch_add(number, 2, use_awaitable)), first);
    EXPECT_EQ(must(co_await both.client.compare_swap(number, first + 2, 9, use_awaitable)), first + 2);
    must(co_await both.client.send(source.region, use_awaitable));
    EXPECT_EQ(must(co_await both.server.receive(into.region, use_awaitable)), 64U);
    EXPECT_EQ(into.octets[63], 64);
    must(co_await both.client.close(use_awaitable));
  }());
}

TEST(Coroutines, ConnectAndAccept) {
  asio::io_context io;
  AsioListener listener(io.get_executor(), must(Listener::listen({"127.0.0.1", 0})));
  const std::array<std::byte, 3> hello{};
  asio::co_spawn(
      io,
      [&]() -> awaitable<void> {
        AsioConnection request = must(co_await listener.next(use_awaitable));
        EXPECT_EQ(request.peer_data().size(), 3U);
        must(co_await request.establish({}, use_awaitable));
        EXPECT_EQ(must(co_await request.receive({}, use_awaitable)), 0U);
      },
      asio::detached);
  play(io, [&]() -> awaitable<void> {
    AsioConnection client(io.get_executor(), must(Connection::prepare(listener.local())));
    must(co_await client.establish(hello, use_awaitable));
    must(co_await client.send({}, use_awaitable));
  }());
}

TEST(Coroutines, HearWhyTheConnectionCannotBe) {
  asio::io_context io;
  const Endpoint nobody = must(Listener::listen({"127.0.0.1", 0})).local();
  play(io, [&]() -> awaitable<void> {
    AsioConnection client(io.get_executor(), must(Connection::prepare(nobody)));
    const auto refused = co_await client.establish({}, use_awaitable);
    EXPECT_FALSE(refused);
    EXPECT_EQ(refused ? Errc{} : refused.error().code, Errc::kRefused);
    const auto closed = co_await client.close(use_awaitable);
    EXPECT_FALSE(closed);
  }());
}

// A token may launch an operation later, or never.
TEST(Deferred, OperationsDoNothingBeforeTheyAreLaunched) {
  asio::io_context io;
  Listener listener = must(Listener::listen({"127.0.0.1", 0}));
  AsioConnection client(io.get_executor(), must(Connection::prepare(listener.local())));
  {
    [[maybe_unused]] const auto never = client.establish({}, asio::deferred);
  }
  {
    const std::array<std::byte, 3> hello{};
    auto later = client.establish(hello, asio::deferred);
    std::jthread accepts([&] { EXPECT_EQ(must(listener.accept(kPatience)).peer_data().size(), 3U); });
    play(io, [&]() -> awaitable<void> { must(co_await std::move(later)(use_awaitable)); }());
  }
  AsioEnds both;
  {
    [[maybe_unused]] const auto never = both.client.close(asio::deferred);
  }
  must(both.client.send({}, kPatience));
  EXPECT_EQ(must(both.server.receive({}, kPatience)), 0U);
}

TEST(Deferred, SendsThatFollowACloseAreNoErrorOfIt) {
  AsioEnds both;
  auto closed = both.client.close(asio::use_future);  // has begun, and goes on when the context runs
  must(both.server.close(kPatience));
  while (both.client.queue_pair().state() != verbs::QpState::kError) std::this_thread::yield();
  must(both.client.send({}, Post{1}));
  both.io.run();
  must(closed.get());
}

static_assert(!std::is_constructible_v<Connection, AsioConnection>, "its operations would not go on");
static_assert(!std::is_assignable_v<Connection&, AsioConnection>, "as above");
static_assert(std::is_move_constructible_v<AsioConnection> && std::is_move_assignable_v<AsioConnection>);

TEST(Moving, ToItselfChangesNothing) {
  AsioEnds both;
  AsioConnection& same = both.client;
  both.client = std::move(same);
  play(both.io, [&]() -> awaitable<void> { must(co_await both.client.send({}, use_awaitable)); }());
}

TEST(Futures, AndCallbacksWorkAsWell) {
  AsioEnds both;
  Memory source(both.client), target(both.server);
  auto work = asio::make_work_guard(both.io);
  std::jthread runs([&] { both.io.run(); });
  must(both.client.write(source.region, target.remote(), asio::use_future).get());
  std::promise<std::thread::id> called;
  both.client.write(source.region, target.remote(), [&](const Result<void>& written) {
    EXPECT_TRUE(written);
    called.set_value(std::this_thread::get_id());
  });
  EXPECT_EQ(called.get_future().get(), runs.get_id()) << "the executor of the connection, if the handler has none";
  work.reset();
}

// What is wrong at once is not said before the call has returned.
TEST(Handlers, RunNeverInTheCall) {
  AsioEnds both;
  bool called = false;
  both.client.write({}, RemoteRegion{}, [&](const Result<void>&) { called = true; });
  const Memory local(both.client);
  both.client.write(local.region, RemoteRegion{}, [&](const Result<void>& refused) {
    EXPECT_EQ(refused.error().code, Errc::kInvalidArgument);
    called = true;
  });
  EXPECT_FALSE(called);
  both.io.run();
  EXPECT_TRUE(called);
}

TEST(Handlers, OfManyThreadsAndOperationsAllRun) {
  asio::thread_pool pool(3);
  Ends ends;
  AsioConnection client(pool.get_executor(), std::move(ends.client));
  Memory source(client), target(ends.server);
  constexpr int kCoroutines = 20, kRounds = 40;
  std::atomic<int> done{0};
  for (int i = 0; i < kCoroutines; ++i) {
    asio::co_spawn(
        pool,
        [&]() -> awaitable<void> {
          for (int round = 0; round < kRounds; ++round) {
            must(co_await client.write(source.region, target.remote(), use_awaitable));
            ++done;
          }
        },
        asio::detached);
  }
  pool.join();
  EXPECT_EQ(done, kCoroutines * kRounds);
}

// A thread waits for its message, and takes what belongs to the coroutine; later it is the other way round.
TEST(Handlers, RunWhoeverTakesTheCompletion) {
  AsioEnds both;
  Memory source(both.client), target(both.server);
  std::jthread waits([&] { EXPECT_EQ(must(both.client.receive({}, kPatience)), 0U); });
  play(both.io, [&]() -> awaitable<void> {
    for (int i = 0; i < 300; ++i) {
      must(co_await both.client.write(source.region, target.remote(), use_awaitable));
      if (i != 100) continue;
      must(co_await both.client.send({}, use_awaitable));
      must(co_await both.server.receive({}, use_awaitable));
      must(co_await both.server.send({}, use_awaitable));
    }
  }());
}

TEST(Cancellation, EndsTheConnection) {
  AsioEnds both;
  asio::cancellation_signal stop;
  std::optional<Result<std::size_t>> canceled, other;
  both.client.receive({}, asio::bind_cancellation_slot(stop.slot(), [&](Result<std::size_t> got) { canceled = got; }));
  both.client.receive({}, [&](Result<std::size_t> got) { other = got; });
  asio::post(both.io, [&] { stop.emit(asio::cancellation_type::partial); });  // not ours
  asio::post(both.io, [&] {
    EXPECT_FALSE(canceled);
    stop.emit(asio::cancellation_type::terminal);
  });
  both.io.run();
  ASSERT_TRUE(canceled && !*canceled);
  EXPECT_EQ(canceled->error().code, Errc::kInterrupted);
  EXPECT_EQ(canceled->error().reason, "an operation was canceled");
  EXPECT_EQ(canceled->error().status, verbs::WcStatus::kFlushed);
  ASSERT_TRUE(other && !*other);
  EXPECT_EQ(other->error().code, Errc::kInterrupted);
}

TEST(Cancellation, OfWhatIsDoneDoesNothing) {
  AsioEnds both;
  asio::cancellation_signal stop;
  Memory source(both.client), target(both.server);
  play(both.io, [&]() -> awaitable<void> {
    must(co_await both.client.write(source.region, target.remote(),
                                    asio::bind_cancellation_slot(stop.slot(), use_awaitable)));
    stop.emit(asio::cancellation_type::terminal);
    must(co_await both.client.write(source.region, target.remote(), use_awaitable));
  }());
}

TEST(Cancellation, OfAListenerEndsTheWaitAlone) {
  asio::io_context io;
  AsioListener listener(io.get_executor(), must(Listener::listen({"127.0.0.1", 0})));
  asio::cancellation_signal stop;
  play(io, [&]() -> awaitable<void> {
    asio::post(io, [&] { stop.emit(asio::cancellation_type::terminal); });
    const auto none = co_await listener.next(asio::bind_cancellation_slot(stop.slot(), use_awaitable));
    EXPECT_FALSE(none);
    EXPECT_EQ(none ? Errc{} : none.error().code, Errc::kInterrupted);
  }());
  std::jthread client([&] { static_cast<void>(Connection::connect(listener.local(), kPatience)); });
  must(listener.accept(kPatience));
}

TEST(Destruction, CallsTheHandlersInProgress) {
  asio::io_context io;
  std::optional<Result<std::size_t>> got;
  {
    Ends ends;
    AsioConnection client(io.get_executor(), std::move(ends.client));
    client.receive({}, [&](Result<std::size_t> message) { got = message; });
  }
  io.run();
  ASSERT_TRUE(got && !*got);
  EXPECT_EQ(got->error().reason, "this end destroyed it");
  EXPECT_EQ(got->error().status, verbs::WcStatus::kFlushed);
}

// A coroutine that owns its connection and waits for it: nothing is left over (AddressSanitizer looks).
TEST(Destruction, OfTheContextDestroysCoroutinesThatWait) {
  bool destroyed = false;
  struct Notes {
    bool& what;
    ~Notes() { what = true; }
  };
  {
    asio::io_context io;
    Ends ends;
    asio::co_spawn(
        io,
        [&, connection = AsioConnection(io.get_executor(), std::move(ends.client))]() mutable -> awaitable<void> {
          const Notes notes{destroyed};
          Memory into(connection);
          static_cast<void>(co_await connection.receive(into.region, use_awaitable));
          ADD_FAILURE() << "nothing was sent";
        },
        asio::detached);
    io.poll();
    EXPECT_FALSE(destroyed);
  }
  EXPECT_TRUE(destroyed);
}

}  // namespace
}  // namespace weft::test
