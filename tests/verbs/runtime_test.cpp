// SPDX-License-Identifier: Apache-2.0
#include "verbs/detail/runtime.hpp"

#include <gtest/gtest.h>

#include <latch>

#include "verbs/detail/completion_queue_state.hpp"

namespace weft::verbs::detail {
namespace {

// An application that arms a queue and spins on it in turn, faster than the tick.
TEST(Runtime, WatchesAPolledQueueOnce) {
  const auto runtime = Runtime::acquire().value();
  const auto queue = std::make_shared<CompletionQueueState>(*runtime, DeviceState::create({}).value(),
                                                            CompletionQueueAttributes{.capacity = 1}, nullptr);
  std::latch held(1), go_on(1), done(1);
  runtime->reactor().post([&] {
    held.count_down();
    go_on.wait();  // no tick meanwhile
    done.count_down();
  });
  held.wait();
  const auto before = queue.use_count();
  for (int i = 0; i < 3; ++i) runtime->watch(queue);
  EXPECT_EQ(queue.use_count(), before + 1);
  go_on.count_down();
  done.wait();
}

}  // namespace
}  // namespace weft::verbs::detail
