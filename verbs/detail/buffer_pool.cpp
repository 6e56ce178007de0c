// SPDX-License-Identifier: Apache-2.0
#include "verbs/detail/buffer_pool.hpp"

#include <utility>

namespace weft::verbs::detail {

namespace {

template <typename T>
std::unique_ptr<T> take_last(std::vector<std::unique_ptr<T>>& free) {
  if (free.empty()) return nullptr;
  auto last = std::move(free.back());
  free.pop_back();
  return last;
}

}  // namespace

std::unique_ptr<Staging> BufferPool::lease_staging() {
  std::unique_ptr<Staging> staging;
  {
    const std::lock_guard lock(mutex_);
    ++stagings_out_;
    staging = take_last(stagings_);
  }
  return staging ? std::move(staging) : std::make_unique<Staging>();
}

void BufferPool::give_back(std::unique_ptr<Staging> staging) {
  const std::lock_guard lock(mutex_);
  --stagings_out_;
  if (stagings_.size() < kMaxFree) stagings_.push_back(std::move(staging));
}

bool BufferPool::may_keep_staging() const {
  const std::lock_guard lock(mutex_);
  return stagings_out_ <= kMaxKept;
}

std::unique_ptr<engine::TransmitBatch> BufferPool::lease_batch() {
  std::unique_ptr<engine::TransmitBatch> batch;
  {
    const std::lock_guard lock(mutex_);
    batch = take_last(batches_);
  }
  return batch ? std::move(batch) : std::make_unique<engine::TransmitBatch>(kBatchOctets);
}

void BufferPool::give_back(std::unique_ptr<engine::TransmitBatch> batch) {
  batch->consume(batch->size());  // what a lost connection could not send must not leave on the next one's socket
  const std::lock_guard lock(mutex_);
  if (batches_.size() < kMaxFree) batches_.push_back(std::move(batch));
}

}  // namespace weft::verbs::detail
