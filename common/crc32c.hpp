// SPDX-License-Identifier: Apache-2.0
// CRC32C (Castagnoli), the checksum of an FPDU (RFC 5044 section 4.4) and of iSCSI.
#pragma once

#include <cstdint>

#include "common/wire.hpp"

namespace weft {

// A running CRC32C. `Crc32c{}.update(a).update(b).value()` equals the CRC of a followed by b.
// The value of the nine ASCII digits "123456789" is 0xE3069283.
class Crc32c {
 public:
  Crc32c& update(Bytes octets) noexcept;
  [[nodiscard]] std::uint32_t value() const noexcept { return ~register_; }

 private:
  std::uint32_t register_ = 0xffffffff;
};

[[nodiscard]] inline std::uint32_t crc32c(Bytes octets) noexcept { return Crc32c{}.update(octets).value(); }

}  // namespace weft
