// SPDX-License-Identifier: Apache-2.0
// CRC32C in plain C++, for processors that have no instruction for it: eight octets a step, each through a table of its
// own ("slicing by 8"). ISA-L has a portable routine too, crc32_iscsi_base, and takes it there by itself; but that goes
// octet by octet through one table and takes about four times as long (docs/decisions/0001-libraries.md). Being no
// relative of ISA-L's, this one is also what the tests hold ISA-L against.
#pragma once

#include <cstdint>

#include "common/wire.hpp"

namespace weft {

// The CRC's register after `octets`, from that in front of them.
[[nodiscard]] std::uint32_t advance_crc32c_by_table(std::uint32_t state, Bytes octets) noexcept;

}  // namespace weft
