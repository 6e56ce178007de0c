// SPDX-License-Identifier: Apache-2.0
// The files that runs of the interop suite leave behind: interop-PID.log, .pcap and .pid, kept when a test failed.
#pragma once

#include <filesystem>

namespace weft::interop {

// Removes those of earlier runs from `directory`, but not of the last one, which failed, nor of one under way.
void remove_earlier_runs(const std::filesystem::path& directory);

}  // namespace weft::interop
