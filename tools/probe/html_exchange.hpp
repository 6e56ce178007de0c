// SPDX-License-Identifier: Apache-2.0
// The exchanges of a case in the HTML report.
#pragma once

#include <string>

#include "probe/case.hpp"
#include "tools/probe/names.hpp"

namespace weft::tools::probing {

// A fold for each connection, open.
[[nodiscard]] std::string exchanges_of(const CaseResult& one);
// The first octets of one connection, in a fold that is shut.
[[nodiscard]] std::string exchange_in_short(const Exchange& exchange, std::size_t number);

}  // namespace weft::tools::probing
