// SPDX-License-Identifier: Apache-2.0
#include "engine/transmit_batch.hpp"

#include <algorithm>
#include <cassert>
#include <numeric>

namespace weft::engine {

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
  arena_ = own_;
}

}  // namespace weft::engine
