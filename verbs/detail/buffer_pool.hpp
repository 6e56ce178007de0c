// SPDX-License-Identifier: Apache-2.0
// Large buffers that connections borrow while octets move, so that an idle connection holds none.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "common/wire.hpp"
#include "engine/transmit_batch.hpp"

namespace weft::verbs::detail {

// Many FPDUs of one read.
class Staging {
 public:
  static constexpr std::size_t kOctets = 256 * 1024;
  [[nodiscard]] MutableBytes octets() noexcept { return {storage_.get(), kOctets}; }

 private:
  std::unique_ptr<std::byte[]> storage_ = std::make_unique_for_overwrite<std::byte[]>(kOctets);
};

class BufferPool {
 public:
  static constexpr std::size_t kBatchOctets = 256 * 1024;
  // A connection with half a frame may keep its staging buffer as long as no more than this many are out.
  static constexpr std::size_t kMaxKept = 32;

  [[nodiscard]] std::unique_ptr<Staging> lease_staging();
  void give_back(std::unique_ptr<Staging> staging);
  [[nodiscard]] bool may_keep_staging() const;

  [[nodiscard]] std::unique_ptr<engine::TransmitBatch> lease_batch();
  void give_back(std::unique_ptr<engine::TransmitBatch> batch);

 private:
  static constexpr std::size_t kMaxFree = 4;  // of each kind
  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<Staging>> stagings_;
  std::vector<std::unique_ptr<engine::TransmitBatch>> batches_;
  std::size_t stagings_out_ = 0;
};

}  // namespace weft::verbs::detail
