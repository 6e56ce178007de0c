// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <set>

#include "tests/transport/support.hpp"
#include "transport/readiness_thread.hpp"

namespace weft::transport::test {
namespace {

std::vector<Ready> wait_all(ReadinessSet& set, std::chrono::milliseconds timeout = {}) {
  std::vector<Ready> ready(ReadinessSet::kMaxReady);
  ready.resize(set.wait(ready, timeout));
  return ready;
}

TEST(ReadinessSet, TellsWhoIsReadable) {
  ReadinessSet set = ReadinessSet::create().value();
  auto [a, b] = connected_pair();
  auto [c, d] = connected_pair();
  ASSERT_FALSE(set.add(b, 11, kReadInterest));
  ASSERT_FALSE(set.add(d, 22, kReadInterest));
  EXPECT_TRUE(wait_all(set).empty());
  write_one(c, pattern(1));
  const auto ready = wait_all(set, kPatience);
  ASSERT_EQ(ready.size(), 1U);
  EXPECT_EQ(ready[0].token, 22U);
  EXPECT_TRUE(ready[0].readable);
  EXPECT_FALSE(ready[0].writable || ready[0].hangup);
  EXPECT_EQ(wait_all(set).size(), 1U) << "told again until it is read";
  std::array<std::byte, 8> into{};
  ASSERT_EQ(d.read(into).octets, 1U);
  EXPECT_TRUE(wait_all(set).empty());
}

TEST(ReadinessSet, WritableOnDemandOnly) {
  ReadinessSet set = ReadinessSet::create().value();
  auto [a, b] = connected_pair();
  ASSERT_FALSE(set.add(a, 1, kReadInterest));
  EXPECT_TRUE(wait_all(set).empty());
  ASSERT_FALSE(set.modify(a, 2, {.read = true, .write = true}));
  const auto ready = wait_all(set, kPatience);
  ASSERT_EQ(ready.size(), 1U);
  EXPECT_TRUE(ready[0].writable);
  EXPECT_EQ(ready[0].token, 2U);
  const auto octets = pattern(1 << 20);
  while (write_one(a, octets).status == IoResult::Status::kMoved) {
  }
  EXPECT_TRUE(wait_all(set).empty()) << "not writable while the buffer is full";
}

TEST(ReadinessSet, FinIsReadableAndResetIsHangup) {
  ReadinessSet set = ReadinessSet::create().value();
  auto [a, b] = connected_pair();
  ASSERT_FALSE(set.add(b, 1, kReadInterest));
  a.shutdown_write();
  auto ready = wait_all(set, kPatience);
  ASSERT_EQ(ready.size(), 1U);
  EXPECT_TRUE(ready[0].readable);
  EXPECT_FALSE(ready[0].hangup);
  a.reset();
  for (int i = 0; i < 1000 && !ready[0].hangup; ++i) ready = wait_all(set, kPatience);
  EXPECT_TRUE(ready[0].hangup);
}

TEST(ReadinessSet, WithoutInterestArrivalsAreKeptForLater) {
  ReadinessSet set = ReadinessSet::create().value();
  auto [a, b] = connected_pair();
  ASSERT_FALSE(set.add(b, 1, kReadInterest));
  ASSERT_FALSE(set.modify(b, 1, kNoInterest));
  write_one(a, pattern(1));
  EXPECT_TRUE(wait_all(set, 50ms).empty());
  ASSERT_FALSE(set.modify(b, 1, kReadInterest));
  EXPECT_EQ(wait_all(set, kPatience).size(), 1U) << "octets that came meanwhile are told";
}

TEST(ReadinessSet, WithoutInterestAHangupIsToldOnce) {
  ReadinessSet set = ReadinessSet::create().value();
  auto [a, b] = connected_pair();
  ASSERT_FALSE(set.add(b, 1, kNoInterest));
  a.reset();
  const auto ready = wait_all(set, kPatience);
  ASSERT_EQ(ready.size(), 1U);
  EXPECT_TRUE(ready[0].hangup);
  EXPECT_TRUE(wait_all(set, 50ms).empty());
  ASSERT_FALSE(set.modify(b, 1, kReadInterest));
  EXPECT_EQ(wait_all(set, kPatience).size(), 1U);
}

TEST(ReadinessSet, TheEndBehindOctetsThatNobodyReadsIsToldOnce) {
  ReadinessSet set = ReadinessSet::create().value();
  auto [a, b] = connected_pair();
  write_one(a, pattern(1));
  ASSERT_FALSE(set.add(b, 1, {.end = true}));
  EXPECT_TRUE(wait_all(set, 50ms).empty());
  EXPECT_FALSE(b.peer_has_closed());
  a.shutdown_write();
  const auto ready = wait_all(set, kPatience);
  ASSERT_EQ(ready.size(), 1U);
  EXPECT_TRUE(ready[0].hangup);
  EXPECT_TRUE(b.peer_has_closed());
  EXPECT_TRUE(wait_all(set, 50ms).empty());
}

// A signal ends wait(), and its handler makes an event that is reported once: it is still there for the next wait().
TEST(ReadinessSet, WhatComesWithASignalIsReportedByTheNextWait) {
  static const Socket* writer;
  ReadinessSet set = ReadinessSet::create().value();
  auto [a, b] = connected_pair();
  ASSERT_FALSE(set.add_edges(b, 7));
  writer = &a;
  struct sigaction handler{}, before{};
  handler.sa_handler = [](int) { static_cast<void>(::write(writer->descriptor(), "x", 1)); };
  ASSERT_EQ(sigaction(SIGALRM, &handler, &before), 0);
  bool interrupted = false;
  for (int tries = 0; tries < 20 && !interrupted; ++tries) {  // the signal may come before wait() has begun
    const itimerval soon{.it_interval = {}, .it_value = {.tv_sec = 0, .tv_usec = 20'000}};
    ASSERT_EQ(setitimer(ITIMER_REAL, &soon, nullptr), 0);
    interrupted = wait_all(set, kPatience).empty();
    EXPECT_TRUE(ReadinessSet::was_there());
  }
  sigaction(SIGALRM, &before, nullptr);
  EXPECT_TRUE(interrupted);
  EXPECT_EQ(wait_all(set).size(), 1U);
}

TEST(ReadinessSet, RemovedIsSilent) {
  ReadinessSet set = ReadinessSet::create().value();
  auto [a, b] = connected_pair();
  ASSERT_FALSE(set.add(b, 1, kReadInterest));
  EXPECT_EQ(set.add(b, 1, kReadInterest), std::errc::file_exists);
  write_one(a, pattern(1));
  ASSERT_FALSE(set.remove(b));
  EXPECT_TRUE(wait_all(set, 50ms).empty());
  EXPECT_EQ(set.modify(b, 1, kReadInterest), std::errc::no_such_file_or_directory);
}

TEST(ReadinessSet, MoreThanOneWaitHoldsTakeTurns) {
  ReadinessSet set = ReadinessSet::create().value();
  std::vector<std::pair<Socket, Socket>> pairs;
  for (std::uint64_t i = 0; i < 100; ++i) {
    pairs.push_back(connected_pair());
    ASSERT_FALSE(set.add(pairs.back().second, i, kReadInterest));
    write_one(pairs.back().first, pattern(1));
  }
  std::set<std::uint64_t> seen;
  for (int i = 0; i < 10; ++i) {
    for (const Ready& ready : wait_all(set, 100ms)) seen.insert(ready.token);
  }
  EXPECT_EQ(seen.size(), 100U);
  EXPECT_EQ(set.wait({}), 0U);
}

// --- Watched by a thread

struct Watched : testing::Test {
  Mailbox<std::uint64_t> woken{};
  std::pair<Socket, Socket> pair = connected_pair();
  std::atomic<pid_t> thread_id = 0;
  std::atomic<int> calls = 0;
  int ignored = 0;  // the calls that do nothing
  ReadinessThread thread = ReadinessThread::create([this](const Ready& ready) { serve(ready); }).value();

  // As a progress loop does: reads what is ready.
  void serve(const Ready& ready) {
    thread_id = ::gettid();
    if (++calls <= ignored) return;
    std::array<std::byte, 16> into{};
    // Two threads may have been told of one octet, and the later one finds none.
    if (pair.second.read(into).status != IoResult::Status::kWouldBlock) woken.put(ready.token);
  }
};

TEST_F(Watched, WakesTheThreadAgainAndAgain) {
  thread.start();
  ASSERT_FALSE(thread.add(pair.second, 5, kReadInterest));
  for (int i = 0; i < 20; ++i) {
    write_one(pair.first, pattern(1));
    ASSERT_EQ(woken.take(), 5U);
  }
}

// The reason for the whole class: an application that drives a socket itself does not share its arrivals.
TEST_F(Watched, DoesNotWakeTheThreadWithoutInterest) {
  thread.start();
  ASSERT_FALSE(thread.add(pair.second, 5, kReadInterest));
  write_one(pair.first, pattern(1));
  ASSERT_TRUE(woken.take());
  ASSERT_FALSE(thread.modify(pair.second, 5, kNoInterest));
  const long asleep = sleeps_of(thread_id);
  std::array<std::byte, 16> into{};
  for (int i = 0; i < 100; ++i) {
    write_one(pair.first, pattern(1));
    ASSERT_EQ(read_patiently(pair.second, into).octets, 1U);
  }
  EXPECT_EQ(sleeps_of(thread_id), asleep) << "the progress thread was woken for octets that were not its own";
  EXPECT_EQ(woken.size(), 0U);

  ASSERT_FALSE(thread.modify(pair.second, 5, kReadInterest));
  write_one(pair.first, pattern(1));
  EXPECT_TRUE(woken.take());
  EXPECT_GT(sleeps_of(thread_id), asleep) << "the measure works";
}

TEST_F(Watched, WhoDoesNotServeIsCalledAgain) {
  ignored = 2;
  thread.start();
  ASSERT_FALSE(thread.add(pair.second, 5, kReadInterest));
  write_one(pair.first, pattern(1));
  EXPECT_TRUE(woken.take());
  EXPECT_GE(calls, 3);
}

TEST_F(Watched, AStoppedThreadIsSilent) {
  thread.start();
  ASSERT_FALSE(thread.add(pair.second, 5, kReadInterest));
  const std::size_t before = living_threads().size();
  thread.stop();
  EXPECT_EQ(living_threads().size(), before - 1) << "the thread has ended, and so nothing more can come";
  write_one(pair.first, pattern(1));
  EXPECT_EQ(woken.size(), 0U);
  EXPECT_FALSE(thread.modify(pair.second, 5, kNoInterest)) << "its set can be used";
  thread.remove(pair.second);
  EXPECT_EQ(thread.modify(pair.second, 5, kNoInterest), std::errc::no_such_file_or_directory) << "and has let go";
}

// Not even what it serves last, which may tell it to serve, gives it more to do.
TEST(ReadinessThread, AnEndIsFinal) {
  auto [near, far] = connected_pair();
  std::atomic<bool> serves{false}, stops{false};
  std::atomic<pid_t> stopper{};
  std::optional<ReadinessThread> thread;
  thread.emplace(ReadinessThread::create([&](const Ready&) {
                   serves = true;
                   while (!stops) std::this_thread::yield();
                   thread->resume();
                   thread->remove(far);
                 }).value());
  thread->start();
  ASSERT_FALSE(thread->add(far, 5, kReadInterest));
  write_one(near, pattern(1));
  while (!serves) std::this_thread::yield();
  std::jthread other([&] {
    stopper = static_cast<pid_t>(::syscall(SYS_gettid));
    thread->stop();
  });
  while (stopper == 0) std::this_thread::yield();
  sleeps_of(stopper);  // it has said so, and waits
  stops = true;
}

// As if the thread got no processor: it is not started.
TEST_F(Watched, WhoHelpsServesWhatTheThreadComesTooLateFor) {
  Mailbox<int> called;
  auto [a, b] = connected_pair();
  ASSERT_TRUE(thread.visit(b, [&] { called.put(1); }));
  ASSERT_FALSE(thread.add(pair.second, 5, kReadInterest));
  thread.help(1h, 4);
  const auto looked = std::chrono::steady_clock::now();  // and found nothing
  write_one(pair.first, pattern(1));
  write_one(a, pattern(1));
  ASSERT_TRUE(becomes_readable(pair.second.descriptor()) && becomes_readable(b.descriptor()));
  thread.help(std::chrono::floor<std::chrono::microseconds>(std::chrono::steady_clock::now() - looked), 4);
  EXPECT_EQ(woken.size(), 0U) << "what is late has been ready for that time, not unasked for";
  thread.help(0us, 4);
  EXPECT_EQ(woken.take(), 5U);
  EXPECT_TRUE(called.take());
  EXPECT_EQ(thread_id, ::gettid());
}

TEST_F(Watched, WhoHelpsServesWhileTheThreadRests) {
  thread.start();
  ASSERT_FALSE(thread.add(pair.second, 5, kReadInterest));
  for (int round = 0; round < 20; ++round) {
    thread.rest();
    while (thread.serve_one()) {  // what woke it; no call of its own is under way after this
    }
    write_one(pair.first, pattern(1));
    while (woken.size() == 0) thread.help(20us, 4);
    EXPECT_EQ(woken.take(), 5U);
    EXPECT_EQ(thread_id, ::gettid());
    thread.resume();
    write_one(pair.first, pattern(1));
    EXPECT_EQ(woken.take(), 5U);
    EXPECT_NE(thread_id, ::gettid());
  }
}

// A thread that rests may still be at what it began before: until it is done no other thread serves.
TEST_F(Watched, ServesNowUntilItsCallIsDone) {
  auto [near, far] = connected_pair();
  Mailbox<int> told;
  std::atomic<bool> goes_on = false;
  ASSERT_TRUE(thread.visit(far, [&] {
    told.put(1);
    goes_on.wait(false);
  }));
  EXPECT_FALSE(thread.serves_now());
  thread.start();
  write_one(near, pattern(1));
  told.take();
  thread.rest();
  EXPECT_TRUE(thread.rests() && thread.serves_now());
  goes_on = true;
  goes_on.notify_all();
  while (thread.serve_one()) {  // waits until it is
  }
  EXPECT_FALSE(thread.serves_now());
  thread.stop();
}

// It may be told to rest between the kernel's wake-up and its look at what woke it.
struct ToldToRest : Watched {
  ToldToRest() {
    write_one(visitor.first, pattern(1));
    wait_for(visitor.second, POLLIN);
    EXPECT_TRUE(thread.visit(visitor.second, [&] {
      thread.rest();
      told.put(1);
    }));
  }
  // What is ready first is told first: the thread comes to the other socket when it is to rest.
  static void wait_for(const Socket& socket, short event) {
    pollfd ready{.fd = socket.descriptor(), .events = event, .revents = 0};
    EXPECT_EQ(::poll(&ready, 1, 1000), 1);
  }
  ~ToldToRest() override { thread.stop(); }
  std::pair<Socket, Socket> visitor = connected_pair();
  Mailbox<int> told{};
};

TEST_F(ToldToRest, LeavesWhatIsStillReadyForWhoHelps) {
  ASSERT_FALSE(thread.add(pair.second, 5, kReadInterest));
  write_one(pair.first, pattern(1));
  wait_for(pair.second, POLLIN);
  thread.start();
  ASSERT_TRUE(told.take());
  while (thread.serve_one()) {
  }
  EXPECT_EQ(woken.take(), 5U);
  EXPECT_EQ(thread_id, ::gettid());
}

TEST_F(ToldToRest, ServesAnEndForItIsToldOnce) {
  ASSERT_FALSE(thread.add(pair.second, 5, kNoInterest));
  pair.first.reset();
  wait_for(pair.second, POLLHUP);
  thread.start();
  ASSERT_TRUE(told.take());
  EXPECT_EQ(woken.take(), 5U);
}

TEST_F(Watched, WhoServesOneServesNoMore) {  // not started: all is left to serve_one()
  auto other = connected_pair();
  ASSERT_FALSE(thread.add(pair.second, 5, kReadInterest));
  ASSERT_FALSE(thread.add(other.second, 6, kReadInterest));
  EXPECT_FALSE(thread.serve_one());
  write_one(pair.first, pattern(1));
  write_one(other.first, pattern(1));
  pollfd ready{.fd = thread.descriptor(), .events = POLLIN, .revents = 0};
  EXPECT_EQ(::poll(&ready, 1, 1000), 1);
  EXPECT_TRUE(thread.serve_one());
  EXPECT_EQ(woken.size(), 1U);
  EXPECT_EQ(thread_id, ::gettid());
  thread.remove(other.second);
}

// Whatever it was told last it does, and it ends in any case.
TEST(ReadinessThread, MayBeToldToRestAndToResumeAllTheTime) {
  for (int round = 0; round < 20; ++round) {
    auto [a, b] = connected_pair();
    std::atomic<int> calls = 0;
    auto thread = ReadinessThread::create([&](const Ready&) {
                    std::array<std::byte, 16> into{};
                    (void)b.read(into);
                    ++calls;
                  }).value();
    ASSERT_FALSE(thread.add(b, 5, kReadInterest));
    thread.start();
    {
      const std::jthread other([&] {
        for (int i = 0; i < 200; ++i) thread.rest(), thread.resume();
      });
      for (int i = 0; i < 200; ++i) thread.rest(), thread.help(20us, 4), thread.resume();
    }
    write_one(a, pattern(1));
    const auto end = std::chrono::steady_clock::now() + kPatience;
    while (calls == 0 && std::chrono::steady_clock::now() < end) std::this_thread::yield();
    EXPECT_EQ(calls, 1);
    if (round % 2 == 0) thread.rest();
  }
}

TEST_F(Watched, KnowsWhetherItServesAny) {
  EXPECT_FALSE(thread.serves_any());
  ASSERT_FALSE(thread.add(pair.second, 5, kReadInterest));
  EXPECT_TRUE(thread.serves_any());
  thread.remove(pair.second);
  EXPECT_FALSE(thread.serves_any());
  EXPECT_TRUE(thread.add(Socket(), 6, kReadInterest));
  EXPECT_FALSE(thread.serves_any()) << "it was refused";
}

TEST(ReadinessThread, NeverCallsBackAfterItsEnd) {
  auto [a, b] = connected_pair();
  write_one(a, pattern(1));  // never read: it is called all the time
  for (int i = 0; i < 200; ++i) {
    auto calls = std::make_unique<int>(0);
    {
      auto thread = ReadinessThread::create([&calls](const Ready&) { ++*calls; }).value();
      ASSERT_FALSE(thread.add(b, 5, kReadInterest));
      thread.start();
      dawdle(i);
    }
    calls.reset();
  }
}

// It is told of each arrival once, whether it reads or not; of what waits already, too.
TEST_F(Watched, AVisitorIsCalledForWhatComes) {
  Mailbox<int> called;
  write_one(pair.first, pattern(1));
  const auto token = thread.visit(pair.second, [&] { called.put(1); });
  ASSERT_TRUE(token);
  thread.start();
  EXPECT_TRUE(called.take());
  EXPECT_FALSE(called.take(50ms));
  write_one(pair.first, pattern(1));
  EXPECT_TRUE(called.take());
  thread.call_again(pair.second, *token);
  EXPECT_TRUE(called.take());
  thread.leave(pair.second, *token);
  write_one(pair.first, pattern(1));
  EXPECT_FALSE(called.take(50ms));
  EXPECT_FALSE(woken.take(50ms)) << "visitors are not for serve";
}

TEST(ReadinessThread, CallsFirstWhatItIsToCallFirst) {
  auto [a, b] = connected_pair();
  write_one(a, pattern(1));
  Mailbox<int> order;
  auto thread = ReadinessThread::create([](const Ready&) {}).value();
  ASSERT_TRUE(thread.visit(b, [&] { order.put(2); }));
  thread.start([&] { order.put(1); });
  EXPECT_EQ(order.take(), 1);
  EXPECT_EQ(order.take(), 2);
}

TEST(ReadinessThread, NeedNotBeStarted) {
  EXPECT_TRUE(ReadinessThread::create([](const Ready&) {}));
}

// Interest, arrivals and waits from three threads; ThreadSanitizer watches.
TEST_F(Watched, ThreadsMayShareASet) {
  thread.start();
  ASSERT_FALSE(thread.add(pair.second, 5, kReadInterest));
  std::thread switcher([this] {
    for (int i = 0; i < 500; ++i) (void)thread.modify(pair.second, 5, i % 2 == 0 ? kNoInterest : kReadInterest);
  });
  for (int i = 0; i < 500; ++i) write_one(pair.first, pattern(1));
  switcher.join();
  EXPECT_TRUE(woken.take());
}

}  // namespace
}  // namespace weft::transport::test
