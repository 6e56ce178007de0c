// SPDX-License-Identifier: Apache-2.0
// --keylog of the commands that read captures.
#pragma once

#include <memory>
#include <string>

#include "conformance/key_log.hpp"
#include "tools/cli/outcome.hpp"

namespace weft::tools {

// Without a path an empty one, for the secrets in a capture. `complete`: one without a line of a key log is an error;
// of a live capture it may grow. Once interruptions are caught, one ends the wait for a pipe.
[[nodiscard]] Outcome<std::unique_ptr<conformance::KeyLog>> open_key_log(const std::string& path, bool complete);

}  // namespace weft::tools
