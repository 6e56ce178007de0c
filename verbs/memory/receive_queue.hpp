// SPDX-License-Identifier: Apache-2.0
// Posted receives: the receive queue of one queue pair, or a shared one. A receive is posted, then taken by a stream
// when a Send begins, and completed when that Send is delivered or the stream ends. It keeps its place until the
// program has polled its completion (held_places.hpp).
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "common/bounded_ring.hpp"
#include "ddp/placement.hpp"
#include "verbs/base/compact_mutex.hpp"
#include "verbs/base/device_state.hpp"
#include "verbs/base/held_places.hpp"
#include "verbs/work_request.hpp"

namespace weft::verbs::detail {

// A stream that found no receive and waits for one.
class ReceiveWaiter {
 public:
  virtual ~ReceiveWaiter() = default;
  virtual void receives_available() = 0;

 private:
  friend class ReceiveQueue;
  bool waiting_ = false;  // under the queue's lock
};

class ReceiveQueue {
 public:
  struct Shape {
    std::uint32_t max_wr{};
    std::uint32_t max_sge{};
    std::uint32_t limit{};
    std::uint64_t context{};
    bool shared{};
  };
  ReceiveQueue(std::shared_ptr<ProtectionDomainState> domain, const Shape& shape, Quota::Share share = {});

  // Where the receives of a queue that is not shared complete, and the places that this holds.
  struct Completing {
    CompletionSink* queue;
    HeldPlaces* places;
  };
  PostResult post(std::span<const ReceiveRequest> requests, const Completing& own = {nullptr, nullptr});

  struct Taken {
    ddp::ReceiveBuffer buffer{};
    std::span<const Sge> segments{};  // its scatter list: stays valid until complete()
  };
  // The receive posted first. Without one, `who` is told once when there is one for it, after those who asked before;
  // both happen under one lock, so that no post falls between them.
  [[nodiscard]] std::optional<Taken> take(const std::weak_ptr<ReceiveWaiter>& who);
  // `who` waits no longer; what stays registered here keeps its memory.
  void forget(const std::shared_ptr<ReceiveWaiter>& who);
  // A receive that was taken is done; returns its wr_id. Its place is held until its completion is polled, which the
  // caller pushes next, with the places of its completion queue.
  std::uint64_t complete(std::uint64_t cookie);
  // The same without a completion: nothing holds the place.
  void drop(std::uint64_t cookie);
  // So many places of completed receives are free: their completions were polled, discarded or lost.
  void released(std::uint32_t places);
  // Shared receive queue: returns the places that completions in `queue` hold, for all queue pairs that share both.
  // Valid as long as `queue` exists.
  [[nodiscard]] HeldPlaces& places_in(const std::shared_ptr<CompletionSink>& queue);

  // Shared queues: the event comes once, when fewer than `limit` are posted.
  Result<void> set_limit(std::uint32_t limit);
  Result<void> resize(std::uint32_t max_wr);
  [[nodiscard]] Shape shape() const;
  [[nodiscard]] std::uint32_t number() const noexcept { return number_; }
  [[nodiscard]] const ProtectionDomainState& domain() const noexcept { return *domain_; }

 private:
  // Most receives are one piece of memory, and have no list of their own.
  struct Slot {
    std::uint64_t wr_id{};
    Sge only{};
  };
  static constexpr std::uint32_t kChunk = 8;
  struct Chunk {
    std::array<Slot, kChunk> slots{};
    std::array<std::uint8_t, kChunk> used{};  // segments of each
  };
  struct Shared {
    std::weak_ptr<CompletionSink> queue{};
    std::unique_ptr<HeldPlaces> places{};
  };
  struct Rare {                                   // what few queues ever need; apart, for there may be thousands
    std::vector<std::unique_ptr<Sge[]>> lists{};  // of slots that had more than one segment, max_sge_ each
    std::deque<std::weak_ptr<ReceiveWaiter>> waiters{};
    std::vector<Shared> completing{};  // of a shared queue: one for each completion queue
  };
  [[nodiscard]] Rare& rare();
  Result<void> check(const ReceiveRequest& request, const Completing& own);
  [[nodiscard]] bool has_room(const Completing& own) noexcept;
  [[nodiscard]] std::uint32_t release_shared() noexcept;
  void store(const ReceiveRequest& request);
  void make_slot();
  [[nodiscard]] Slot& slot(std::uint64_t index) const noexcept {
    return chunks_[index / kChunk]->slots[index % kChunk];
  }
  [[nodiscard]] std::uint8_t& used(std::uint64_t index) const noexcept {
    return chunks_[index / kChunk]->used[index % kChunk];
  }
  [[nodiscard]] std::span<Sge> segments_of(std::uint64_t index) const noexcept;
  void check_limit();
  [[nodiscard]] bool owes_a_wake() const noexcept { return rare_ && !rare_->waiters.empty() && !posted_.empty(); }
  [[nodiscard]] std::shared_ptr<ReceiveWaiter> next_to_wake();

  const std::shared_ptr<ProtectionDomainState> domain_;
  const Quota::Share share_;  // a shared one's
  const std::uint32_t number_;
  const std::uint32_t max_sge_;
  mutable CompactMutex mutex_;
  Shape shape_;
  std::vector<std::unique_ptr<Chunk>> chunks_;  // of slots, which stay where they are when the queue grows
  std::uint32_t slots_ = 0;                     // that have been in use
  std::vector<std::uint32_t> free_;             // slots neither posted nor taken
  std::uint32_t unpolled_ = 0;                  // places without a slot: completed, and not known to be polled
  BoundedRing<std::uint32_t> posted_;
  std::unique_ptr<Rare> rare_;
};

}  // namespace weft::verbs::detail
