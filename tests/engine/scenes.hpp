// SPDX-License-Identifier: Apache-2.0
// Scenes that several tests play: every operation once, closing.
#pragma once

#include <gtest/gtest.h>

#include <cstring>

#include "tests/engine/builders.hpp"

namespace weft::engine::test {

inline void expect_success(const End& end, std::uint64_t cookie) {
  for (const SendCompleted& done : end.all<SendCompleted>()) {
    if (done.cookie != cookie) continue;
    EXPECT_EQ(done.status, WorkStatus::kSuccess) << "work request " << cookie;
    return;
  }
  ADD_FAILURE() << "work request " << cookie << " did not complete";
}

// `x` does everything to `y` once, with a length that needs several FPDUs.
inline void do_every_operation(Pair& pair, End& x, End& y, std::size_t size = 10007) {
  const auto data = pattern(size, 3);
  const auto n = static_cast<std::uint32_t>(size);
  x.events.clear();
  y.events.clear();
  x.memory.add(10, size).octets = data;
  x.memory.add(11, size + 100);
  y.memory.add(20, size + 64, 0x1000);
  y.memory.add(21, 64);
  const std::uint64_t start = 0x5000;
  std::memcpy(y.memory.regions()[21].octets.data() + 8, &start, 8);
  for (std::uint64_t c = 0; c < 5; ++c) y.memory.post_receive(500 + c, size);

  // A gather list of three pieces.
  const std::array<rdmap::LocalSegment, 3> pieces{{{0, 1, 10}, {1, n / 2, 10}, {1 + n / 2, n - 1 - n / 2, 10}}};
  const rdmap::LocalSegment all{0, n, 10}, sink{50, n, 11}, word{0, 8, 11};
  ASSERT_TRUE(x.engine.post({.cookie = 1, .operation = Operation::kSend, .local = pieces}));
  ASSERT_TRUE(x.engine.post(write_of(2, all, 20, 0x1000 + 13)));
  ASSERT_TRUE(x.engine.post(read_of(3, sink, 20, 0x1000 + 13)));
  WorkRequest add{.cookie = 4,
                  .operation = Operation::kFetchAdd,
                  .local = rdmap::LocalSegments(&word, 1),
                  .remote_stag = {21},
                  .remote_offset = {8}};
  add.atomic.add_or_swap = 5;
  ASSERT_TRUE(x.engine.post(add));
  WorkRequest swap = add;
  swap.cookie = 5;
  swap.operation = Operation::kCmpSwap;
  swap.fence = true;
  swap.atomic = {.add_or_swap = 99, .add_or_swap_mask = ~0ULL, .compare = start + 5, .compare_mask = ~0ULL};
  ASSERT_TRUE(x.engine.post(swap));
  WorkRequest immediate = write_of(6, all, 20, 0x1000 + 13);
  immediate.operation = Operation::kWriteImmediate;
  immediate.solicited = true;
  std::ranges::copy(pattern(8, 9), immediate.immediate.begin());
  ASSERT_TRUE(x.engine.post(immediate));
  ASSERT_TRUE(x.engine.post({.cookie = 7, .operation = Operation::kImmediate}));
  const auto few = pattern(100, 4);
  ASSERT_TRUE(x.engine.post({.cookie = 8,
                             .operation = Operation::kSend,
                             .fence = true,
                             .solicited = true,
                             .invalidate = ddp::Stag{21},
                             .inline_data = few}));
  ASSERT_TRUE(x.engine.post({.cookie = 9, .operation = Operation::kLocal}));
  ASSERT_TRUE(x.engine.post({.cookie = 10, .operation = Operation::kSend}));
  pair.run();

  for (std::uint64_t cookie = 1; cookie <= 10; ++cookie) expect_success(x, cookie);
  const auto completions = x.all<SendCompleted>();
  ASSERT_EQ(completions.size(), 10u);
  for (std::uint64_t i = 0; i < 10; ++i) EXPECT_EQ(completions[i].cookie, i + 1) << "completions in posting order";

  const auto received = y.all<Received>();
  ASSERT_EQ(received.size(), 5u);
  EXPECT_EQ(received[0].length, n);
  EXPECT_EQ(y.memory.received()[500], data);
  EXPECT_TRUE(std::equal(data.begin(), data.end(), y.memory.regions()[20].octets.begin() + 13));
  EXPECT_TRUE(std::equal(data.begin() + 8, data.end(), x.memory.regions()[11].octets.begin() + 58));
  std::uint64_t memory{}, original{};
  std::memcpy(&memory, y.memory.regions()[21].octets.data() + 8, 8);
  std::memcpy(&original, x.memory.regions()[11].octets.data(), 8);
  EXPECT_EQ(memory, 99u);
  EXPECT_EQ(original, start + 5);
  ASSERT_TRUE(received[1].immediate);
  EXPECT_TRUE(std::ranges::equal(*received[1].immediate, pattern(8, 9)));
  EXPECT_TRUE(received[1].solicited);
  EXPECT_TRUE(received[2].immediate);
  EXPECT_EQ(received[3].invalidated, ddp::Stag{21});
  EXPECT_TRUE(std::equal(few.begin(), few.end(), y.memory.received()[503].begin()));
  EXPECT_FALSE(y.memory.regions()[21].valid);
  EXPECT_EQ(received[4].length, 0u);
  EXPECT_EQ(x.memory.performed.back(), 9u);
}

inline void close_both(Pair& pair) {
  pair.a.engine.close(pair.now);
  pair.run();
  EXPECT_EQ(pair.b.count<PeerClosed>(), 1u);
  pair.b.engine.close(pair.now);
  pair.run();
  for (const End* end : {&pair.a, &pair.b}) {
    ASSERT_EQ(end->count<Closed>(), 1u);
    EXPECT_TRUE(end->first<Closed>()->graceful);
    EXPECT_TRUE(std::holds_alternative<Closed>(end->events.back())) << "Closed is the last event";
  }
}

}  // namespace weft::engine::test
