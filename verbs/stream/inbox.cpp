// SPDX-License-Identifier: Apache-2.0
#include "verbs/stream/inbox.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace weft::verbs::detail {

void Inbox::open(BufferPool& pool) {
  if (staging_) return;
  staging_ = pool.lease_staging();
  std::ranges::copy(carry_, staging_->octets().begin());
  carry_ = {};
}

void Inbox::park(BufferPool& pool) {
  if (!staging_ || (staged_ != 0 && !stalled && pool.may_keep_staging())) return;
  const auto octets = staged();
  carry_.assign(octets.begin(), octets.end());
  pool.give_back(std::move(staging_));
}

void Inbox::close(BufferPool& pool) {
  if (staging_) pool.give_back(std::move(staging_));
  carry_ = {};
}

MutableBytes Inbox::room_to_read() noexcept {
  const std::size_t frame = missing_ + kNextHeader;
  const std::size_t most = std::exchange(landed_, false) ? frame : std::max<std::size_t>(frame, most_of_read_);
  return room().first(std::min(room().size(), most));
}

void Inbox::take(std::size_t octets) noexcept {
  staged_ -= octets;
  std::byte* const front = staging_->octets().data();
  if (octets != 0 && staged_ != 0) std::memmove(front, front + octets, staged_);
}

void Inbox::learn(std::size_t octets, std::uint32_t frames) noexcept {
  constexpr std::uint32_t kMany = 64;
  constexpr std::size_t kLeast = 4096;
  if (frames <= kMany && octets < most_of_read_) return;
  std::size_t wanted = 2 * std::size_t{most_of_read_};
  if (frames > kMany) wanted = std::min(wanted, octets * kMostFrames / frames);
  most_of_read_ = static_cast<std::uint32_t>(std::clamp(wanted, kLeast, Staging::kOctets));
}

}  // namespace weft::verbs::detail
