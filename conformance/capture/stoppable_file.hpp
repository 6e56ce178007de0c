// SPDX-License-Identifier: Apache-2.0
// A file, pipe or standard input to read from, whose reads end when a StopSwitch is turned. Also a pipe that is quiet
// for hours lets go at once.
#pragma once

#include <cstdio>
#include <string>

#include "conformance/stop_switch.hpp"

namespace weft::conformance::capture {

// "-" is the standard input. Null, with errno set, when it cannot be opened; a named pipe without a writer can. Once
// `stop` (which may be null) is turned, it is at its end. To be closed with fclose().
[[nodiscard]] std::FILE* open_stoppable(const std::string& path, const StopSwitch* stop);

}  // namespace weft::conformance::capture
