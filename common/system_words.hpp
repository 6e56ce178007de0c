// SPDX-License-Identifier: Apache-2.0
// What an error of the operating system is called in a sentence for people.
#pragma once

#include <string>

namespace weft {

// strerror(3) of this errno value, and what helps to mend it: "Permission denied (running as uid 1000)", "Too many open
// files (the limit is 1024: ulimit -n)". Thread-safe.
[[nodiscard]] std::string system_words(int error);

}  // namespace weft
