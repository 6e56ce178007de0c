// SPDX-License-Identifier: Apache-2.0
// The places of work queues: free when a completion is polled, and not before. So a completion queue with as many entries
// as its work queues have places never overflows.
#include <gtest/gtest.h>

#include <array>
#include <random>

#include "tests/verbs/loopback.hpp"

namespace weft::verbs::test {
namespace {

constexpr std::uint32_t kSends = 3, kReceives = 4;

EndOptions small(bool shared = false) {
  EndOptions options{.queue_pair = {.max_send_wr = kSends, .max_receive_wr = kReceives},
                     .cq_capacity = kSends + kReceives};
  if (shared) options.srq = SharedReceiveQueueAttributes{.max_wr = kReceives};
  return options;
}

bool post_receive(End& end) {
  const auto posted = end.srq ? end.srq->post_receive(ReceiveRequest{}) : end.qp->post_receive(ReceiveRequest{});
  if (posted) return true;
  EXPECT_EQ(posted.error().code, Errc::kQueueFull) << posted.error().message();
  return false;
}

// Whether it was taken, full or on its way out.
bool post_send(End& end, SendFlags flags = SendFlags::kSignaled) {
  const auto posted = end.qp->post_send({.opcode = SendOpcode::kSend, .flags = flags});
  if (posted) return true;
  EXPECT_TRUE(posted.error().code == Errc::kQueueFull || posted.error().code == Errc::kDisconnected)
      << posted.error().message();
  return false;
}

std::size_t poll(End& end) {
  std::array<WorkCompletion, 1> one;
  return must(end.cq.poll(one), "poll");
}

// A window of type 1 that is bound again and again.
struct Windowed {
  explicit Windowed(End& on)
      : end(on), buffer(on, 8), window(must(on.domain.allocate_window(WindowType::kType1), "allocate_window")) {}
  bool bind() {
    const SendRequest request{
        .opcode = SendOpcode::kBindWindow,
        .flags = SendFlags::kSignaled,
        .bind = {&window, &buffer.region, window.next_rkey(), buffer.region.iova(), 8, Access::kRemoteRead}};
    return end.qp->post_send(request).has_value();
  }
  End& end;
  Buffer buffer;
  MemoryWindow window;
};

TEST(Places, OfSendsAreFreeWhenTheirCompletionsArePolled) {
  Pair pair({.client = small(), .server = {.queue_pair = {.max_receive_wr = 16}}});
  for (std::uint32_t i = 0; i < 8; ++i) must(pair.server.qp->post_receive(ReceiveRequest{}), "post_receive");
  for (std::uint32_t i = 0; i < kSends; ++i) ASSERT_TRUE(post_send(pair.client));
  for (std::uint32_t i = 0; i < kSends; ++i) pair.server.next();  // they have arrived, and so they are complete
  EXPECT_EQ(pair.client.qp->send_room(), 0U);
  EXPECT_FALSE(post_send(pair.client)) << "complete, and not polled";
  EXPECT_EQ(poll(pair.client), 1U);
  EXPECT_EQ(pair.client.qp->send_room(), 1U);
  EXPECT_TRUE(post_send(pair.client));
  EXPECT_FALSE(post_send(pair.client));
}

TEST(Places, OfSendsWithoutACompletionAreFreeWhenTheyAreDone) {
  Pair pair({.client = small(), .server = {.queue_pair = {.max_receive_wr = 64}}});
  for (std::uint32_t i = 0; i < 32; ++i) must(pair.server.qp->post_receive(ReceiveRequest{}), "post_receive");
  for (std::uint32_t i = 0; i < 32; ++i) {
    ASSERT_TRUE(post_send(pair.client, SendFlags::kNone)) << i;
    pair.server.next();
  }
}

// All that there are; their completions are not polled.
void use_up_receives(Pair& pair) {
  Buffer from(pair.client, 1), to(pair.server, 1);
  for (std::uint32_t i = 0; i < kReceives; ++i) ASSERT_TRUE(post_receive(pair.server));
  for (std::uint32_t i = 0; i < kReceives; ++i) ASSERT_TRUE(post_send(pair.client));
  write_octet(*pair.client.qp, from, to, std::byte{7});  // after the Sends
  wait_until([&] { return look_at(to.octets.data()) == std::byte{7}; }, "the Write");
}

class PlacesOfReceives : public testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(Places, PlacesOfReceives, testing::Bool(),
                         [](const auto& shared) { return shared.param ? "Shared" : "OfOneQueuePair"; });

TEST_P(PlacesOfReceives, AreFreeWhenTheirCompletionsArePolled) {
  Pair pair({.server = small(GetParam())});
  use_up_receives(pair);
  for (std::uint32_t i = 0; i < kReceives; ++i) {
    EXPECT_FALSE(post_receive(pair.server)) << "complete, and not polled";
    EXPECT_EQ(poll(pair.server), 1U);
    EXPECT_TRUE(post_receive(pair.server));
  }
}

TEST(Places, OfAQueuePairInErrorAreAsMany) {
  Pair pair({.client = small()});
  must(pair.client.qp->modify(QpState::kError), "modify");
  std::uint32_t sends = 0, receives = 0, polled = 0;
  while (sends < 100 && post_send(pair.client)) ++sends;
  while (receives < 100 && post_receive(pair.client)) ++receives;
  EXPECT_EQ(sends, kSends);
  EXPECT_EQ(receives, kReceives);
  while (poll(pair.client) != 0) ++polled;
  EXPECT_EQ(polled, kSends + kReceives);
  EXPECT_TRUE(post_send(pair.client));
}

TEST(Places, AreAllFreeAfterAReset) {
  Pair pair({.client = small()});
  must(pair.client.qp->modify(QpState::kError), "modify");
  while (post_send(pair.client) || post_receive(pair.client)) {
  }
  must(pair.client.qp->modify(QpState::kReset), "modify");
  EXPECT_EQ(pair.client.qp->send_room(), kSends);
  must(pair.client.qp->modify(QpState::kInit), "modify");
  for (std::uint32_t i = 0; i < kReceives; ++i) EXPECT_TRUE(post_receive(pair.client)) << i;
}

// What a queue pair that is gone held of a shared queue is free with it.
TEST(Places, OfASharedQueueAreFreeWhenTheirQueuePairIsGone) {
  Pair pair({.server = small(true)});
  use_up_receives(pair);
  EXPECT_FALSE(post_receive(pair.server));
  pair.server.qp.reset();
  for (std::uint32_t i = 0; i < kReceives; ++i) EXPECT_TRUE(post_receive(pair.server)) << i;
}

// --- Whatever the order

class Orders : public testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(Places, Orders, testing::Bool(),
                         [](const auto& shared) { return shared.param ? "SharedReceives" : "OwnReceives"; });

TEST_P(Orders, OfPostsAndPollsOverflowNoQueue) {
  for (unsigned seed = 1; seed <= 10; ++seed) {
    SCOPED_TRACE(seed);
    std::minstd_rand random(seed);
    Pair pair({.client = small(), .server = small(GetParam())});
    Windowed windowed(pair.client);
    std::uint64_t posted = 0, polled = 0;  // with a completion each
    const auto step = [&](bool polls) {
      switch (random() % (polls ? 8 : 5)) {
        case 0: posted += post_send(pair.client) ? 1 : 0; break;
        case 1: posted += post_send(pair.server) ? 1 : 0; break;
        case 2: posted += post_receive(pair.client) ? 1 : 0; break;
        case 3: posted += post_receive(pair.server) ? 1 : 0; break;
        case 4: posted += windowed.bind() ? 1 : 0; break;
        case 5: polled += poll(pair.client); break;
        default: polled += poll(pair.server); break;
      }
    };
    for (int i = 0; i < 300; ++i) step(true);
    for (int i = 0; i < 40; ++i) step(false);
    must(pair.client.qp->modify(QpState::kError), "modify");
    for (int i = 0; i < 40; ++i) step(false);
    must(pair.server.qp->modify(QpState::kError), "modify");
    for (int i = 0; i < 100; ++i) step(i % 2 == 0);
    if (GetParam()) {  // receives of a shared queue that nobody took are not flushed
      while (poll(pair.client) + poll(pair.server) != 0) {
      }
    } else {
      while (const auto more = poll(pair.client) + poll(pair.server)) polled += more;
      EXPECT_EQ(posted, polled);
    }
    for (End* const end : {&pair.client, &pair.server}) {
      while (const auto event = end->async_within(0ms)) {
        EXPECT_NE(event->type, AsyncEventType::kCompletionQueueError);
      }
    }
  }
}

}  // namespace
}  // namespace weft::verbs::test
