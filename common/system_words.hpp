// SPDX-License-Identifier: Apache-2.0
// Words for errors of the operating system.
#pragma once

#include <string>

namespace weft {

// Returns strerror(3) of this errno value, with a hint for the user: "Permission denied (running as uid 1000)", "Too
// many open files (the limit is 1024: ulimit -n)". Thread-safe.
[[nodiscard]] std::string system_words(int error);

}  // namespace weft
