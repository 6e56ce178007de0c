// SPDX-License-Identifier: Apache-2.0
// The report for people.
#pragma once

#include <cstddef>
#include <string>

#include "probe/report.hpp"
#include "tools/cli/colour.hpp"
#include "tools/probe/names.hpp"

namespace weft::tools::probing {

// Failures and warnings in full, a table by sections of the RFCs, the verdict in the last line.
[[nodiscard]] std::string text_of(const Report& report, bool strict, const Palette& palette);

// As it goes, a case that is over: "[ 57/311] pass  DDP-7.1-09 msn-repeated". Without a newline.
[[nodiscard]] std::string progress_text(const CaseResult& result, std::size_t done, std::size_t all,
                                        const Palette& palette);

}  // namespace weft::tools::probing
