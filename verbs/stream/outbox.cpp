// SPDX-License-Identifier: Apache-2.0
#include "verbs/stream/outbox.hpp"

#include <span>
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

transport::IoResult Outbox::write(transport::Pipe& pipe) {
  const bool from_tail = tail_sent_ < tail_.size();
  const Bytes tail = Bytes(tail_).subspan(tail_sent_);
  const auto io = pipe.write(from_tail ? std::span(&tail, 1) : batch_->pieces());
  if (io.status != transport::IoResult::Status::kMoved) return io;
  octets_so_far_ += io.octets;
  if (from_tail) tail_sent_ += io.octets;
  if (!from_tail) batch_->consume(io.octets);
  if (tail_sent_ == tail_.size()) tail_ = {}, tail_sent_ = 0;
  return io;
}

void Outbox::copy_borrowed() {
  if (!batch_ || batch_->empty()) return;
  for (const Bytes piece : batch_->pieces()) tail_.insert(tail_.end(), piece.begin(), piece.end());
  batch_->consume(batch_->size());
}

}  // namespace weft::verbs::detail
