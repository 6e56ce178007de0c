// SPDX-License-Identifier: Apache-2.0
#include "ddp/receive_queue.hpp"

#include <algorithm>
#include <utility>

namespace weft::ddp {

std::expected<ReceiveOutcome, ReceiveFault> ReceiveQueue::place(const UntaggedHeader& header, Bytes payload,
                                                                Placement& placement, Where where) {
  if (const auto msn = window_.check_msn(header.msn); !msn) return std::unexpected(msn.error());  // SEC-5.1.1-02
  if (!open_) {
    open_ = placement.take_receive();  // also for a message without octets (RDMAP-5.3-11)
    where_ = where;
  }
  if (!open_) return NoReceivePosted{};  // DDP-7.1-02
  if (const auto stored = store(header, payload, placement); !stored) return std::unexpected(stored.error());
  return advance(header, payload.size());
}

std::expected<void, UntaggedError> ReceiveQueue::pass(const UntaggedHeader& header, std::size_t length) {
  if (const auto msn = window_.check_msn(header.msn); !msn) return std::unexpected(msn.error());
  if (const auto range = MessageWindow::check_range(header.offset, length, kAsideCapacity); !range) {
    return std::unexpected(range.error());
  }
  if (const auto complete = window_.advance(header, length); !complete) return std::unexpected(complete.error());
  return {};
}

std::optional<ReceiveBuffer> ReceiveQueue::landing(const UntaggedHeader& header, std::size_t length,
                                                   Placement& placement) {
  if (!window_.check_msn(header.msn) || !window_.goes_on_at(header.offset)) return std::nullopt;
  if (!open_) {
    open_ = placement.take_receive();
    where_ = Where::kBuffer;
  }
  if (!open_ || where_ != Where::kBuffer) return std::nullopt;
  if (!MessageWindow::check_range(header.offset, length, open_->capacity)) return std::nullopt;
  return open_;
}

std::expected<void, ReceiveFault> ReceiveQueue::store(const UntaggedHeader& header, Bytes payload,
                                                      Placement& placement) {
  const std::uint64_t capacity = where_ == Where::kAside ? kAsideCapacity : open_->capacity;
  if (const auto range = MessageWindow::check_range(header.offset, payload.size(), capacity); !range) {
    return std::unexpected(range.error());
  }
  if (payload.empty()) return {};
  if (where_ == Where::kAside) {
    std::ranges::copy(payload, aside_.begin() + header.offset.value);
    return {};
  }
  const auto placed = placement.place_untagged(*open_, header.offset.value, payload);
  if (!placed) return std::unexpected(placed.error());
  return {};
}

std::expected<ReceiveOutcome, ReceiveFault> ReceiveQueue::advance(const UntaggedHeader& header, std::size_t length) {
  const auto complete = window_.advance(header, length);
  if (!complete) return std::unexpected(complete.error());
  if (!*complete) return SegmentPlaced{};
  const std::size_t aside = where_ == Where::kAside ? std::min<std::size_t>(**complete, kAsideCapacity) : 0;
  const ReceiveBuffer buffer = *std::exchange(open_, std::nullopt);
  return std::expected<ReceiveOutcome, ReceiveFault>(std::in_place, std::in_place_type<ReceiveFilled>, buffer,
                                                     **complete, header.rsvd_ulp, header.rsvd_ulp_word, header.msn,
                                                     Bytes(aside_).first(aside));
}

std::optional<ReceiveQueue::Where> ReceiveQueue::under_way() const noexcept {
  return open_ ? std::optional(where_) : std::nullopt;
}

std::optional<ReceiveBuffer> ReceiveQueue::take_unfinished() noexcept { return std::exchange(open_, std::nullopt); }

}  // namespace weft::ddp
