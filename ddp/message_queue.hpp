// SPDX-License-Identifier: Apache-2.0
// Queues 1, 2 and 3: small messages for the layer above, not for the ULP. The buffers are counted, not allocated: with
// in-order arrival only one message is ever incomplete, so one piece of memory serves them all. A message in several
// segments is unusual but legal: only a queue that has seen one has that piece of memory.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <expected>
#include <memory>
#include <optional>

#include "ddp/errors.hpp"
#include "ddp/message_window.hpp"

namespace weft::ddp {

// A complete small message, in order. `payload` is valid as long as the octets of its last segment, and until the next
// segment of the same queue.
struct SmallMessage {
  UntaggedHeader header{};  // of the last segment
  Bytes payload{};
};

template <std::size_t Capacity>
class MessageQueue {
 public:
  // `buffers`: how many messages may arrive before more are posted.
  explicit MessageQueue(std::uint32_t buffers, Msn first = kFirstMsn) noexcept : window_(first), buffers_(buffers) {}

  // The layer above is done with a message, or expects one more.
  void post_buffers(std::uint32_t count) noexcept { buffers_ += count; }
  [[nodiscard]] std::uint32_t buffers() const noexcept { return buffers_; }

  // One segment. Empty while the message goes on. A new message without a buffer is an error here, never a reason to
  // wait: the peer knows how many there are.
  std::expected<std::optional<SmallMessage>, UntaggedError> place(const UntaggedHeader& header, Bytes payload) {
    if (const auto msn = window_.check_msn(header.msn); !msn) return std::unexpected(msn.error());
    if (!open_ && buffers_ == 0) return std::unexpected(UntaggedError::kNoBuffer);
    if (const auto range = MessageWindow::check_range(header.offset, payload.size(), Capacity); !range) {
      return std::unexpected(range.error());
    }
    if (!open_) --buffers_;
    const bool only = !open_ && header.last;
    if (!only) keep(header, payload);
    open_ = true;
    return advance(header, only ? payload : Bytes(*octets_), payload.size());
  }

 private:
  void keep(const UntaggedHeader& header, Bytes payload) {
    if (!octets_) octets_ = std::make_unique<std::array<std::byte, Capacity>>();
    std::ranges::copy(payload, octets_->begin() + header.offset.value);
  }

  // `message`: where the octets of the message are, if this is the end of it.
  std::expected<std::optional<SmallMessage>, UntaggedError> advance(const UntaggedHeader& header, Bytes message,
                                                                    std::size_t length) noexcept {
    const auto complete = window_.advance(header, length);
    if (!complete) return std::unexpected(complete.error());
    if (!*complete) return std::nullopt;
    open_ = false;
    return SmallMessage{header, message.first(**complete)};
  }

  MessageWindow window_;
  std::uint32_t buffers_;
  bool open_ = false;
  std::unique_ptr<std::array<std::byte, Capacity>> octets_{};
};

}  // namespace weft::ddp
