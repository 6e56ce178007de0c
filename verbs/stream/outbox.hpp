// SPDX-License-Identifier: Apache-2.0
// The octets that the engine has produced and the socket has not accepted yet: first the tail, which a blocked write
// left of borrowed octets, then the batch. Borrows a batch while octets move; an idle connection holds none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/transmit_batch.hpp"
#include "verbs/memory/buffer_pool.hpp"

namespace weft::verbs::detail {

class Outbox {
 public:
  // A captured connection has batches of its own that fit one captured packet.
  explicit Outbox(bool captured) noexcept : captured_(captured) {}

  // --- The batch, to be filled
  engine::TransmitBatch& open(BufferPool& pool);
  void park(BufferPool& pool);   // unless octets wait in it
  void close(BufferPool& pool);  // and drops all

  // --- The octets
  [[nodiscard]] bool pending() const noexcept { return tail_sent_ < tail_.size() || (batch_ && !batch_->empty()); }
  // Some of what is pending, valid until the next call here and as long as `tail`.
  [[nodiscard]] std::span<const Bytes> pieces(Bytes& tail) noexcept;
  void consume(std::size_t octets) noexcept;  // from the front of pieces(): the socket took them
  [[nodiscard]] std::uint64_t octets_so_far() const noexcept { return octets_so_far_; }  // that the socket took
  // Borrowed octets do not wait for the socket: revoking memory must not wait for a peer.
  void copy_borrowed();

  // --- Whether to write
  bool blocked = false;  // the socket takes nothing for now
  bool left = false;     // there was output when the stream's lock was given up last
  bool goes_on = false;  // a turn is due, in or out, and no doorbell rings for it

 private:
  const bool captured_;
  std::unique_ptr<engine::TransmitBatch> batch_;
  std::vector<std::byte> tail_;
  std::size_t tail_sent_ = 0;
  std::uint64_t octets_so_far_ = 0;
};

}  // namespace weft::verbs::detail
