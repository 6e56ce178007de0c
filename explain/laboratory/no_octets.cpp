// SPDX-License-Identifier: Apache-2.0
// Where the module was not built.
#include "explain/laboratory/octets.hpp"

namespace weft::explain {

Bytes laboratory_octets() noexcept { return {}; }

}  // namespace weft::explain
