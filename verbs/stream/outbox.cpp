// SPDX-License-Identifier: Apache-2.0
#include "verbs/stream/outbox.hpp"

#include <utility>

#include "transport/pcap_tap.hpp"

namespace weft::verbs::detail {

engine::TransmitBatch& Outbox::open(BufferPool& pool) {
  if (!batch_)
    batch_ = captured_ ? std::make_unique<engine::TransmitBatch>(transport::PcapTap::kMaxSegment) : pool.lease_batch();
  return *batch_;
}

void Outbox::park(BufferPool& pool) {
  if (!batch_ || !batch_->empty()) return;
  if (!captured_) pool.give_back(std::move(batch_));
  batch_.reset();
}

void Outbox::close(BufferPool& pool) {
  if (batch_ && !captured_) pool.give_back(std::move(batch_));
  batch_.reset();
  tail_ = {};
  tail_sent_ = 0;
}

std::span<const Bytes> Outbox::pieces(Bytes& tail) noexcept {
  if (tail_sent_ == tail_.size()) return batch_->pieces();
  tail = Bytes(tail_).subspan(tail_sent_);
  return {&tail, 1};
}

void Outbox::consume(std::size_t octets) noexcept {
  octets_so_far_ += octets;
  if (tail_sent_ == tail_.size()) return batch_->consume(octets);
  tail_sent_ += octets;
  if (tail_sent_ == tail_.size()) tail_ = {}, tail_sent_ = 0;
}

void Outbox::copy_borrowed() {
  if (!batch_ || batch_->empty()) return;
  for (const Bytes piece : batch_->pieces()) tail_.insert(tail_.end(), piece.begin(), piece.end());
  batch_->consume(batch_->size());
}

}  // namespace weft::verbs::detail
