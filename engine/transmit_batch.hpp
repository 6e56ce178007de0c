// SPDX-License-Identifier: Apache-2.0
// Octets for the socket: many FPDUs for one sendmsg(). Headers, CRCs and payload with a CRC are in the arena of the
// batch, which nothing else writes; without a CRC, payload may be borrowed from user memory.
#pragma once

#include <cassert>
#include <cstddef>
#include <span>
#include <vector>

#include "common/wire.hpp"

namespace weft::engine {

class TransmitBatch {
 public:
  static constexpr std::size_t kMaxPieces = 256;  // well below IOV_MAX

  explicit TransmitBatch(std::size_t arena_octets) : own_(arena_octets), arena_(own_) { pieces_.reserve(kMaxPieces); }

  TransmitBatch(TransmitBatch&&) = default;
  TransmitBatch& operator=(TransmitBatch&&) = default;

  // Only for an empty batch: until it has been written, its octets are in this memory, in one piece, and nothing is
  // borrowed. With no memory, they are in its own.
  void fill_in_place(MutableBytes arena) noexcept {
    assert(empty());
    arena_ = arena.empty() ? MutableBytes(own_) : arena;
  }

  // --- Filling (the engine)
  [[nodiscard]] std::size_t arena_size() const noexcept { return arena_.size(); }
  [[nodiscard]] std::size_t arena_room() const noexcept { return arena_.size() - used_; }
  [[nodiscard]] std::size_t piece_room() const noexcept { return is_in_place() ? 1 : kMaxPieces - pieces_.size(); }
  // The free end of the arena; what was written there is appended to the octets to send by commit().
  [[nodiscard]] MutableBytes free_arena() noexcept { return arena_.subspan(used_); }
  // Merges with the previous piece when they touch.
  void commit(std::size_t octets) noexcept {
    const Bytes added(arena_.data() + used_, octets);
    used_ += octets;
    if (!empty() && end_of(pieces_.back()) == added.data()) {
      pieces_.back() = Bytes(pieces_.back().data(), pieces_.back().size() + octets);
    } else {
      append_borrowed(added);
    }
  }
  // The piece must stay unchanged and mapped until written.
  void append_borrowed(Bytes piece) noexcept {
    if (piece.empty()) return;
    assert(piece_room() > 0);
    pieces_.push_back(piece);
  }

  // --- Sending (the driver)
  [[nodiscard]] std::span<const Bytes> pieces() const noexcept { return std::span(pieces_).subspan(first_); }
  [[nodiscard]] bool empty() const noexcept { return first_ == pieces_.size(); }
  [[nodiscard]] std::size_t size() const noexcept;  // octets not yet written
  void consume(std::size_t written) noexcept;       // the octets that the socket took; an emptied batch starts over

 private:
  [[nodiscard]] bool is_in_place() const noexcept { return arena_.data() != own_.data(); }
  [[nodiscard]] static const std::byte* end_of(Bytes piece) noexcept { return piece.data() + piece.size(); }

  std::vector<std::byte> own_;
  MutableBytes arena_;  // own_, or the caller's
  std::vector<Bytes> pieces_;
  std::size_t used_ = 0;
  std::size_t first_ = 0;
};

}  // namespace weft::engine
