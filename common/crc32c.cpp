// SPDX-License-Identifier: Apache-2.0
#include "common/crc32c.hpp"

#include <isa-l/crc.h>

#include <algorithm>

namespace weft {

Crc32c& Crc32c::update(Bytes octets) noexcept {
  constexpr std::size_t kLongest = 1U << 30;  // ISA-L counts in int
  while (!octets.empty()) {
    const auto piece = octets.first(std::min(octets.size(), kLongest));
    // ISA-L takes a pointer to mutable octets but only reads them.
    auto* start = const_cast<unsigned char*>(reinterpret_cast<const unsigned char*>(piece.data()));
    register_ = crc32_iscsi(start, static_cast<int>(piece.size()), register_);
    octets = octets.subspan(piece.size());
  }
  return *this;
}

}  // namespace weft
