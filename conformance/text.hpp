// SPDX-License-Identifier: Apache-2.0
/// @file
/// Octets and values as text, for messages and dissections: those of common/text.hpp.
#pragma once

#include "common/text.hpp"

namespace weft::conformance {

using weft::hex;
using weft::hex_digits;
using weft::hex_number;

}  // namespace weft::conformance
