// SPDX-License-Identifier: Apache-2.0
// CRC32C where there is no ISA-L: the table of common/, which ISA-L is held against.
#include "common/crc32c.hpp"

#include "common/crc32c_table.hpp"

namespace weft {

Crc32c& Crc32c::update(Bytes octets) noexcept {
  register_ = advance_crc32c_by_table(register_, octets);
  return *this;
}

}  // namespace weft
