// SPDX-License-Identifier: Apache-2.0
// Nothing of one connection reaches another through a buffer that both borrowed.
#include "verbs/memory/buffer_pool.hpp"

#include <gtest/gtest.h>

#include <array>
#include <utility>

namespace weft::verbs::detail {
namespace {

TEST(BufferPool, ABatchComesBackEmptyWhateverItsConnectionLeftInIt) {
  BufferPool pool;
  const std::array<std::byte, 100> borrowed{};
  auto batch = pool.lease_batch();
  const auto* const first = batch.get();
  batch->commit(1000);
  batch->append_borrowed(borrowed);
  pool.give_back(std::move(batch));
  const auto again = pool.lease_batch();
  ASSERT_EQ(again.get(), first) << "the pool made a new one: nothing is tested";
  EXPECT_TRUE(again->empty());
  EXPECT_EQ(again->size(), 0U);
  EXPECT_EQ(again->arena_room(), again->arena_size());
}

}  // namespace
}  // namespace weft::verbs::detail
