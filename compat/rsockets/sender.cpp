// SPDX-License-Identifier: Apache-2.0
#include "compat/rsockets/sender.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace weft::compat::rsockets {

namespace {

// Small queues need every credit to get on.
std::uint16_t reserve_of(std::uint16_t credits) { return credits >= 16 ? 4 : 0; }

}  // namespace

Sender::Sender(const ConnectData& peer, std::span<std::byte> ring, std::span<std::byte> target_sgl)
    : ring_(ring),
      target_sgl_(target_sgl),
      credits_(peer.credits),
      reserve_(reserve_of(peer.credits)),
      granted_(peer.credits),
      current_(peer.buffer) {}

std::optional<std::string_view> Sender::credits_updated(std::uint32_t value) {
  const auto sequence = static_cast<std::uint16_t>(value);
  if (static_cast<std::uint16_t>(sequence - sent_) > credits_) return "a credit update beyond what it can receive";
  granted_ = sequence;
  load();
  if (current_.length == 0) {
    current_ = std::exchange(next_, {});
    load();
  }
  return std::nullopt;
}

// Only when a message came: the peer wrote the entry before it. It writes an entry again when it has got all octets
// that go where the entry said; so what was taken is cleared, and counts once.
void Sender::load() {
  if (next_.length != 0) return;
  std::byte* const at = target_sgl_.data() + entry_ * kSglEntryOctets;
  next_ = read_entry(at);
  if (next_.length == 0) return;
  std::memset(at, 0, kSglEntryOctets);
  entry_ = (entry_ + 1) % kSglEntries;
}

bool Sender::worth_waking() const noexcept { return ring_room() >= std::min<std::size_t>(kLowWater, ring_.size() / 2); }

Staged Sender::stage(std::span<const std::byte> octets) {
  const std::size_t first = std::min(octets.size(), ring_.size() - write_at_);
  std::memcpy(ring_.data() + write_at_, octets.data(), first);
  Staged staged{.pieces = {ring_.subspan(write_at_, first), {}}};
  if (first < octets.size()) {
    staged.pieces[1] = ring_.first(octets.size() - first);
    std::memcpy(ring_.data(), octets.data() + first, octets.size() - first);
  }
  write_at_ = (write_at_ + octets.size()) % ring_.size();
  used_ += octets.size();
  return staged;
}

bool Sender::may_send() const noexcept { return static_cast<std::uint16_t>(granted_ - sent_) > reserve_; }

std::uint32_t Sender::data_room() const noexcept { return may_send() ? std::min(current_.length, kMaxTransfer) : 0; }

RemoteBuffer Sender::claim(std::uint32_t octets) {
  const RemoteBuffer to{.address = current_.address, .stag = current_.stag, .length = octets};
  current_.address += octets;
  current_.length -= octets;
  message_sent();
  if (current_.length == 0) current_ = std::exchange(next_, {});  // there already, if the peer had two buffers free
  return to;
}

}  // namespace weft::compat::rsockets
