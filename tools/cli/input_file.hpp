// SPDX-License-Identifier: Apache-2.0
// Small text files that options name: --known, --replay, --profile.
#pragma once

#include <cstddef>
#include <string>

#include "tools/cli/outcome.hpp"

namespace weft::tools {

// Returns the content of a file or pipe: at most `most` + 1 octets, so that one more shows that it is too long. Returns
// `unreadable` if it cannot be read. Waits for the writer of a pipe; SIGINT or SIGTERM ends the wait with
// ExitCode::kInterrupted. Afterwards signals mean what they meant before.
[[nodiscard]] Outcome<std::string> read_input(const std::string& path, std::size_t most,
                                              const std::unexpected<Failure>& unreadable);

}  // namespace weft::tools
