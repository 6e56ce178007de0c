// SPDX-License-Identifier: Apache-2.0
// A stream's socket with all that may own it, over real epoll sets: no thread runs, and ticks come by hand. What the
// kernel is told is read from the kernel.
#pragma once

#include <gtest/gtest.h>
#include <sys/epoll.h>

#include <array>
#include <cstdint>
#include <fstream>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "tests/transport/support.hpp"
#include "verbs/objects/channel_state.hpp"
#include "verbs/objects/completion_queue_state.hpp"
#include "verbs/progress/runtime.hpp"
#include "verbs/progress/socket_watch.hpp"
#include "verbs/stream/stream.hpp"

namespace weft::verbs::detail {

// What this socket is watched for in the epoll set; nothing: it is not in there.
inline std::optional<unsigned> events_in(int set, const transport::Socket& socket) {
  std::ifstream file("/proc/self/fdinfo/" + std::to_string(set));
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string name, events_name;
    int descriptor = -1;
    unsigned events = 0;
    words >> name >> descriptor >> events_name >> std::hex >> events;
    if (name == "tfd:" && descriptor == socket.descriptor()) return events;
  }
  return std::nullopt;
}

// A queue with a channel of its own: a poller and a waiter.
struct PolledQueue {
  explicit PolledQueue(Runtime& runtime)
      : channel(std::make_shared<ChannelState>(runtime, NotificationQueue<CompletionEvent>::create(8).value())),
        queue(std::make_shared<CompletionQueueState>(runtime, nullptr, CompletionQueueAttributes{.capacity = 8},
                                                     channel)) {}
  [[nodiscard]] Poller& poller() const { return queue->poller(); }
  [[nodiscard]] Waiter& waiter() const { return channel->waiter(); }

  std::shared_ptr<ChannelState> channel;
  std::shared_ptr<CompletionQueueState> queue;
};

enum class Who : std::uint8_t { kProgressThread, kPoller, kOtherPoller, kWaiter, kOtherWaiter };

// A stream's watch and its queue pair with two queues. The stream itself is over: it only has a number, so that the
// events of the table come from the test alone.
struct WatchedSocket {
  static constexpr std::uint64_t kNumber = 1;

  explicit WatchedSocket(std::uint64_t streams_beside = 0) {
    watch.join(over(kNumber), drivers);
    for (std::uint64_t i = 1; i <= streams_beside; ++i) {
      auto& beside = neighbours.emplace_back(std::make_unique<Neighbour>(*this, kNumber + i));
      beside->watch.join(beside->stream, drivers);
    }
    settle();
  }
  ~WatchedSocket() {
    for (const auto& beside : neighbours) beside->watch.leave(*beside->stream);
    watch.leave(*stream);
    watch.end();
  }
  WatchedSocket(const WatchedSocket&) = delete;
  WatchedSocket& operator=(const WatchedSocket&) = delete;

  std::shared_ptr<Stream> over(std::uint64_t number) {
    auto made = std::make_shared<Stream>(*runtime, Stream::Setup{.number = number});
    made->leave_to_parent(-1);
    if (number == kNumber) stream = made;
    return made;
  }

  // --- The events
  void arrive(Poller& by) const {
    do by.drive();
    while (!by.claim(kNumber));
  }
  bool driven_by(Poller& by) {
    arrive(by);
    return settle(watch.driven_by(by));
  }
  static void arrive(Waiter& by) { EXPECT_TRUE(Waiter::Wait(by).drives()); }
  bool waited_for_by(Waiter& by) {
    arrive(by);
    return settle(watch.waited_for_by(by));
  }
  bool is_over(Driver& owner) {
    while (!owner.is_over()) {
    }
    return settle(watch.is_over(owner));
  }
  bool settle(bool changed = true) {
    EXPECT_TRUE(!changed || watch.settle(transport::kReadInterest, false));
    return changed;
  }

  // --- The owner
  void give_to(Who who) {
    switch (who) {
      case Who::kProgressThread: break;
      case Who::kPoller: EXPECT_TRUE(driven_by(send.poller())); break;
      case Who::kOtherPoller: EXPECT_TRUE(driven_by(receive.poller())); break;
      case Who::kWaiter: EXPECT_TRUE(waited_for_by(send.waiter())); break;
      case Who::kOtherWaiter: EXPECT_TRUE(waited_for_by(receive.waiter())); break;
    }
  }
  Driver& driver(Who who) const {
    switch (who) {
      case Who::kOtherPoller: return receive.poller();
      case Who::kWaiter: return send.waiter();
      case Who::kOtherWaiter: return receive.waiter();
      default: return send.poller();
    }
  }
  [[nodiscard]] bool reads_in(Who who) const {
    std::optional<unsigned> events;
    if (who == Who::kProgressThread) events = events_in(home.descriptor(), socket());
    if (who == Who::kWaiter && send.waiter().is_present()) events = waiter_events(send);
    if (who == Who::kOtherWaiter && receive.waiter().is_present()) events = waiter_events(receive);
    return events && (*events & EPOLLIN) != 0;
  }
  [[nodiscard]] std::optional<unsigned> waiter_events(const PolledQueue& of) const {
    return events_in(of.waiter().sockets().descriptor(), socket());
  }
  // Just this one: told from the epoll sets, and of two pollers by taking it away.
  void expect_owner(Who who, const char* what) {
    for (const Who one : {Who::kProgressThread, Who::kWaiter, Who::kOtherWaiter}) {
      EXPECT_EQ(reads_in(one), one == who) << what << ", " << static_cast<int>(one);
    }
    for (const Who one : {Who::kPoller, Who::kOtherPoller, Who::kWaiter, Who::kOtherWaiter}) {
      EXPECT_FALSE(one != who && watch.is_over(driver(one))) << what << ": " << static_cast<int>(one) << " owns it";
    }
    EXPECT_TRUE(who == Who::kProgressThread || watch.is_over(driver(who))) << what;
  }
  [[nodiscard]] const transport::Socket& socket() const { return pair.first; }

  struct Neighbour {
    Neighbour(WatchedSocket& scene, std::uint64_t number)
        : stream(scene.over(number)), watch(pair.first, number, scene.home) {}
    std::shared_ptr<Stream> stream;
    std::pair<transport::Socket, transport::Socket> pair = transport::test::connected_pair();
    SocketWatch watch;
  };

  std::shared_ptr<Runtime> runtime = Runtime::acquire().value();  // which has no thread yet
  transport::ReadinessThread home = transport::ReadinessThread::create([](const transport::Ready&) {}).value();
  std::pair<transport::Socket, transport::Socket> pair = transport::test::connected_pair();
  PolledQueue send{*runtime}, receive{*runtime}, foreign{*runtime};
  QueueDrivers drivers{{{{&send.poller(), &send.waiter()}, {&receive.poller(), &receive.waiter()}}}};
  std::shared_ptr<Stream> stream;
  SocketWatch watch{pair.first, kNumber, home};
  std::vector<std::unique_ptr<Neighbour>> neighbours;
};

}  // namespace weft::verbs::detail
