// SPDX-License-Identifier: Apache-2.0
// The items of an exchange in the order of the wire, all of them: what the view (exchange_view.hpp) chooses from.
#pragma once

#include <vector>

#include "tools/probe/exchange_view.hpp"
#include "tools/probe/names.hpp"

namespace weft::tools::probing {

// `most`: octets that an item keeps.
[[nodiscard]] std::vector<ViewItem> items_of(const Exchange& exchange, std::size_t most);

}  // namespace weft::tools::probing
