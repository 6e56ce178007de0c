// SPDX-License-Identifier: Apache-2.0
// Memory that a stream shares with other streams and with the application's threads.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <cstring>
#include <thread>
#include <vector>

#include "stream_memory_fixture.hpp"

namespace weft::verbs::detail {
namespace {

class SharedMemory : public MemoryFixture {};

// RDMAPX-5-01, RDMAPX-5-02, RDMAPX-5.3-01, RDMAPX-5.4-02
TEST_F(SharedMemory, AtomicsOfManyStreamsAndTheProcessorAddUp) {
  using AtomicKind = rdmap::AtomicOperation::Kind;
  const auto target = region(kAllAccess);
  auto* word = reinterpret_cast<std::uint64_t*>(octets.data());
  constexpr std::uint64_t kTimes = 2000000;
  std::barrier together(3);  // else the first may be done before the others begin
  const auto stream = [&] {
    StreamMemory other{table};
    other.attach({.domain = domain->number, .stream = 99}, nullptr, {});
    std::uint64_t done = 0;
    together.arrive_and_wait();
    for (std::uint64_t i = 0; i < kTimes; ++i) {
      if (other.atomic({target->stag()}, {0}, {.kind = AtomicKind::kFetchAdd, .add_or_swap = 1})) ++done;
    }
    EXPECT_EQ(done, kTimes);
  };
  const auto processor = [&] {
    together.arrive_and_wait();
    for (std::uint64_t i = 0; i < kTimes; ++i) std::atomic_ref(*word).fetch_add(1);
  };
  std::thread first(stream), second(stream), third(processor);
  first.join();
  second.join();
  third.join();
  EXPECT_EQ(*word, 3 * kTimes);
}

// An application that waits for an RDMA Write looks at its last octet only, and then finds all others.
TEST_F(SharedMemory, TheLastOctetIsVisibleLast) {
  constexpr std::size_t kSize = 4 << 20;  // the poller gets to run while it is copied
  constexpr unsigned kRounds = 100;
  std::vector<std::byte> target(kSize);
  const auto shared = region({.start = target.data(), .length = kSize, .access = kAllAccess});
  std::atomic<unsigned> seen{0};
  unsigned early = 0;
  std::thread poller([&] {
    std::vector<std::byte> expected(kSize);
    for (unsigned round = 1; round <= kRounds; ++round) {
      const auto value = static_cast<std::byte>(round);
      std::ranges::fill(expected, value);
      seen.store(round, std::memory_order_release);  // ready for this one
      const std::atomic_ref last(target.back());
      while (last.load(std::memory_order_acquire) != value) {
      }
      // Backwards, for a copy that is still under way is expected to end there.
      const bool all = target[kSize - 2] == value && target[kSize / 2] == value &&
                       std::memcmp(target.data(), expected.data(), kSize) == 0;
      if (!all) ++early;
    }
  });
  std::thread writer([&] {
    auto payload = some(kSize, 0);
    for (unsigned round = 1; round <= kRounds; ++round) {
      std::ranges::fill(payload, static_cast<std::byte>(round));
      while (seen.load(std::memory_order_acquire) != round) std::this_thread::yield();
      EXPECT_TRUE(memory.place_tagged({shared->stag()}, {0}, payload));
    }
  });
  poller.join();
  writer.join();
  EXPECT_EQ(early, 0U);
}

}  // namespace
}  // namespace weft::verbs::detail
