// SPDX-License-Identifier: Apache-2.0
// Immediate Data, RFC 7306 section 6: a message of queue 0 that is exactly 8 octets long and uses up a receive.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <expected>

#include "rdmap/errors.hpp"

namespace weft::rdmap {

using ImmediateData = std::array<std::byte, 8>;

// RDMAPX-6.3-07. Can be asked of a single segment before it is placed, and must be asked of the message.
[[nodiscard]] constexpr std::expected<void, OperationError> check_immediate_segment(std::size_t payload_size) noexcept {
  if (payload_size > ImmediateData{}.size()) return std::unexpected(OperationError::kUnspecified);
  return {};
}

[[nodiscard]] constexpr std::expected<ImmediateData, OperationError> parse_immediate(Bytes message) noexcept {
  ImmediateData data{};
  if (message.size() != data.size()) return std::unexpected(OperationError::kUnspecified);
  std::ranges::copy(message, data.begin());
  return data;
}

}  // namespace weft::rdmap
