// SPDX-License-Identifier: Apache-2.0
// Large buffers that connections borrow while octets move, so that an idle connection holds none.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <span>

#include "common/wire.hpp"
#include "engine/transmit_batch.hpp"
#include "mpa/fpdu.hpp"

namespace weft::verbs::detail {

// Many FPDUs of one read, and at least a whole one (MPA-A.5.2-01).
class Staging {
 public:
  static constexpr std::size_t kOctets = 256 * 1024;
  static_assert(kOctets >= mpa::kMaxFpduSize);
  [[nodiscard]] MutableBytes octets() noexcept { return {storage_.get(), kOctets}; }

 private:
  std::unique_ptr<std::byte[]> storage_ = std::make_unique_for_overwrite<std::byte[]>(kOctets);
};

// Free objects of one kind, up to a few. No lock: every message takes one from here and brings it back.
template <typename T>
class Shelf {
 public:
  Shelf() = default;
  ~Shelf() {
    while (take()) {
    }
  }
  Shelf(const Shelf&) = delete;
  Shelf& operator=(const Shelf&) = delete;

  [[nodiscard]] std::unique_ptr<T> take() noexcept {  // null: there is none
    for (auto& place : places_) {
      if (place.load(std::memory_order_relaxed) == nullptr) continue;
      if (T* const object = place.exchange(nullptr, std::memory_order_acquire)) return std::unique_ptr<T>(object);
    }
    return nullptr;
  }
  void put(std::unique_ptr<T> object) noexcept {  // what finds no place is destroyed
    for (auto& place : places_) {
      T* none = nullptr;
      if (place.load(std::memory_order_relaxed) != nullptr) continue;
      if (place.compare_exchange_strong(none, object.get(), std::memory_order_release)) {
        static_cast<void>(object.release());
        return;
      }
    }
  }

 private:
  static constexpr std::size_t kPlaces = 4;
  std::array<std::atomic<T*>, kPlaces> places_{};
};

class BufferPool {
 public:
  static constexpr std::size_t kBatchOctets = 256 * 1024;
  // A connection with half a frame may keep its staging buffer as long as no more than this many are out.
  static constexpr std::size_t kMaxKept = 32;

  [[nodiscard]] std::unique_ptr<Staging> lease_staging();
  void give_back(std::unique_ptr<Staging> staging);
  [[nodiscard]] bool may_keep_staging() const noexcept { return stagings_out() <= kMaxKept; }
  [[nodiscard]] std::size_t stagings_out() const noexcept { return stagings_out_.load(std::memory_order_relaxed); }

  [[nodiscard]] std::unique_ptr<engine::TransmitBatch> lease_batch();
  void give_back(std::unique_ptr<engine::TransmitBatch> batch);

 private:
  Shelf<Staging> stagings_;
  Shelf<engine::TransmitBatch> batches_;
  std::atomic<std::size_t> stagings_out_{0};
};

}  // namespace weft::verbs::detail
