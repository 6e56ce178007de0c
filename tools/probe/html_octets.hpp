// SPDX-License-Identifier: Apache-2.0
// Octets and fields of a frame as lines of preformatted HTML, the wrong ones marked.
#pragma once

#include <string>

#include "tools/probe/exchange_view.hpp"
#include "tools/probe/names.hpp"

namespace weft::tools::probing {

// Rows of 16 octets from `span` of the item on, as hexadecimal numbers and characters. Says how many are left out.
[[nodiscard]] std::string rows_of(const ViewItem& item, const Span& span);

// A line for each field: where it lies, its octets, its layer and name, what it holds and means. Long ones are folded.
[[nodiscard]] std::string fields_of(const ViewItem& item);

}  // namespace weft::tools::probing
