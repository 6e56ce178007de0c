// SPDX-License-Identifier: Apache-2.0
// A completion that comes while a thread waits, at each place where it could be slept through.
#include <gtest/gtest.h>
#include <pthread.h>

#include <array>
#include <future>
#include <memory>
#include <thread>
#include <vector>

#include "nagging.hpp"
#include "tests/skips/sanitizers.hpp"
#include "verbs/objects/completion_queue_state.hpp"
#include "verbs/progress/runtime.hpp"

namespace weft::verbs::detail {
namespace {

using namespace std::chrono_literals;
using Clock = Sleepers::Clock;

struct Queue {
  static constexpr std::uint32_t kCapacity = 4;

  void push(std::uint64_t id) { EXPECT_TRUE(state->push({.wr_id = id})); }
  // What a thread of its own takes, one completion at most.
  std::future<Result<std::size_t>> wait(WorkCompletion& into) {
    return std::async(std::launch::async, [this, &into] { return state->wait({&into, 1}, Sleepers::kForEver); });
  }
  // Until that number of threads sleeps: no event tells of it.
  void expect_asleep(int threads) const {
    while (state->sleepers().asleep() != threads) std::this_thread::yield();
  }

  std::shared_ptr<Runtime> runtime = Runtime::acquire().value();
  std::shared_ptr<CompletionQueueState> state = std::make_shared<CompletionQueueState>(
      *runtime, nullptr, CompletionQueueAttributes{.capacity = kCapacity}, nullptr);
};

enum class Comes { kBefore, kBeforeTheLook, kBehindTheLook, kInTheSleep };

// The steps of a wait in the hands of the test, which puts the completion between two of them.
struct WaitInOrder : testing::TestWithParam<Comes> {
  void step(Comes now) {
    if (now == GetParam()) queue.push(7);
  }
  Queue queue;
};

TEST_P(WaitInOrder, TheCompletionIsTaken) {
  WorkCompletion done;
  step(Comes::kBefore);
  std::jthread pusher;
  if (GetParam() == Comes::kInTheSleep) {
    pusher = std::jthread([this] {
      queue.expect_asleep(1);
      queue.push(7);
    });
  }
  CompletionQueueState::Wait wait(*queue.state);
  step(Comes::kBeforeTheLook);
  auto found = wait.look({&done, 1});
  ASSERT_TRUE(found);
  EXPECT_EQ(*found, GetParam() < Comes::kBehindTheLook ? 1U : 0U);
  step(Comes::kBehindTheLook);
  if (*found == 0) {
    EXPECT_TRUE(wait.sleep(Sleepers::kForEver));  // returns, or the test never ends
    found = wait.look({&done, 1});
  }
  EXPECT_EQ(found, 1U);
  EXPECT_EQ(done.wr_id, 7U);
}

INSTANTIATE_TEST_SUITE_P(Orders, WaitInOrder,
                         testing::Values(Comes::kBefore, Comes::kBeforeTheLook, Comes::kBehindTheLook,
                                         Comes::kInTheSleep));

// What was told before the look is no reason to look again.
TEST(CompletionWait, WhatItHasSeenDoesNotEndItsSleep) {
  Queue queue;
  CompletionQueueState::Wait wait(*queue.state);
  queue.push(1);
  WorkCompletion done;
  EXPECT_EQ(wait.look({&done, 1}), 1U);
  EXPECT_EQ(wait.look({&done, 1}), 0U);
  EXPECT_FALSE(wait.sleep(Clock::now() + 1ms));
}

TEST(CompletionWait, TimesOutAndLosesNothing) {
  Queue queue;
  std::array<WorkCompletion, 2> done;
  for (const auto at_most : {-1h, 0h}) {
    EXPECT_EQ(queue.state->wait(done, Clock::now() + at_most).error().code, Errc::kTimedOut);
  }
  EXPECT_EQ(queue.state->wait(done, Clock::now() + 2ms).error().code, Errc::kTimedOut);
  EXPECT_FALSE(queue.state->sleepers().any()) << "a push has no thread to tell";
  queue.push(1);
  queue.push(2);
  EXPECT_EQ(queue.state->wait(done, Clock::now()), 2U) << "what is there is taken, though there is no time";
  EXPECT_EQ(done[1].wr_id, 2U);
}

TEST(CompletionWait, ACompletionIsForOneOfTwo) {
  Queue queue;
  std::array<WorkCompletion, 2> done;
  auto first = queue.wait(done[0]), second = queue.wait(done[1]);
  queue.expect_asleep(2);
  queue.push(5);
  while (first.wait_for(1ms) != std::future_status::ready && second.wait_for(1ms) != std::future_status::ready) {
  }
  queue.expect_asleep(1);
  queue.push(6);
  EXPECT_EQ(first.get(), 1U);
  EXPECT_EQ(second.get(), 1U);
  EXPECT_EQ(done[0].wr_id + done[1].wr_id, 11U);
}

// A thread that is woken and leaves without a look wakes the next one. Mostly the wake-up is for the one that came first.
TEST(CompletionWait, WhatOneLeavesIsForTheNext) {
  Queue queue;
  WorkCompletion done;
  auto leaves = std::async(std::launch::async, [&] {
    WorkCompletion none;
    CompletionQueueState::Wait wait(*queue.state);
    EXPECT_EQ(wait.look({&none, 1}), 0U);
    EXPECT_TRUE(wait.sleep(Sleepers::kForEver));
  });
  queue.expect_asleep(1);
  auto stays = queue.wait(done);
  queue.expect_asleep(2);
  queue.push(5);
  EXPECT_EQ(stays.get(), 1U);
  EXPECT_EQ(done.wr_id, 5U);
  queue.push(6);  // ends the first one if it was not woken
}

// A completion that is lost concerns all threads that wait: none may sleep on in a queue that has ended so.
TEST(Sleepers, AllMayBeTold) {
  Sleepers sleepers;
  const auto sleep = [&] { return sleepers.sleep(0, Sleepers::kForEver); };
  auto first = std::async(std::launch::async, sleep), second = std::async(std::launch::async, sleep);
  while (sleepers.asleep() != 2) std::this_thread::yield();
  sleepers.tell_all();
  EXPECT_TRUE(first.get());
  EXPECT_TRUE(second.get());
}

TEST(CompletionWait, ASignalDoesNotEndIt) {
  Queue queue;
  WorkCompletion done;
  const verbs::test::Nagging nagging;  // of this thread
  std::jthread pusher([&] {
    queue.expect_asleep(1);
    std::this_thread::sleep_for(20ms);  // for signals to come; with none the test passes all the same
    queue.push(1);
  });
  EXPECT_EQ(queue.state->wait({&done, 1}, Sleepers::kForEver), 1U);
}

void* wait_for_one(void* queue) {
  WorkCompletion done;
  static_cast<void>(static_cast<Queue*>(queue)->state->wait({&done, 1}, Sleepers::kForEver));
  return nullptr;
}

// A thread may be cancelled in it, also while it is woken: it takes the completion, or the other one does.
TEST(CompletionWait, ACancelledThreadTakesNothingAlong) {
  if (weft::test::kThreadSanitizer)
    GTEST_SKIP() << "ThreadSanitizer sees no lock of a thread that was cancelled in a system call";
  for (int round = 0; round < 200; ++round) {
    Queue queue;
    pthread_t cancelled{};
    ASSERT_EQ(::pthread_create(&cancelled, nullptr, &wait_for_one, &queue), 0);
    queue.expect_asleep(1);
    WorkCompletion done;
    auto other = queue.wait(done);
    queue.expect_asleep(2);
    queue.push(1);
    ASSERT_EQ(::pthread_cancel(cancelled), 0);
    void* end = nullptr;
    ASSERT_EQ(::pthread_join(cancelled, &end), 0);
    if (end != PTHREAD_CANCELED && other.wait_for(0ms) != std::future_status::ready) queue.push(2);
    EXPECT_EQ(other.get(), 1U);
    EXPECT_EQ(queue.state->sleepers().asleep(), 0);
    EXPECT_FALSE(queue.state->sleepers().any());
  }
}

}  // namespace
}  // namespace weft::verbs::detail
