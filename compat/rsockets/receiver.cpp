// SPDX-License-Identifier: Apache-2.0
#include "compat/rsockets/receiver.hpp"

#include <algorithm>
#include <cstring>

namespace weft::compat::rsockets {

Receiver::Receiver(std::span<std::byte> ring, std::uint16_t credits)
    : ring_(ring),
      half_(static_cast<std::uint32_t>(ring.size() / 2)),
      credits_(credits),
      writable_(half_),
      free_(half_),
      lengths_(credits) {}

// The lengths' ring cannot overflow: there are never more messages under way than credits.
std::optional<std::string_view> Receiver::data_arrived(std::uint32_t octets) {
  if (octets == 0) return "a data message of length 0";
  if (octets > writable_) return "more data than its target SGL has room for";
  if (arrived_ == done_when_granted_ + credits_) return "a data message beyond its credits";
  ++arrived_;
  writable_ -= octets;
  unread_ += octets;
  lengths_[(first_length_ + lengths_used_++) % lengths_.size()] = octets;
  return std::nullopt;
}

std::optional<std::string_view> Receiver::other_arrived() {
  if (arrived_ == done_when_granted_ + credits_) return "an iomap update beyond its credits";
  ++arrived_;
  ++done_;
  return std::nullopt;
}

std::size_t Receiver::peek(std::span<std::byte> into, std::size_t skip) const {
  if (skip >= unread_) return 0;
  const std::size_t count = std::min(into.size(), unread_ - skip);
  const std::size_t from = (read_at_ + skip) % ring_.size();
  const std::size_t first = std::min(count, ring_.size() - from);
  std::memcpy(into.data(), ring_.data() + from, first);
  if (first < count) std::memcpy(into.data() + first, ring_.data(), count - first);
  return count;
}

std::size_t Receiver::take(std::span<std::byte> into) {
  if (into.empty()) return 0;
  const std::size_t count = peek(into);
  consumed(count);
  return count;
}

void Receiver::consumed(std::size_t octets) {
  read_at_ = (read_at_ + octets) % ring_.size();
  unread_ -= octets;
  free_ += octets;
  while (octets != 0) {
    std::uint32_t& left = lengths_[first_length_];
    const auto part = static_cast<std::uint32_t>(std::min<std::size_t>(left, octets));
    left -= part;
    octets -= part;
    if (left != 0) break;
    first_length_ = (first_length_ + 1) % lengths_.size();
    --lengths_used_;
    ++done_;
  }
}

bool Receiver::grant_due() const noexcept {
  return free_ >= half_ || done_ - done_when_granted_ >= std::max<std::uint64_t>(credits_ / 2, 1);
}

Receiver::Grant Receiver::grant() {
  done_when_granted_ = done_;
  Grant grant{.sequence = static_cast<std::uint16_t>(done_ + credits_)};
  if (free_ < half_) return grant;
  grant.half_at = second_half_next_ ? half_ : 0;
  second_half_next_ = !second_half_next_;
  free_ -= half_;
  writable_ += half_;
  return grant;
}

}  // namespace weft::compat::rsockets
