// SPDX-License-Identifier: Apache-2.0
#include "verbs/memory/buffer_pool.hpp"

#include <utility>

namespace weft::verbs::detail {

std::unique_ptr<Staging> BufferPool::lease_staging() {
  auto staging = stagings_.take();
  if (!staging) staging = std::make_unique<Staging>();
  stagings_out_.fetch_add(1, std::memory_order_relaxed);
  return staging;
}

void BufferPool::give_back(std::unique_ptr<Staging> staging) {
  stagings_out_.fetch_sub(1, std::memory_order_relaxed);
  stagings_.put(std::move(staging));
}

std::unique_ptr<engine::TransmitBatch> BufferPool::lease_batch() {
  auto batch = batches_.take();
  return batch ? std::move(batch) : std::make_unique<engine::TransmitBatch>(kBatchOctets);
}

void BufferPool::give_back(std::unique_ptr<engine::TransmitBatch> batch) {
  batch->consume(batch->size());  // what a lost connection could not send must not leave on the next one's socket
  batches_.put(std::move(batch));
}

}  // namespace weft::verbs::detail
