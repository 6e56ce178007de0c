// SPDX-License-Identifier: Apache-2.0
// 16 octets that name a buffer of the sender: the one message of rping's protocol, and what the other tools put into
// their private data.
//
//      0                   1                   2                   3
//      0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//     +-------------------------------+-------------------------------+
//     |                     address (Tagged Offset)                   |
//     |                                                               |
//     +---------------------------------------------------------------+
//     |                         rkey (STag)                           |
//     +---------------------------------------------------------------+
//     |                         size (octets)                         |
//     +---------------------------------------------------------------+
#pragma once

#include <array>
#include <optional>

#include "common/wire.hpp"

namespace weft::tools {

inline constexpr std::size_t kAdvertisementSize = 16;

struct Advertisement {
  std::uint64_t address{};
  std::uint32_t rkey{};
  std::uint32_t size{};
  bool operator==(const Advertisement&) const = default;

  // Returns nothing if `octets` is not exactly one advertisement.
  static std::optional<Advertisement> parse(Bytes octets);
  [[nodiscard]] std::array<std::byte, kAdvertisementSize> serialize() const;
};

}  // namespace weft::tools
