// SPDX-License-Identifier: Apache-2.0
// Two peers that write, send and read at each other as fast as they can, with queues far deeper than what the sockets
// hold: receiving never waits for sending, so neither ever waits for the other for ever.
#include <poll.h>

#include <thread>

#include "loopback.hpp"

namespace weft::verbs::test {
namespace {

constexpr std::uint32_t kDepth = 400, kSends = kDepth / 4, kSize = 1 << 20;

enum class Waiting : std::uint8_t { kPolling, kAsleep };

struct Rate {
  const char* name;
  Waiting waiting;
  bool crc;
};

class FullRate : public ::testing::TestWithParam<Rate> {};

// One end's application, on a thread of its own.
class Peer {
 public:
  Peer(End& end, const Buffer& local, const Buffer& remote) : end_(end), local_(local), remote_(remote) {}

  void post_receives() {
    const auto sge = local_.sge();
    for (std::uint32_t i = 0; i < kSends; ++i) must(end_.qp->post_receive({.segments = {&sge, 1}}), "post_receive");
  }

  // Everything at once: the queue is full before anything has completed.
  void post_all() {
    std::vector<Sge> segments;
    std::vector<SendRequest> work;
    segments.reserve(kDepth);
    for (std::uint32_t i = 0; i < kDepth; ++i) {
      segments.push_back(local_.sge(0, size_of(i)));
      work.push_back({.opcode = kind_of(i),
                      .flags = SendFlags::kSignaled,
                      .segments = {&segments.back(), 1},
                      .remote_address = remote_.remote(),
                      .rkey = remote_.region.rkey()});
    }
    ASSERT_TRUE(end_.qp->post_send(work));
  }

  void collect(Waiting waiting) {
    for (std::uint32_t done = 0; done < kDepth + kSends;) {
      if (waiting == Waiting::kAsleep) wait_for_event();
      for (WorkCompletion completion; done < kDepth + kSends; ++done) {
        if (waiting == Waiting::kPolling) {
          completion = end_.next();
        } else if (must(end_.cq.poll({&completion, 1}), "poll") == 0) {
          break;
        }
        ASSERT_EQ(completion.status, WcStatus::kSuccess);
      }
    }
  }

 private:
  static SendOpcode kind_of(std::uint32_t i) {
    constexpr std::array kKinds{SendOpcode::kRdmaWrite, SendOpcode::kSend, SendOpcode::kRdmaWrite,
                                SendOpcode::kRdmaRead};
    return kKinds[i % kKinds.size()];
  }
  static std::uint32_t size_of(std::uint32_t i) { return i % 40 < 4 ? kSize : 1 + i * 97; }

  // Completions that were there before the queue was armed raise no event: then there is nothing to wait for.
  void wait_for_event() {
    must(end_.cq.arm(Arm::kAll), "arm");
    pollfd waiting{.fd = end_.channel.descriptor(), .events = POLLIN, .revents = 0};
    if (poll(&waiting, 1, 50) != 1) return;
    must(end_.channel.get_event(), "get_event");
    end_.cq.acknowledge_events(1);
  }

  End& end_;
  const Buffer& local_;
  const Buffer& remote_;
};

TEST_P(FullRate, BothWaysNeverDeadlocks) {
  const Rate& rate = GetParam();
  const Policy policy{.startup = {.crc = rate.crc, .peer_to_peer = true}};
  const EndOptions end{.queue_pair = {.max_send_wr = kDepth, .max_receive_wr = kSends}, .cq_capacity = kDepth + kSends};
  Pair pair({.client_policy = policy, .server_policy = policy, .client = end, .server = end});
  Buffer near(pair.client, kSize), far(pair.server, kSize);
  Peer client(pair.client, near, far), server(pair.server, far, near);
  client.post_receives();
  server.post_receives();
  const auto play = [&](Peer& peer) {
    peer.post_all();
    peer.collect(rate.waiting);
  };
  std::thread other([&] { play(server); });
  play(client);
  other.join();
  EXPECT_EQ(pair.client.qp->state(), QpState::kRts);
  EXPECT_EQ(pair.server.qp->state(), QpState::kRts);
}

INSTANTIATE_TEST_SUITE_P(Rates, FullRate,
                         ::testing::Values(Rate{"Polling", Waiting::kPolling, true},
                                           Rate{"PollingWithoutCrc", Waiting::kPolling, false},
                                           Rate{"Asleep", Waiting::kAsleep, true},
                                           Rate{"AsleepWithoutCrc", Waiting::kAsleep, false}),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace weft::verbs::test
