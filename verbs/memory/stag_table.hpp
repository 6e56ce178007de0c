// SPDX-License-Identifier: Apache-2.0
// All STags of this process. Revoking one is synchronous: when revoke() returns, no lease on it exists, so no octet of
// its memory is accessed any more (RDMAP-8.1.1-06, SEC-6.2.2-02).
//
// An STag has 24 bits of index and 8 bits of key, as in the verbs of RFC 5040 and in libibverbs: a window changes its
// key with each bind and keeps its index. Both parts come from the random generator of the kernel (RDMAP-8.1.1-08,
// SEC-6.1.1-05, SEC-6.1.1-07), so values are spread over the whole range (RDMAP-8.1.1-09), and a freed index rests
// before it is reused (SEC-6.1.1-06).
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "rdmap/grant.hpp"
#include "verbs/base/random.hpp"

namespace weft::verbs::detail {

using rdmap::Accessor;
using rdmap::Grant;

class WindowState;

inline constexpr std::uint32_t kKeyBits = 8;
inline constexpr std::uint32_t kKeyMask = (1U << kKeyBits) - 1;

class StagTable {
 private:
  struct Shard;
  // One validity of an STag: what is revoked never becomes valid again, the STag may with another entry. One word tells
  // how many leases there are and, in kRevoked, whether there may be more.
  struct Entry {
    static constexpr std::uint32_t kRevoked = 1U << 31U;
    Entry(std::uint32_t number, const Grant& access, std::weak_ptr<WindowState> of) noexcept
        : stag(number), grant(access), window(std::move(of)) {}
    const std::uint32_t stag;
    const Grant grant;
    const std::weak_ptr<WindowState> window;
    std::atomic<std::uint32_t> leases{0};

    [[nodiscard]] bool revoked() const noexcept { return (leases.load(std::memory_order_relaxed) & kRevoked) != 0; }
    [[nodiscard]] bool leased() const noexcept { return (leases.load(std::memory_order_acquire) & ~kRevoked) != 0; }
    [[nodiscard]] bool take_lease() noexcept;  // false: revoked
  };

 public:
  // The right to use a grant until the lease is dropped. Never wait for anything while holding one.
  class Lease {
   public:
    Lease() = default;
    Lease(Lease&& other) noexcept
        : shard_(other.shard_), entry_(std::move(other.entry_)), held_(std::exchange(other.held_, false)) {}
    Lease& operator=(Lease&& other) noexcept;
    ~Lease() { drop(); }

    void drop() noexcept;
    // The same lease once more, after drop(): without a look at the table. False when that was for another STag, or it
    // was revoked.
    [[nodiscard]] bool renew(std::uint32_t stag) noexcept;
    [[nodiscard]] bool names(std::uint32_t stag) const noexcept { return held_ && entry_->stag == stag; }
    [[nodiscard]] const Grant& grant() const noexcept { return entry_->grant; }
    [[nodiscard]] std::shared_ptr<WindowState> window() const { return entry_->window.lock(); }

   private:
    friend class StagTable;
    Lease(Shard* shard, std::shared_ptr<Entry> entry) noexcept : shard_(shard), entry_(std::move(entry)), held_(true) {}
    Shard* shard_ = nullptr;
    std::shared_ptr<Entry> entry_{};  // stays behind drop(), for renew()
    bool held_ = false;
  };

  StagTable();
  ~StagTable();

  // A new STag that gives no access yet. Never 0, and no index is in use twice. Nothing when the table is full.
  [[nodiscard]] std::optional<std::uint32_t> reserve();
  // Makes an STag whose index is reserved valid. False when one of the same index is valid.
  bool publish(std::uint32_t stag, const Grant& grant, std::weak_ptr<WindowState> window = {});
  [[nodiscard]] std::optional<Lease> lease(std::uint32_t stag);
  // Waits until the last lease is dropped, also when the STag was withdrawn before. False when it was not valid. The
  // index stays reserved.
  bool revoke(std::uint32_t stag);
  // The same without waiting, for STags that are valid on one stream only, called by that stream: no other has access,
  // and what its own leases cover was posted before. To have the memory back, revoke() is still called.
  bool withdraw(std::uint32_t stag);
  // One of the STags that are valid on this stream alone, until it is revoked or withdrawn.
  [[nodiscard]] std::optional<std::uint32_t> one_limited_to(std::uint64_t stream) const noexcept;
  // Frees an index (whatever the key) that has no valid STag.
  void release(std::uint32_t stag);

  [[nodiscard]] std::size_t size() const;  // reserved indexes; for tests
  [[nodiscard]] std::uint32_t random() { return random_.next(); }

 private:
  static constexpr std::size_t kShards = 64;
  static constexpr std::size_t kMaxIndexes = 1U << 21;  // regions and windows; an eighth of all indexes: sparse
  static constexpr std::size_t kResting = 4096;         // freed indexes that are not yet used again
  struct Shard {
    std::mutex mutex;
    std::condition_variable unleased;
    std::unordered_map<std::uint32_t, std::shared_ptr<Entry>> entries;  // by index; null: never valid so far
  };
  [[nodiscard]] Shard& shard(std::uint32_t stag) noexcept { return shards_[(stag >> kKeyBits) % kShards]; }
  [[nodiscard]] static std::shared_ptr<Entry> find(const Shard& home, std::uint32_t stag);  // null: no such STag
  void limit(std::uint32_t stag, std::uint64_t stream);
  bool mark_revoked(Entry& entry);  // its shard is locked; false: it was before
  [[nodiscard]] bool take_index(std::uint32_t index);

  std::array<Shard, kShards> shards_;
  RandomSource random_;
  mutable std::mutex mutex_;  // of the fields below
  std::size_t used_ = 0;
  std::vector<std::uint32_t> resting_;
  std::size_t oldest_ = 0;
  mutable std::mutex limited_mutex_;  // inside a shard's
  std::unordered_map<std::uint64_t, std::unordered_set<std::uint32_t>>
      limited_;  // by stream; shared STags are not here
};

}  // namespace weft::verbs::detail
