// SPDX-License-Identifier: Apache-2.0
// What a poller does with the time that it has. No other thread runs, as where all processors are busy: what is done, the
// poller does.
#include "verbs/progress/poller.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <vector>

#include "watched_socket.hpp"

namespace weft::verbs::detail {
namespace {

// A poll that finds nothing, again and again until `done`.
template <typename Done>
void poll_until(Poller& poller, Done done) {
  const auto end = Driver::Clock::now() + transport::test::kPatience;
  while (!done() && Driver::Clock::now() < end) {
    poller.drive();
    poller.idle();
  }
  EXPECT_TRUE(done());
}

// A connection of the progress thread's, that is, and a listener.
TEST(Pollers, ServeWhatAProgressThreadComesTooLateFor) {
  WatchedSocket scene;
  auto& late = scene.runtime->progress_threads().of(0);
  auto [near, far] = transport::test::connected_pair();
  int calls = 0;
  const auto token = late.visit(far, [&] { ++calls; });
  ASSERT_TRUE(token);
  ASSERT_FALSE(late.add(scene.pair.second, WatchedSocket::kNumber, transport::kNoInterest));
  transport::test::write_one(near, transport::test::pattern(1));
  ASSERT_TRUE(transport::test::becomes_readable(far.descriptor()));
  for (int i = 0; i < 1000; ++i) scene.send.poller().idle();
  EXPECT_EQ(calls, 0) << "by a poller that is present, not by any";
  poll_until(scene.send.poller(), [&] { return calls != 0; });
  late.remove(scene.pair.second);
  late.leave(far, *token);
}

TEST(Pollers, DoNotHelpWithListenersAlone) {
  WatchedSocket scene;
  auto& rests = scene.runtime->progress_threads().of(0);
  rests.rest();
  auto [near, far] = transport::test::connected_pair();
  int calls = 0;
  const auto token = rests.visit(far, [&] { ++calls; });
  transport::test::write_one(near, transport::test::pattern(1));
  ASSERT_TRUE(token && transport::test::becomes_readable(far.descriptor()));
  scene.arrive(scene.send.poller());
  for (int i = 0; i < 1000; ++i) scene.send.poller().idle();
  EXPECT_EQ(calls, 0) << "without sockets there is nothing to be relieved of";
  rests.resume();
  rests.leave(far, *token);
}

// Else another thread would wake for it each millisecond.
TEST(Pollers, DoTheTick) {
  struct Ticks final : Driver {
    bool is_over() override { return ++count == 10; }
    int count = 0;
  };
  WatchedSocket scene;
  const auto ticks = std::make_shared<Ticks>();
  scene.runtime->tick().watch(ticks);
  poll_until(scene.send.poller(), [&] { return ticks->count == 10; });
}

// A stream that is locked, perhaps.
struct Looked final : Driven {
  [[nodiscard]] std::uint64_t number() const noexcept override { return watch.stream(); }
  bool drive(bool) override { return false; }
  bool drive_if_free(Poller&) override { return ++looks, !locked; }
  void waited_for_by(Waiter&) override {}
  void is_over(const Driver&) override {}
  void deadline_passed() override {}
  void end_waiting() override {}
  void abandon() override {}
  void leave_to_parent(int) noexcept override {}
  [[nodiscard]] std::optional<std::uint64_t> moved_if_unserved() override { return std::nullopt; }
  [[nodiscard]] std::optional<LiveStream> describe() override { return std::nullopt; }

  explicit Looked(transport::ReadinessThread& home) : watch(pair.first, next_driven_number(), home) {}
  std::pair<transport::Socket, transport::Socket> pair = transport::test::connected_pair();
  SocketWatch watch;
  int looks = 0;
  bool locked = false;
};

// Rings that a poller of few has read announce no sleep: nobody would ring for them.
TEST(Pollers, LookAtAllStreamsOnceTheyAreMany) {
  WatchedSocket scene;
  auto& poller = scene.foreign.poller();
  std::vector<std::shared_ptr<Looked>> streams;
  for (std::size_t i = 0; i <= tuning::kFewStreams; ++i) {
    const auto& stream = streams.emplace_back(std::make_shared<Looked>(scene.home));
    poller.join(stream, stream->watch);
  }
  const auto all_have = [&](int looks) {
    return std::ranges::all_of(streams, [=](const auto& one) { return one->looks == looks; });
  };
  streams.front()->locked = true;
  poller.drive();
  EXPECT_TRUE(all_have(1));
  streams.front()->locked = false;
  poller.drive();
  EXPECT_TRUE(all_have(2)) << "who had the lock may have settled before they were many";
  poller.drive();
  EXPECT_TRUE(all_have(2)) << "their sockets are silent";
  const auto late = std::make_shared<Looked>(scene.home);
  poller.join(late, late->watch);
  poller.drive();
  EXPECT_TRUE(all_have(2)) << "they were many before";
  poller.leave(*late, late->watch);
  for (const auto& one : streams) poller.leave(*one, one->watch);
}

}  // namespace
}  // namespace weft::verbs::detail
