// SPDX-License-Identifier: Apache-2.0
/// @file
/// The two directions of a connection, as its observers name them.
#pragma once

#include <cstdint>

namespace weft::engine {

/// Identifies a direction by the MPA role of its sender.
enum class Direction : std::uint8_t { kFromInitiator, kFromResponder };
/// Returns the other direction.
[[nodiscard]] constexpr Direction opposite(Direction direction) noexcept {
  return direction == Direction::kFromInitiator ? Direction::kFromResponder : Direction::kFromInitiator;
}

}  // namespace weft::engine
