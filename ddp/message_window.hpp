// SPDX-License-Identifier: Apache-2.0
// Where one untagged queue stands: which MSN is being received and how much of it. The checks of RFC 5041 section 7.1
// without any buffer. MPA over TCP hands segments up in the order sent, so exactly one message is open at a time, and a
// segment of any other MSN can only be a fault: its predecessors will never be completed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <expected>
#include <limits>
#include <optional>

#include "ddp/errors.hpp"
#include "ddp/msn.hpp"

namespace weft::ddp {

class MessageWindow {
 public:
  explicit constexpr MessageWindow(Msn first = kFirstMsn) noexcept : expected_(first) {}

  [[nodiscard]] constexpr Msn expected() const noexcept { return expected_; }

  // DDP-7.1-09, DDP-7.1-10. Asked before the buffer is looked for: a wild MSN must not wait for a receive to be posted.
  [[nodiscard]] constexpr std::expected<void, UntaggedError> check_msn(Msn msn) const noexcept {
    if (msn != expected_) return std::unexpected(UntaggedError::kMsnRange);
    return {};
  }

  // DDP-7.1-07 and DDP-7.1-08, for segments without payload too (DDP-7.1-11). A message cut exactly at the end of its
  // buffer goes on at MO == capacity; that is a message too long, not a wrong offset.
  [[nodiscard]] static constexpr std::expected<void, UntaggedError> check_range(MessageOffset offset,
                                                                                std::size_t length,
                                                                                std::uint64_t capacity) noexcept {
    const std::uint64_t limit = std::min(capacity, kLongestMessage);
    if (offset.value > limit) return std::unexpected(UntaggedError::kInvalidOffset);
    if (length > limit - offset.value) return std::unexpected(UntaggedError::kTooLong);
    return {};
  }

  // A segment at `offset` would go on where the message stands: it can overwrite nothing that was placed.
  [[nodiscard]] constexpr bool goes_on_at(MessageOffset offset) const noexcept {
    return offset.value == furthest_ && placed_ == furthest_;
  }

  // Accounts for a segment that was placed. With L the message is complete and its length returned (DDP-5.4-05), and
  // the window moves on, so that no message is delivered twice (DDP-5.3-06). Octets must not be missing: rising MO is
  // only a SHOULD of the sender (DDP-5.3-02), so they are counted instead of insisting on an order. Octets sent twice
  // can hide a hole from the count; a receiver need not find it (DDP-5.2-14).
  constexpr std::expected<std::optional<std::uint32_t>, UntaggedError> advance(const UntaggedHeader& header,
                                                                               std::size_t length) noexcept {
    const std::uint64_t end = std::uint64_t{header.offset.value} + length;
    placed_ += length;
    furthest_ = std::max(furthest_, end);
    if (!header.last) return std::nullopt;  // DDP-4.1-10
    if (placed_ != end || furthest_ != end) return std::unexpected(UntaggedError::kInvalidOffset);
    placed_ = furthest_ = 0;
    expected_ = next(expected_);
    return static_cast<std::uint32_t>(end);
  }

 private:
  static constexpr std::uint64_t kLongestMessage = std::numeric_limits<std::uint32_t>::max();  // DDP-1.2-01

  Msn expected_;
  std::uint64_t placed_ = 0;    // octets of the open message
  std::uint64_t furthest_ = 0;  // the end of its furthest segment
};

}  // namespace weft::ddp
