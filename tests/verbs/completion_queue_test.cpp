// SPDX-License-Identifier: Apache-2.0
// The completions of a queue pair that is gone leave the queue; all others stay, in their order.
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <vector>

#include "verbs/objects/completion_queue_state.hpp"
#include "verbs/progress/runtime.hpp"

namespace weft::verbs::detail {
namespace {

class Discarding : public testing::Test {
 protected:
  bool push(std::uint32_t qp_number, std::uint64_t id) { return queue_->push({.wr_id = id, .qp_num = qp_number}); }
  // Their wr_ids.
  std::vector<std::uint64_t> all() {
    std::vector<std::uint64_t> ids;
    std::array<WorkCompletion, 3> some;
    while (const auto count = queue_->poll(some).value()) {
      for (std::size_t i = 0; i < count; ++i) ids.push_back(some[i].wr_id);
    }
    return ids;
  }
  void fill(std::uint32_t queue_pairs, std::uint64_t each) {
    for (std::uint64_t round = 0; round < each; ++round) {
      for (std::uint32_t qp = 1; qp <= queue_pairs; ++qp) ASSERT_TRUE(push(qp, round * 1000 + qp));
    }
  }

  static constexpr std::uint32_t kCapacity = 600;
  std::shared_ptr<Runtime> runtime_ = Runtime::acquire().value();
  std::shared_ptr<CompletionQueueState> queue_ = std::make_shared<CompletionQueueState>(
      *runtime_, nullptr, CompletionQueueAttributes{.capacity = kCapacity}, nullptr);
};
using Ids = std::vector<std::uint64_t>;

TEST_F(Discarding, TakesOneQueuePairsAndKeepsTheOrder) {
  fill(3, 2);
  queue_->discard(2);
  EXPECT_EQ(all(), (Ids{1, 3, 1001, 1003}));
}

TEST_F(Discarding, OfNobodyChangesNothing) {
  queue_->discard(7);
  fill(2, 1);
  for (std::uint32_t qp = 3; qp < 1000; ++qp) queue_->discard(qp);
  EXPECT_EQ(all(), (Ids{1, 2}));
}

// A queue pair that was reset is used again.
TEST_F(Discarding, KeepsWhatComesLater) {
  fill(2, 1);
  queue_->discard(1);
  EXPECT_TRUE(push(1, 50));
  queue_->discard(2);
  EXPECT_TRUE(push(2, 60));
  queue_->discard(1);
  EXPECT_TRUE(push(1, 70));
  EXPECT_EQ(all(), (Ids{60, 70}));
  EXPECT_TRUE(push(1, 80)) << "nor is it looked for any longer";
  EXPECT_TRUE(push(2, 90));
  EXPECT_EQ(all(), (Ids{80, 90}));
}

TEST_F(Discarding, AfterSomeWereTaken) {
  fill(3, 3);
  std::array<WorkCompletion, 4> some;
  ASSERT_EQ(queue_->poll(some).value(), 4U);
  queue_->discard(3);
  EXPECT_EQ(all(), (Ids{1002, 2001, 2002}));
}

TEST_F(Discarding, MakesRoomInAFullQueue) {
  fill(kCapacity / 2, 2);
  queue_->discard(5);
  EXPECT_TRUE(push(1, 50));
  EXPECT_TRUE(push(1, 51));
  EXPECT_EQ(all().size(), kCapacity);
}

TEST_F(Discarding, MakesRoomToBecomeSmaller) {
  fill(2, 10);
  EXPECT_FALSE(queue_->resize(10));
  queue_->discard(1);
  EXPECT_TRUE(queue_->resize(10));
  EXPECT_EQ(all().size(), 10U);
}

// As many as the device says, and not one more; a refusal leaves the queue as it is.
TEST_F(Discarding, IsResizedWithinTheDevicesLimit) {
  const std::uint32_t most = Device::limits().max_cqe;
  for (const std::uint32_t wrong : {0U, most + 1, ~0U}) {
    const auto refused = queue_->resize(wrong);
    ASSERT_FALSE(refused) << wrong;
    EXPECT_EQ(refused.error().code, Errc::kLimitExceeded);
  }
  fill(kCapacity, 1);  // as before
  ASSERT_TRUE(queue_->resize(most));
  EXPECT_TRUE(push(1, 1));
}

// One after the other, as when a server with many connections ends; no thread polls meanwhile.
TEST_F(Discarding, OfManyQueuePairs) {
  constexpr std::uint32_t kQueuePairs = 300;
  fill(kQueuePairs, 2);
  for (std::uint32_t qp = 1; qp <= kQueuePairs; ++qp) {
    if (qp % 100 != 0) queue_->discard(qp);
  }
  EXPECT_EQ(all(), (Ids{100, 200, 300, 1100, 1200, 1300}));
}

}  // namespace
}  // namespace weft::verbs::detail
