// SPDX-License-Identifier: Apache-2.0
#include "verbs/memory/stag_table.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "transport/cancellation.hpp"

namespace weft::verbs::detail {

// So that release() needs no memory: it runs where objects go.
StagTable::StagTable() { resting_.reserve(kResting); }
StagTable::~StagTable() = default;

bool StagTable::Entry::take_lease() noexcept {
  std::uint32_t seen = leases.load(std::memory_order_relaxed);
  while ((seen & kRevoked) == 0) {
    if (leases.compare_exchange_weak(seen, seen + 1, std::memory_order_acquire, std::memory_order_relaxed)) return true;
  }
  return false;
}

StagTable::Lease& StagTable::Lease::operator=(Lease&& other) noexcept {
  drop();
  shard_ = other.shard_;
  entry_ = std::move(other.entry_);
  held_ = std::exchange(other.held_, false);
  return *this;
}

// A thread that waits for the lease's end sees what was done under it. The lock is taken for the sake of one that is
// about to sleep.
void StagTable::Lease::drop() noexcept {
  if (!std::exchange(held_, false)) return;
  if (entry_->leases.fetch_sub(1, std::memory_order_release) != (Entry::kRevoked | 1U)) return;
  const std::lock_guard lock(shard_->mutex);
  shard_->unleased.notify_all();
}

bool StagTable::Lease::renew(std::uint32_t stag) noexcept {
  if (held_ || !entry_ || entry_->stag != stag) return false;
  held_ = entry_->take_lease();
  return held_;
}

bool StagTable::take_index(std::uint32_t index) {
  {
    const std::lock_guard lock(mutex_);
    if (std::ranges::find(resting_, index) != resting_.end()) return false;
  }
  auto& home = shard(index << kKeyBits);
  const std::lock_guard lock(home.mutex);
  return home.entries.try_emplace(index).second;
}

std::optional<std::uint32_t> StagTable::reserve() {
  {
    const std::lock_guard lock(mutex_);
    if (used_ == kMaxIndexes) return std::nullopt;
    ++used_;
  }
  try {
    // At most an eighth of the indexes is taken, so this ends soon. Index 0 stays out, and with it STag 0.
    for (;;) {
      const std::uint32_t stag = random_.next();
      if (stag >> kKeyBits != 0 && take_index(stag >> kKeyBits)) return stag;
    }
  } catch (const std::bad_alloc&) {
    const std::lock_guard lock(mutex_);
    --used_;
    throw;
  }
}

bool StagTable::publish(std::uint32_t stag, const Grant& grant, std::weak_ptr<WindowState> window) {
  auto& home = shard(stag);
  const std::lock_guard lock(home.mutex);
  const auto found = home.entries.find(stag >> kKeyBits);
  if (found == home.entries.end() || (found->second && !found->second->revoked())) return false;
  auto entry = std::make_shared<Entry>(stag, grant, std::move(window));
  if (grant.only_stream != 0) limit(stag, grant.only_stream);
  found->second = std::move(entry);  // valid only now: nothing after it can fail
  return true;
}

// All or nothing, also without memory.
void StagTable::limit(std::uint32_t stag, std::uint64_t stream) {
  const std::lock_guard lock(limited_mutex_);
  auto& stags = limited_[stream];
  try {
    stags.insert(stag);
  } catch (const std::bad_alloc&) {
    if (stags.empty()) limited_.erase(stream);
    throw;
  }
}

std::optional<StagTable::Lease> StagTable::lease(std::uint32_t stag) {
  auto& home = shard(stag);
  const std::lock_guard lock(home.mutex);
  auto entry = find(home, stag);
  if (!entry || !entry->take_lease()) return std::nullopt;
  return Lease(&home, std::move(entry));
}

std::shared_ptr<StagTable::Entry> StagTable::find(const Shard& home, std::uint32_t stag) {
  const auto found = home.entries.find(stag >> kKeyBits);
  if (found == home.entries.end() || !found->second || found->second->stag != stag) return nullptr;
  return found->second;
}

bool StagTable::mark_revoked(Entry& entry) {
  if ((entry.leases.fetch_or(Entry::kRevoked, std::memory_order_relaxed) & Entry::kRevoked) != 0) return false;
  if (entry.grant.only_stream == 0) return true;
  const std::lock_guard lock(limited_mutex_);
  const auto limited = limited_.find(entry.grant.only_stream);
  limited->second.erase(entry.stag);
  if (limited->second.empty()) limited_.erase(limited);
  return true;
}

std::optional<std::uint32_t> StagTable::one_limited_to(std::uint64_t stream) const noexcept {
  const std::lock_guard lock(limited_mutex_);
  const auto found = limited_.find(stream);
  return found == limited_.end() ? std::nullopt : std::optional(*found->second.begin());
}

bool StagTable::revoke(std::uint32_t stag) {
  auto& home = shard(stag);
  std::unique_lock lock(home.mutex);
  const auto entry = find(home, stag);
  if (!entry) return false;
  const bool was_valid = mark_revoked(*entry);
  const transport::NoCancellation here;
  home.unleased.wait(lock, [&] { return !entry->leased(); });
  return was_valid;
}

bool StagTable::withdraw(std::uint32_t stag) {
  auto& home = shard(stag);
  const std::lock_guard lock(home.mutex);
  const auto entry = find(home, stag);
  return entry && mark_revoked(*entry);
}

void StagTable::release(std::uint32_t stag) {
  const std::uint32_t index = stag >> kKeyBits;
  auto& home = shard(stag);
  {
    const std::lock_guard lock(home.mutex);
    if (home.entries.erase(index) == 0) return;
  }
  const std::lock_guard lock(mutex_);
  --used_;
  if (resting_.size() < kResting) return resting_.push_back(index);
  resting_[oldest_] = index;
  oldest_ = (oldest_ + 1) % kResting;
}

std::size_t StagTable::size() const {
  const std::lock_guard lock(mutex_);
  return used_;
}

}  // namespace weft::verbs::detail
