// SPDX-License-Identifier: Apache-2.0
// Which sanitizer this is compiled with. g++ and clang tell by different means.
#pragma once

#if defined(__SANITIZE_ADDRESS__)
#define WEFT_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WEFT_ADDRESS_SANITIZER 1
#endif
#endif
#ifndef WEFT_ADDRESS_SANITIZER
#define WEFT_ADDRESS_SANITIZER 0
#endif

#if defined(__SANITIZE_THREAD__)
#define WEFT_THREAD_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define WEFT_THREAD_SANITIZER 1
#endif
#endif
#ifndef WEFT_THREAD_SANITIZER
#define WEFT_THREAD_SANITIZER 0
#endif

// A function whose accesses ThreadSanitizer does not see.
#if WEFT_THREAD_SANITIZER && defined(__clang__)
#define WEFT_UNSEEN_BY_THREAD_SANITIZER __attribute__((noinline, disable_sanitizer_instrumentation))
#elif WEFT_THREAD_SANITIZER
#define WEFT_UNSEEN_BY_THREAD_SANITIZER __attribute__((noinline, no_sanitize_thread))
#else
#define WEFT_UNSEEN_BY_THREAD_SANITIZER
#endif

namespace weft {

inline constexpr bool kThreadSanitizer = WEFT_THREAD_SANITIZER == 1;

}  // namespace weft
