// SPDX-License-Identifier: Apache-2.0
// A stream that waits for a receive is woken when there is one, and not for each that others get.
#include "verbs/memory/receive_queue.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace weft::verbs::detail {
namespace {

struct Waiter final : ReceiveWaiter, std::enable_shared_from_this<Waiter> {
  explicit Waiter(ReceiveQueue& from) : queue(from) {}
  void receives_available() override {
    ++woken;
    while (wants != 0 && queue.take(weak_from_this())) --wants, ++taken;
  }
  ReceiveQueue& queue;
  int wants = 1;  // receives; 0: it has no use for one any more
  int woken = 0;
  int taken = 0;
};

struct Scene : ::testing::Test {
  std::shared_ptr<DeviceState> device = DeviceState::create({}).value();
  ReceiveQueue queue{std::make_shared<ProtectionDomainState>(device), {.max_wr = 64, .max_sge = 1, .shared = true}};
  std::vector<std::shared_ptr<Waiter>> waiters;

  Scene() {
    for (int i = 0; i < 10; ++i) {
      waiters.push_back(std::make_shared<Waiter>(queue));
      EXPECT_FALSE(queue.take(waiters.back()));
    }
  }
  void post(std::size_t count) {
    const std::vector<ReceiveRequest> requests(count);
    EXPECT_TRUE(queue.post(requests));
  }
  template <typename Field>
  [[nodiscard]] std::vector<int> each(Field field) const {
    std::vector<int> all;
    for (const auto& waiter : waiters) all.push_back(waiter.get()->*field);
    return all;
  }
};

TEST_F(Scene, AsManyAreWokenAsReceivesArePosted) {
  post(1);
  EXPECT_EQ(each(&Waiter::woken), (std::vector{1, 0, 0, 0, 0, 0, 0, 0, 0, 0}));
  post(3);
  EXPECT_EQ(each(&Waiter::woken), (std::vector{1, 1, 1, 1, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(each(&Waiter::taken), each(&Waiter::woken));
}

TEST_F(Scene, WhoTakesNoneLeavesItToTheNext) {
  waiters[0]->wants = waiters[1]->wants = 0;
  waiters[2].reset();  // its stream is gone
  waiters[2] = waiters[3];
  post(1);
  EXPECT_EQ(waiters[0]->woken, 1);
  EXPECT_EQ(waiters[1]->woken, 1);
  EXPECT_EQ(waiters[3]->taken, 1);
  EXPECT_EQ(waiters[4]->woken, 0);
}

TEST_F(Scene, WhoTakesSeveralWaitsAgainBehindTheOthers) {
  waiters[0]->wants = 3;
  post(2);
  EXPECT_EQ(waiters[0]->taken, 2);
  EXPECT_EQ(waiters[1]->woken, 0);
  post(10);
  EXPECT_EQ(each(&Waiter::taken), (std::vector{3, 1, 1, 1, 1, 1, 1, 1, 1, 1}));
}

TEST_F(Scene, IsMadeAsSmallAsWhatItHasHeldAndNoSmaller) {
  post(3);
  EXPECT_EQ(queue.resize(2).error().code, Errc::kBusy);
  ASSERT_TRUE(queue.resize(3));
  EXPECT_EQ(queue.shape().max_wr, 3U);
  const ReceiveRequest more{};
  EXPECT_EQ(queue.post({&more, 1}).error().error.code, Errc::kQueueFull);
}

}  // namespace
}  // namespace weft::verbs::detail
