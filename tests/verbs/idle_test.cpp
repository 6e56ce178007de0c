// SPDX-License-Identifier: Apache-2.0
// What is there while nothing happens, and what is left when all is gone.
#include <dirent.h>
#include <gtest/gtest.h>
#include <malloc.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "loopback.hpp"
#include "tests/transport/rest.hpp"
#include "verbs/progress/runtime.hpp"

namespace weft::verbs::test {
namespace {

// Also after a time of polling, and with receives posted.
TEST(Idle, AConnectedDeviceUsesNoProcessor) {
  if (!transport::test::rest_can_be_seen()) GTEST_SKIP() << transport::test::kRestIsHidden;
  Pair pair;
  must(pair.server.qp->post_receive({.wr_id = 1}), "post_receive");
  EXPECT_FALSE(pair.client.next_within(pair.client.cq, 20ms));
  EXPECT_FALSE(pair.server.next_within(pair.server.cq, 20ms));
  transport::test::expect_rest();  // the sockets are handed back, and no thread has a reason to wake
  // And it is awake when something happens.
  must(pair.client.qp->post_send({.opcode = SendOpcode::kSend}), "send");
  must(pair.server.cq.arm(Arm::kAll), "arm");
  EXPECT_TRUE(drain(pair.server.cq) == 1 || has_event(pair.server.channel, 10000ms));
}

std::size_t entries(const char* path) {
  std::size_t count = 0;
  DIR* directory = opendir(path);
  while (readdir(directory) != nullptr) ++count;
  closedir(directory);
  return count;
}

std::size_t threads() { return transport::test::living_threads().size(); }

TEST(Idle, NothingIsLeftWhenAllIsGone) {
  {
    Pair warm_up;
  }
  const auto descriptors = entries("/proc/self/fd"), before = threads();
  for (int i = 0; i < 3; ++i) {
    Pair pair;
    if (i == 1) pair.disconnect();
    if (i == 2) must(pair.client.qp->post_send({.opcode = SendOpcode::kSend}), "send");  // never received
  }
  EXPECT_EQ(entries("/proc/self/fd"), descriptors);
  EXPECT_EQ(threads(), before);
}

// The first `count` that are alive.
std::vector<std::weak_ptr<detail::Driven>> streams(std::size_t count) {
  constexpr std::uint64_t kMost = 1'000'000;
  const auto runtime = must(detail::Runtime::acquire(), "runtime");
  std::vector<std::weak_ptr<detail::Driven>> found;
  for (std::uint64_t number = 1; found.size() < count && number < kMost; ++number) {
    if (const auto stream = runtime->find(number)) found.emplace_back(stream);
  }
  return found;
}

// Its completion queues and their channels may live for as long as the program does.
TEST(Idle, AConnectionThatIsOverIsKeptNowhere) {
  Pair pair;
  const auto both = streams(2);
  ASSERT_EQ(both.size(), 2U);
  pair.disconnect();
  pair.client.qp.reset();
  pair.server.qp.reset();
  wait_until([&] { return std::ranges::all_of(both, &std::weak_ptr<detail::Driven>::expired); }, "nobody has them");
}

TEST(Idle, NoThreadBeforeTheFirstConnection) {
  const auto before = threads();
  End end;
  auto events = must(EventChannel::create(), "EventChannel");
  Buffer buffer(end, 100);
  EXPECT_EQ(threads(), before);
}

// What a quiet connection holds, both ends with identifiers and queue pairs; no buffers stay with it.
TEST(Idle, AConnectionIsSmall) {
  constexpr std::size_t kCount = 50;
  mallopt(M_MMAP_THRESHOLD, 128 * 1024);  // the pool's large buffers, which no connection keeps, are not counted
  End shared;
  auto events = must(EventChannel::create(), "EventChannel");
  auto listener = must(ConnectionId::create(events), "id");
  must(listener.bind_address(loopback("127.0.0.1")), "bind");
  must(listener.listen(), "listen");
  std::vector<ConnectionId> ids;
  std::vector<QueuePair> pairs;
  std::vector<std::ptrdiff_t> growth;  // of the heap, by one connection
  auto before = static_cast<std::ptrdiff_t>(mallinfo2().uordblks);
  for (std::size_t i = 0; i < kCount; ++i) {
    auto id = must(ConnectionId::create(events), "id");
    resolve(id, events, listener.local_address());
    for (int end = 0; end < 2; ++end)
      pairs.push_back(must(shared.domain.create_queue_pair({.send_cq = &shared.cq, .receive_cq = &shared.cq}), "qp"));
    ids.push_back(establish(id, events, pairs[pairs.size() - 2], pairs.back()));
    ids.push_back(std::move(id));
    const auto now = static_cast<std::ptrdiff_t>(mallinfo2().uordblks);
    growth.push_back(now - std::exchange(before, now));
  }
  // The median: some connections also made a table or the pool of buffers grow, which are there for all.
  std::ranges::nth_element(growth, growth.begin() + kCount / 2);
  EXPECT_LT(growth[kCount / 2], 10 * 1024);
  const bool measured = mallinfo2().uordblks != 0;  // a sanitizer's allocator tells nothing
  EXPECT_EQ(growth[kCount / 2] > 0, measured);
}

}  // namespace
}  // namespace weft::verbs::test
