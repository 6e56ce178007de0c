// SPDX-License-Identifier: Apache-2.0
// The send side of a stream: where at the peer the next octets go and how many messages it takes, and the ring of our
// own octets until they have left. Pure bookkeeping; no verbs in here.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "compat/rsockets/wire.hpp"

namespace weft::compat::rsockets {

inline constexpr std::uint32_t kMaxTransfer = 1U << 16;  // octets of one message
inline constexpr std::uint32_t kLowWater = 2048;         // so much room is worth waking a writer for

// Octets that are to leave. They wait in the ring; two pieces where its end is between them.
struct Staged {
  std::array<std::span<std::byte>, 2> pieces{};
};

class Sender {
 public:
  // `target_sgl`: our own memory, where the peer writes which of its buffers are free.
  Sender(const ConnectData& peer, std::span<std::byte> ring, std::span<std::byte> target_sgl);

  // --- The peer
  [[nodiscard]] std::optional<std::string_view> credits_updated(std::uint32_t value);

  // --- The ring
  [[nodiscard]] std::size_t ring_room() const noexcept { return ring_.size() - used_; }
  [[nodiscard]] bool worth_waking() const noexcept;
  [[nodiscard]] Staged stage(std::span<const std::byte> octets);  // at most ring_room()
  void left(std::size_t octets) noexcept { used_ -= octets; }     // the oldest ones

  // --- Messages with a sequence number
  [[nodiscard]] bool may_send() const noexcept;
  void message_sent() noexcept { ++sent_; }

  // --- Data
  // How many octets the next message may carry; 0 while the peer has no room, or takes no messages.
  [[nodiscard]] std::uint32_t data_room() const noexcept;
  // Where they go. They count as written, and the message as sent.
  [[nodiscard]] RemoteBuffer claim(std::uint32_t octets);

 private:
  void load();

  const std::span<std::byte> ring_;
  const std::span<std::byte> target_sgl_;
  const std::uint16_t credits_;  // what the peer said first: the most that it can ever grant
  const std::uint16_t reserve_;  // of them for control messages, which count for its receives, but have no number
  std::size_t write_at_ = 0;
  std::size_t used_ = 0;
  std::uint16_t sent_ = 0;
  std::uint16_t granted_;
  RemoteBuffer current_;
  RemoteBuffer next_{};
  std::size_t entry_ = 1;  // of the target SGL that comes next; the first one came with the private data
};

}  // namespace weft::compat::rsockets
