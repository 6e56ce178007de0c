// SPDX-License-Identifier: Apache-2.0
// Octets in a row, as messages show them: what fmt does not write by itself.
#pragma once

#include <string>

#include "common/wire.hpp"

namespace weft::conformance {

// "0a 00"; at most `most` octets, then "...".
[[nodiscard]] std::string hex(Bytes octets, std::size_t most = 16);

}  // namespace weft::conformance
