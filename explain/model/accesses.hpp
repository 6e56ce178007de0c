// SPDX-License-Identifier: Apache-2.0
// What a segment wants of the memory of the end that receives it.
#pragma once

#include <cstdint>
#include <optional>

#include "explain/model/model.hpp"
#include "rdmap/errors.hpp"

namespace weft::explain {

/// Octets of tagged memory.
struct Access {
  /// What a Read Request may claim: its size is only a number.
  static constexpr std::uint64_t kMostClaimed = std::uint64_t{4} << 20;
  static constexpr std::uint64_t kAtomic = 8;  ///< octets of an atomic operation

  std::uint32_t stag{};    ///< the key
  std::uint64_t begin{};   ///< the TO of the first octet
  std::uint64_t octets{};  ///< how many
};

/// Returns the access of a tagged segment, a Read Request or an Atomic Request. `message` is the row's.
[[nodiscard]] std::optional<Access> access_of(const Row& row, const MessageView& message);

/// The part of a refused access that is there all the same, as the error tells; nothing where it tells nothing.
[[nodiscard]] std::optional<Access> left_of(const Access& wanted, const rdmap::ErrorCode& error);

}  // namespace weft::explain
