// SPDX-License-Identifier: Apache-2.0
// Which sanitizer a test was built with, for what cannot be tried under it.
#pragma once

#include "common/sanitizers.hpp"

// A function of a test that looks at, or writes to, what weft's threads use: they are to be judged, and not the test.
#define WEFT_RACES_ON_PURPOSE __attribute__((no_sanitize("thread")))

namespace weft::test {

inline constexpr bool kAddressSanitizer = WEFT_ADDRESS_SANITIZER == 1;
using weft::kThreadSanitizer;

}  // namespace weft::test
