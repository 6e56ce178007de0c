// SPDX-License-Identifier: Apache-2.0
#include "engine/transmit_batch.hpp"

#include <algorithm>
#include <cassert>
#include <numeric>

namespace weft::engine {

void TransmitBatch::commit(std::size_t octets) noexcept {
  if (octets == 0) return;
  const Bytes added = std::span(arena_).subspan(used_, octets);
  used_ += octets;
  if (!empty() && pieces_.back().data() + pieces_.back().size() == added.data()) {
    pieces_.back() = Bytes(pieces_.back().data(), pieces_.back().size() + octets);
    return;
  }
  assert(piece_room() > 0);
  pieces_.push_back(added);
}

void TransmitBatch::append_borrowed(Bytes piece) noexcept {
  if (piece.empty()) return;
  assert(piece_room() > 0);
  pieces_.push_back(piece);
}

std::size_t TransmitBatch::size() const noexcept {
  const auto unsent = pieces();
  return std::accumulate(unsent.begin(), unsent.end(), std::size_t{0},
                         [](std::size_t sum, Bytes piece) { return sum + piece.size(); });
}

void TransmitBatch::consume(std::size_t written) noexcept {
  while (written > 0 && !empty()) {
    Bytes& piece = pieces_[first_];
    const std::size_t taken = std::min(written, piece.size());
    piece = piece.subspan(taken);
    written -= taken;
    if (piece.empty()) ++first_;
  }
  assert(written == 0);
  if (!empty()) return;
  pieces_.clear();
  first_ = 0;
  used_ = 0;
}

}  // namespace weft::engine
