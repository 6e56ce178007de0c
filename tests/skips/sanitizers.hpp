// SPDX-License-Identifier: Apache-2.0
// Which sanitizer a test was built with, for what cannot be tried under it. g++ and clang tell by different means.
#pragma once

// A function of a test that looks at, or writes to, what weft's threads use: they are to be judged, and not the test.
#define WEFT_RACES_ON_PURPOSE __attribute__((no_sanitize("thread")))

namespace weft::test {

#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool kAddressSanitizer = true;
#elif defined(__has_feature)
inline constexpr bool kAddressSanitizer = __has_feature(address_sanitizer);
#else
inline constexpr bool kAddressSanitizer = false;
#endif

#if defined(__SANITIZE_THREAD__)
inline constexpr bool kThreadSanitizer = true;
#elif defined(__has_feature)
inline constexpr bool kThreadSanitizer = __has_feature(thread_sanitizer);
#else
inline constexpr bool kThreadSanitizer = false;
#endif

}  // namespace weft::test
