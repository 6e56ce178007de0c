// SPDX-License-Identifier: Apache-2.0
// A program that makes many connections waits for their events again and again, and so serves in place of the progress
// thread. Whether it does or not, all connections are served. The rules are in proxy_test.cpp.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>

#include "hand_peer.hpp"
#include "loopback.hpp"
#include "verbs/progress/runtime.hpp"

namespace weft::verbs::test {
namespace {

// A listener, and two ends whose connection only the runtime drives.
struct LiveProxy : testing::Test {
  LiveProxy() {
    must(listener.bind_address(loopback("127.0.0.1")), "bind");
    must(listener.listen(1024), "listen");
  }
  // A set-up's event, which comes soon.
  void wait_for_one() {
    const HandPeer peer(listener.local_address());
    EXPECT_EQ(must(events.get_event(kPatience), "get_event").type, ConnectionEventType::kConnectRequest);
  }
  void write_and_see(int value) {
    write_octet(*pair.client.qp, near, far, static_cast<std::byte>(value));
    wait_until([&] { return look_at(far.octets.data()) == static_cast<std::byte>(value); }, "the Write");
  }

  const ProgressThreadCount one{1};
  Pair pair;
  Buffer near{pair.client, 64}, far{pair.server, 64};
  EventChannel events = must(EventChannel::create(), "EventChannel");
  ConnectionId listener = must(ConnectionId::create(events), "ConnectionId");
};

TEST_F(LiveProxy, IsThereForAllOthersAndWhenItHasGoneTheProgressThreadIs) {
  for (int round = 1; round <= 20; ++round) {
    for (int i = 0; i < 8; ++i) wait_for_one();
    if (round % 4 == 0) {
      EXPECT_EQ(events.get_event(20ms).error().code, Errc::kTimedOut) << "it steps back meanwhile";
    }
    std::thread waits;
    if (round % 2 == 0) waits = std::thread([&] { EXPECT_TRUE(events.get_event(kPatience)); });
    write_and_see(round);  // beside one that waits, or has just gone
    if (!waits.joinable()) continue;
    const HandPeer peer(listener.local_address());
    waits.join();
  }
}

TEST_F(LiveProxy, NothingIsLostAmongSeveral) {
  constexpr int kEach = 300;
  std::atomic<int> taken{0};
  const auto take = [&] {
    while (taken < 2 * kEach) {
      if (events.get_event(20ms)) ++taken;
    }
  };
  const auto connect = [&] {
    for (int i = 0; i < kEach; ++i) HandPeer(listener.local_address()).wait_for<engine::Rejected>();
  };
  {
    const std::jthread first(take), second(take), near_peers(connect), far_peers(connect);
  }
  EXPECT_EQ(taken, 2 * kEach);
}

// What comes for an established connection is no set-up's.
TEST_F(LiveProxy, IsNotForMessages) {
  auto& threads = must(detail::Runtime::acquire(), "runtime")->progress_threads();
  for (int round = 1; round <= 3; ++round) {
    while (!threads.proxy_comes()) std::this_thread::yield();  // messages came before
    threads.proxy_leaves();
    write_and_see(round);
    const auto message_came = [&] {
      if (!threads.proxy_comes()) return true;
      threads.proxy_leaves();
      return false;
    };
    wait_until(message_came, "the Write is a message");
  }
}

}  // namespace
}  // namespace weft::verbs::test
