// SPDX-License-Identifier: Apache-2.0
// Several threads on one connection: each gets its own completion, whoever takes it, and none is slept through.
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <latch>
#include <optional>

#include "ends.hpp"
#include "verbs/verbs.hpp"

namespace weft::test {
namespace {

TEST(Threads, ThatReceiveWhileOthersWriteGetTheirOwn) {
  Ends ends;
  constexpr int kRounds = 300;
  alignas(8) std::array<std::uint64_t, 8> numbers{};
  const Region counter = must(ends.server.register_memory(numbers, kEverything));
  const RemoteRegion remote = counter.remote();
  std::atomic<std::uint64_t> sum{0};
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 3; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < kRounds; ++i) sum += must(ends.client.fetch_add(remote, 1, kPatience));
      });
    }
    threads.emplace_back([&] {
      for (int i = 0; i < kRounds; ++i) EXPECT_EQ(must(ends.client.receive({}, kPatience)), 0U);
    });
    threads.emplace_back([&] {
      for (int i = 0; i < kRounds; ++i) must(ends.server.send({}, kPatience));
    });
    must(ends.client.send({}, kPatience));  // the initiator speaks first (MPA-7.1.2-17)
    must(ends.server.receive({}, kPatience));
  }
  constexpr std::uint64_t kAll = 3 * kRounds;
  EXPECT_EQ(sum, kAll * (kAll - 1) / 2) << "each old value went to one thread, once";
}

// One thread waits for a message that comes last; the others' completions pass it by meanwhile.
TEST(Threads, ThatWaitLongDoNotHoldUpTheOthers) {
  Ends ends;
  Memory target(ends.server), into(ends.client);
  const Memory source(ends.client);
  {
    std::jthread waits([&] { EXPECT_EQ(must(ends.client.receive(into.region, kPatience)), 64U); });
    for (int i = 0; i < 200; ++i) must(ends.client.write(source.region, target.remote(), kPatience));
    must(ends.client.send({}, kPatience));
    must(ends.server.receive({}, kPatience));
    must(ends.server.send(target.region, kPatience));
  }
}

TEST(Threads, ThatTakePostedWorkAndThatWaitShareTheQueue) {
  Ends ends;
  Memory target(ends.server);
  const Memory source(ends.client);
  constexpr std::uint64_t kCount = 400;
  std::jthread takes([&] {
    std::array<verbs::WorkCompletion, 4> done;
    for (std::uint64_t taken = 0; taken < kCount;) taken += must(ends.client.completions(done, kPatience));
  });
  for (std::uint64_t i = 0; i < kCount; ++i) {
    for (;;) {
      const auto posted = ends.client.write(source.region, target.remote(), Post{i});
      if (posted) break;
      ASSERT_EQ(posted.error().code, Errc::kQueueFull) << posted.error().message();
      std::this_thread::yield();  // the other thread has not taken enough
    }
    if (i % 4 == 0) must(ends.client.write(source.region, target.remote(), kPatience));
  }
}

// The thread that collects for all leaves with its deadline; another goes on.
TEST(Threads, ThatGiveUpLeaveTheQueueToThoseThatWait) {
  Ends ends;
  Memory into(ends.server);
  const Memory message(ends.client);
  std::array<verbs::WorkCompletion, 1> done;
  for (int round = 0; round < 20; ++round) {
    std::latch both(2);
    std::jthread gives_up([&] {
      both.arrive_and_wait();
      static_cast<void>(ends.server.completions(done, 2ms));
    });
    std::jthread waits([&] {
      both.arrive_and_wait();
      EXPECT_EQ(must(ends.server.receive(into.region, kPatience)), 64U);
    });
    gives_up.join();
    must(ends.client.send(message.region, kPatience));
  }
}

// Most of the time, the other thread sleeps with the queue in its hands.
TEST(Threads, WhoseDeadlineHasExpiredLookNevertheless) {
  Ends ends;
  std::array<verbs::WorkCompletion, 1> done;
  std::jthread waits([&] { EXPECT_EQ(must(ends.client.receive({}, kPatience)), 0U); });
  for (std::uint64_t round = 0; round < 50; ++round) {
    must(ends.client.send({}, 0s));
    must(ends.server.receive({}, kPatience));
    must(ends.client.send({}, Post{round}));
    EXPECT_EQ(must(ends.client.completions(done, 0s)), 1U);
    must(ends.server.receive({}, kPatience));
  }
  must(ends.server.send({}, kPatience));
}

TEST(Threads, ThatWaitHearOfTheClose) {
  Ends ends;
  std::latch waiting(3);
  std::vector<std::jthread> threads;
  std::atomic<int> told{0};
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&] {
      waiting.count_down();
      const auto message = ends.client.receive({}, Deadline::never());
      if (!message && message.error().reason == "this end closed the connection") ++told;
    });
  }
  waiting.wait();
  must(ends.client.close(kPatience));
  threads.clear();
  EXPECT_EQ(told, 3);
}

// RESET discards what was posted, without completions. If it comes first, nothing is posted, and there is another round.
TEST(Threads, ThatWaitForWorkThatWasResetGiveUpAtTheirDeadline) {
  for (bool discarded = false; !discarded;) {
    Ends ends;
    std::latch waiting(1);
    std::optional<Error> why;
    std::jthread waits([&] {
      waiting.count_down();
      const auto message = ends.client.receive({}, 200ms);
      if (!message) why = message.error();
    });
    waiting.wait();
    EXPECT_TRUE(ends.client.queue_pair().modify(verbs::QpState::kReset));
    waits.join();
    ASSERT_TRUE(why);
    discarded = why->code != Errc::kInvalidState;
    EXPECT_TRUE(!discarded || why->code == Errc::kTimedOut) << why->message();
    EXPECT_TRUE(!discarded || why->status == verbs::WcStatus::kFlushed) << why->message();
  }
}

// Locks that other threads hold at fork(), and what they wait for, stay so in the child.
TEST(Threads, ThatTheChildDoesNotHaveDoNotHoldItUp) {
  Ends ends;
  std::atomic<bool> stop{false};
  const auto look = [&] {
    std::array<verbs::WorkCompletion, 1> done;
    while (!stop) static_cast<void>(ends.client.completions(done, 0s));
  };
  std::jthread first(look), second(look);
  int failures = 0;
  for (int i = 0; i < 40; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(std::chrono::seconds(kPatience).count() / 4);
      const bool refused = !ends.client.send({}, kPatience);
      {
        const Connection ended = std::move(ends.client);
      }
      _exit(refused ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    failures += status == 0 ? 0 : 1;
    if (failures != 0) break;
  }
  stop = true;
  EXPECT_EQ(failures, 0);
  must(ends.client.send({}, kPatience));
}

TEST(Threads, ThatAreCanceledTakeTheConnectionAlong) {
  Ends ends;
  std::latch begins(1);
  std::thread waits([&] {
    begins.count_down();
    static_cast<void>(ends.server.receive({}, Deadline::never()));
  });
  begins.wait();
  pthread_cancel(waits.native_handle());
  waits.join();
  const auto after = ends.server.receive({}, kPatience);
  ASSERT_FALSE(after);
  EXPECT_EQ(after.error().code, Errc::kInterrupted);
}

}  // namespace
}  // namespace weft::test
