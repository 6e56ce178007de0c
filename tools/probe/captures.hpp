// SPDX-License-Identifier: Apache-2.0
// What crossed the wire, as captures that Wireshark and `weft audit` open.
#pragma once

#include <string>

#include "probe/report.hpp"
#include "tools/cli/outcome.hpp"
#include "tools/probe/names.hpp"

namespace weft::tools::probing {

// A file for each case that has exchanges: <folder>/<name of the case>.pcap, all of its connections in it, a packet for
// each part. Makes the folder where there is none; the one above it must be there. Files of these names are replaced.
[[nodiscard]] Outcome<void> write_captures(const Report& report, const std::string& folder);

// "crc-wrong-write.pcap": of a name from elsewhere only letters that make no path are left.
[[nodiscard]] std::string capture_name(std::string_view name);

}  // namespace weft::tools::probing
