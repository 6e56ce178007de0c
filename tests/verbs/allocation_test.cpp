// SPDX-License-Identifier: Apache-2.0
// In steady state no operation allocates, in no thread of the process, at neither end: over real TCP, polling and
// asleep.
#include <poll.h>

#include "loopback.hpp"
#include "tests/engine/allocation_count.hpp"
#include "verbs/base/notification_queue.hpp"

namespace weft::verbs::test {
namespace {

using engine::test::allocations;

constexpr std::uint32_t kDepth = 16, kTimes = 1000;

struct Kind {
  const char* name;
  SendOpcode opcode;
  std::uint32_t length;
  bool received = false;  // takes a receive of the peer
  SendFlags flags = SendFlags::kNone;
};

constexpr Kind kKinds[] = {
    {"Send", SendOpcode::kSend, 64, true},
    {"InlineSend", SendOpcode::kSend, 64, true, SendFlags::kInline},
    {"SolicitedSend", SendOpcode::kSend, 3000, true, SendFlags::kSolicited},
    {"LongSend", SendOpcode::kSend, 100000, true},
    {"Write", SendOpcode::kRdmaWrite, 64},
    {"LongWrite", SendOpcode::kRdmaWrite, 100000},
    {"WriteWithImmediate", SendOpcode::kRdmaWriteWithImmediate, 64, true},
    {"Immediate", SendOpcode::kImmediate, 0, true},
    {"Read", SendOpcode::kRdmaRead, 64},
    {"FencedRead", SendOpcode::kRdmaRead, 64, false, SendFlags::kFence},
    {"LongRead", SendOpcode::kRdmaRead, 100000},
    {"FetchAndAdd", SendOpcode::kFetchAndAdd, 8},
    {"CompareAndSwap", SendOpcode::kCompareAndSwap, 8},
};

// Posts and collects one kind of operation, from the client to the server.
class Player {
 public:
  Player(Pair& pair, bool asleep)
      : pair_(pair), asleep_(asleep), near_(pair.client, 1 << 17), far_(pair.server, 1 << 17) {}

  void play(const Kind& kind, std::uint32_t times) {
    for (std::uint32_t done = 0; done < times; done += kDepth) {
      if (kind.received) post_receives();
      post(kind);
      collect(pair_.client);
      if (kind.received) collect(pair_.server);
    }
  }

 private:
  void post_receives() {
    const auto sge = far_.sge();
    for (std::uint32_t i = 0; i < kDepth; ++i)
      must(pair_.server.qp->post_receive({.segments = {&sge, 1}}), "post_receive");
  }

  void post(const Kind& kind) {
    const auto sge = near_.sge(0, kind.length);
    const SendRequest request{.opcode = kind.opcode,
                              .flags = kind.flags | SendFlags::kSignaled,
                              .segments = {&sge, kind.length == 0 ? 0U : 1U},
                              .remote_address = far_.remote(),
                              .rkey = far_.region.rkey()};
    for (std::uint32_t i = 0; i < kDepth; ++i) must(pair_.client.qp->post_send(request), "post_send");
  }

  void collect(End& end) {
    for (std::uint32_t i = 0; i < kDepth; ++i) ASSERT_EQ((asleep_ ? next(end) : end.next()).status, WcStatus::kSuccess);
  }

  // An application that sleeps: it asks for an event before it looks, and looks before it waits.
  static WorkCompletion next(End& end) {
    WorkCompletion completion;
    for (;;) {
      must(end.cq.arm(Arm::kAll), "arm");
      const bool found = must(end.cq.poll({&completion, 1}), "poll") == 1;
      take_event(end, found ? 0 : 100);
      if (found) return completion;
    }
  }

  static void take_event(End& end, int milliseconds) {
    pollfd waiting{.fd = end.channel.descriptor(), .events = POLLIN, .revents = 0};
    if (poll(&waiting, 1, milliseconds) != 1) return;
    must(end.channel.get_event(), "get_event");
    end.cq.acknowledge_events(1);
  }

  Pair& pair_;
  const bool asleep_;
  Buffer near_, far_;
};

class SteadyState : public ::testing::TestWithParam<bool> {};

TEST_P(SteadyState, AllocatesNothing) {
  Pair pair;
  Player player(pair, GetParam());
  for (const Kind& kind : kKinds) player.play(kind, 200);  // buffers and queues grow to what they need
  const std::size_t before = allocations();
  for (const Kind& kind : kKinds) player.play(kind, kTimes);
  // Two threads that meet for the first time may still make a queue or a pool grow, once: not one in thousand
  // operations.
  EXPECT_LE(allocations() - before, 8U);
}

INSTANTIATE_TEST_SUITE_P(Waiting, SteadyState, ::testing::Values(false, true),
                         [](const auto& info) { return std::string(info.param ? "Asleep" : "Polling"); });

TEST(Notifications, AllocateNothing) {
  const auto queue = detail::NotificationQueue<int>::create(100).value();
  const auto round = [&] {
    for (int event = 0; event < 3; ++event) queue->post(event);
    for (int event = 0; event < 3; ++event) EXPECT_EQ(queue->get(), event);
  };
  round();
  const std::size_t before = allocations();
  for (int i = 0; i < 1000; ++i) round();
  EXPECT_EQ(allocations() - before, 0U);
}

}  // namespace
}  // namespace weft::verbs::test
