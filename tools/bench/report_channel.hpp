// SPDX-License-Identifier: Apache-2.0
// A report on its way from the process that measured to the one that prints.
#pragma once

#include "tools/bench/report.hpp"
#include "tools/cli/outcome.hpp"

namespace weft::tools::bench {

Outcome<void> tell_report(int channel, const Report& report);
// `options` are those that the report is about: both sides know them.
Outcome<Report> hear_report(int channel, const Options& options);

}  // namespace weft::tools::bench
