// SPDX-License-Identifier: Apache-2.0
#include "verbs/memory/stag_table.hpp"

#include <gtest/gtest.h>
#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <future>
#include <set>
#include <thread>
#include <vector>

#include "tests/transport/support.hpp"

namespace weft::verbs::detail {
namespace {

Grant grant_of(std::vector<std::byte>& memory) {
  return {.start = memory.data(), .length = memory.size(), .access = rdmap::kAllAccess, .domain = 1};
}

// RDMAP-8.1.1-08, RDMAP-8.1.1-09, SEC-6.1.1-05, SEC-6.1.1-07: hard to predict, sparse, no counting.
TEST(StagTable, StagsAreSpreadOverTheWholeRange) {
  StagTable table;
  std::vector<std::uint32_t> stags;
  for (int i = 0; i < 4096; ++i) stags.push_back(table.reserve().value());
  std::set<std::uint32_t> sixteenths, steps;
  for (std::size_t i = 0; i < stags.size(); ++i) {
    EXPECT_NE(stags[i], 0U);
    sixteenths.insert(stags[i] >> 28);
    if (i > 0) steps.insert(stags[i] - stags[i - 1]);
  }
  EXPECT_EQ(sixteenths.size(), 16U);
  EXPECT_GT(steps.size(), 4000U);
  EXPECT_EQ(std::set(stags.begin(), stags.end()).size(), stags.size());
}

// SEC-6.1.1-06: what was freed is not used again soon.
TEST(StagTable, FreedStagsRest) {
  StagTable table;
  std::set<std::uint32_t> indexes;
  for (int i = 0; i < 4000; ++i) {
    const auto stag = table.reserve().value();
    EXPECT_TRUE(indexes.insert(stag >> kKeyBits).second);
    table.release(stag);
  }
  EXPECT_EQ(table.size(), 0U);
}

// So do those after the first 4096, whose places in the list of the resting are used again and again; more freed
// than that list is long twice.
TEST(StagTable, TheLastFreedRestHoweverManyThereWere) {
  constexpr std::size_t kResting = 4096;
  StagTable table;
  std::vector<std::uint32_t> freed;
  std::set<std::uint32_t> resting;
  for (std::size_t i = 0; i < 2 * kResting + 100; ++i) {
    const auto stag = table.reserve().value();
    ASSERT_TRUE(resting.insert(stag >> kKeyBits).second);
    freed.push_back(stag >> kKeyBits);
    if (resting.size() > kResting) resting.erase(freed[i - kResting]);
    table.release(stag);
  }
  EXPECT_EQ(table.size(), 0U);
}

TEST(StagTable, OnlyTheExactStagIsValid) {
  StagTable table;
  std::vector<std::byte> memory(8);
  const auto stag = table.reserve().value();
  EXPECT_FALSE(table.lease(stag));
  EXPECT_TRUE(table.publish(stag, grant_of(memory)));
  EXPECT_TRUE(table.lease(stag));
  EXPECT_FALSE(table.lease(stag ^ 1));        // another key of the same index
  EXPECT_FALSE(table.lease(stag ^ 1 << 20));  // another index
  EXPECT_FALSE(table.lease(0));
  EXPECT_FALSE(table.publish(stag ^ 1, grant_of(memory)));  // one key at a time
  EXPECT_TRUE(table.revoke(stag));
  EXPECT_FALSE(table.lease(stag));
  EXPECT_FALSE(table.revoke(stag));
  EXPECT_TRUE(table.publish(stag ^ 1, grant_of(memory)));
}

// What streams had STags of their own is forgotten with the last of them: peers come and go for ever.
TEST(StagTable, StreamsLeaveNothingBehind) {
  StagTable table;
  std::vector<std::byte> memory(8);
  const auto stag = table.reserve().value();
  const auto come_and_go = [&](std::uint32_t stream) {
    Grant grant = grant_of(memory);
    grant.only_stream = stream;
    ASSERT_TRUE(table.publish(stag, grant));
    EXPECT_EQ(table.one_limited_to(stream), stag);
    ASSERT_TRUE(table.revoke(stag));
    EXPECT_FALSE(table.one_limited_to(stream));
  };
  come_and_go(1);
  const auto before = ::mallinfo2().uordblks;  // 0 where a sanitizer allocates
  constexpr std::uint32_t kStreams = 20000;
  for (std::uint32_t stream = 2; stream < kStreams; ++stream) come_and_go(stream);
  EXPECT_LT(::mallinfo2().uordblks, before + kStreams);
}

// RDMAP-8.1.1-06, SEC-6.2.2-02: revoking waits for threads at work.
TEST(StagTable, RevokeWaitsForLeases) {
  StagTable table;
  std::vector<std::byte> memory(8);
  const auto stag = table.reserve().value();
  table.publish(stag, grant_of(memory));
  std::atomic<bool> revoked{false};
  std::atomic<pid_t> waits = 0;
  auto lease = table.lease(stag);
  std::thread revoker([&] {
    waits = ::gettid();
    table.revoke(stag);
    revoked = true;
  });
  while (table.lease(stag)) std::this_thread::yield();  // no new lease is given once revoking began
  transport::test::sleeps_of(waits);
  EXPECT_FALSE(revoked);
  lease->drop();
  revoker.join();
  EXPECT_TRUE(revoked);
}

// A withdrawn STag gives no lease, makes room for the next key, and to revoke it still waits.
TEST(StagTable, RevokeWaitsAfterWithdraw) {
  StagTable table;
  std::vector<std::byte> memory(8);
  const auto stag = table.reserve().value();
  table.publish(stag, grant_of(memory));
  auto lease = table.lease(stag);
  EXPECT_TRUE(table.withdraw(stag));
  EXPECT_FALSE(table.withdraw(stag));
  EXPECT_FALSE(table.lease(stag));
  auto revoked = std::async(std::launch::async, [&] { return table.revoke(stag); });
  EXPECT_EQ(revoked.wait_for(std::chrono::milliseconds(50)), std::future_status::timeout);
  lease->drop();
  EXPECT_FALSE(revoked.get());  // it was not valid any more
  EXPECT_TRUE(table.publish(stag ^ 1, grant_of(memory)));
  EXPECT_TRUE(table.lease(stag ^ 1));
}

// What was leased before is leased again without the table, as long as it is valid; a revoker waits for that lease,
// too.
TEST(StagTable, ALeaseIsRenewedUntilItsStagIsRevoked) {
  StagTable table;
  std::vector<std::byte> memory(8);
  const auto stag = table.reserve().value();
  table.publish(stag, grant_of(memory));
  StagTable::Lease none;
  EXPECT_FALSE(none.renew(stag));
  auto lease = table.lease(stag).value();
  EXPECT_FALSE(lease.renew(stag)) << "it is held";
  lease.drop();
  EXPECT_FALSE(lease.names(stag));
  EXPECT_FALSE(lease.renew(stag ^ 1));
  ASSERT_TRUE(lease.renew(stag));
  EXPECT_TRUE(lease.names(stag));
  auto revoked = std::async(std::launch::async, [&] { return table.revoke(stag); });
  EXPECT_EQ(revoked.wait_for(std::chrono::milliseconds(50)), std::future_status::timeout);
  lease.drop();
  EXPECT_TRUE(revoked.get());
  EXPECT_FALSE(lease.renew(stag));
  EXPECT_TRUE(table.publish(stag, grant_of(memory)));
  EXPECT_FALSE(lease.renew(stag)) << "it is valid anew, for something else perhaps";
  EXPECT_TRUE(table.lease(stag));
}

TEST(StagTable, ManyThreadsAtOnce) {
  StagTable table;
  std::vector<std::byte> memory(8);
  std::atomic<std::uint32_t> shared{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 2000; ++i) {
        const std::uint32_t stag = shared.load();
        auto lease = table.lease(stag);
        if (!lease) continue;
        EXPECT_EQ(lease->grant().length, 8U);
        lease->drop();
        if (!lease->renew(stag)) continue;
        EXPECT_EQ(lease->grant().length, 8U);
      }
    });
  }
  for (int i = 0; i < 1000; ++i) {
    const auto stag = table.reserve().value();
    table.publish(stag, grant_of(memory));
    shared = stag;
    table.revoke(stag);
    table.release(stag);
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(table.size(), 0U);
}

}  // namespace
}  // namespace weft::verbs::detail
