// SPDX-License-Identifier: Apache-2.0
// The laboratory as a WebAssembly module, to be put into a page.
#pragma once

#include "common/wire.hpp"

namespace weft::explain {

[[nodiscard]] Bytes laboratory_octets() noexcept;

}  // namespace weft::explain
