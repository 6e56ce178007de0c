// SPDX-License-Identifier: Apache-2.0
// What a poller does with the time that it has. No other thread runs, as where all processors are busy: what is done, the
// poller does.
#include "verbs/progress/poller.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>

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

}  // namespace
}  // namespace weft::verbs::detail
