// SPDX-License-Identifier: Apache-2.0
// Of the two directions of a connection one is the MPA initiator's: how those who watch a connection name them.
#pragma once

#include <cstdint>

namespace weft::engine {

enum class Direction : std::uint8_t { kFromInitiator, kFromResponder };
[[nodiscard]] constexpr Direction opposite(Direction direction) noexcept {
  return direction == Direction::kFromInitiator ? Direction::kFromResponder : Direction::kFromInitiator;
}

}  // namespace weft::engine
