// SPDX-License-Identifier: Apache-2.0
#include "verbs/detail/stag_table.hpp"

#include <algorithm>
#include <utility>

namespace weft::verbs::detail {

StagTable::StagTable() = default;
StagTable::~StagTable() = default;

StagTable::Lease& StagTable::Lease::operator=(Lease&& other) noexcept {
  drop();
  shard_ = std::exchange(other.shard_, nullptr);
  entry_ = std::move(other.entry_);
  return *this;
}

void StagTable::Lease::drop() noexcept {
  if (!entry_) return;
  {
    const std::lock_guard lock(shard_->mutex);
    if (--entry_->leases == 0 && entry_->revoked) shard_->unleased.notify_all();
  }
  entry_.reset();
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
  // At most an eighth of the indexes is taken, so this ends soon. Index 0 stays out, and with it STag 0.
  for (;;) {
    const std::uint32_t stag = random_.next();
    if (stag >> kKeyBits != 0 && take_index(stag >> kKeyBits)) return stag;
  }
}

bool StagTable::publish(std::uint32_t stag, const Grant& grant, std::weak_ptr<WindowState> window) {
  auto& home = shard(stag);
  const std::lock_guard lock(home.mutex);
  const auto found = home.entries.find(stag >> kKeyBits);
  if (found == home.entries.end() || found->second) return false;
  found->second = std::make_shared<Entry>(Entry{.stag = stag, .grant = grant, .window = std::move(window)});
  if (grant.only_stream != 0) {
    const std::lock_guard limited_lock(limited_mutex_);
    limited_[grant.only_stream].insert(stag);
  }
  return true;
}

std::optional<StagTable::Lease> StagTable::lease(std::uint32_t stag) {
  auto& home = shard(stag);
  const std::lock_guard lock(home.mutex);
  const auto found = home.entries.find(stag >> kKeyBits);
  if (found == home.entries.end() || !found->second || found->second->stag != stag) return std::nullopt;
  ++found->second->leases;
  return Lease(&home, found->second);
}

std::shared_ptr<StagTable::Entry> StagTable::take_out(Shard& home, std::uint32_t stag) {
  const auto found = home.entries.find(stag >> kKeyBits);
  if (found == home.entries.end() || !found->second || found->second->stag != stag) return nullptr;
  found->second->revoked = true;
  if (const std::uint32_t stream = found->second->grant.only_stream; stream != 0) {
    const std::lock_guard lock(limited_mutex_);
    const auto limited = limited_.find(stream);
    limited->second.erase(stag);
    if (limited->second.empty()) limited_.erase(limited);
  }
  return std::exchange(found->second, nullptr);
}

std::vector<std::uint32_t> StagTable::limited_to(std::uint32_t stream) const {
  const std::lock_guard lock(limited_mutex_);
  const auto found = limited_.find(stream);
  if (found == limited_.end()) return {};
  return {found->second.begin(), found->second.end()};
}

bool StagTable::revoke(std::uint32_t stag) {
  auto& home = shard(stag);
  std::unique_lock lock(home.mutex);
  const auto entry = take_out(home, stag);
  if (!entry) return false;
  home.unleased.wait(lock, [&] { return entry->leases == 0; });
  return true;
}

bool StagTable::withdraw(std::uint32_t stag) {
  auto& home = shard(stag);
  const std::lock_guard lock(home.mutex);
  return take_out(home, stag) != nullptr;
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
