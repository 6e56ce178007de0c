// SPDX-License-Identifier: Apache-2.0
// What the C and C++ libraries do when a program is beyond help. Their own versions print a sentence first, for which
// they would import a file descriptor; the module has none. A trap is what the page sees, and laboratory.js says so.
#ifdef __wasm__  // elsewhere they may print
#include <__verbose_abort>
#include <cstddef>

_LIBCPP_BEGIN_NAMESPACE_STD
[[noreturn]] void __libcpp_verbose_abort(const char*, ...) { __builtin_trap(); }
_LIBCPP_END_NAMESPACE_STD

extern "C" {
[[noreturn]] void abort_message(const char*, ...) { __builtin_trap(); }
[[noreturn]] void __cxa_pure_virtual() { __builtin_trap(); }
[[noreturn]] void __assert_fail(const char*, const char*, int, const char*) { __builtin_trap(); }
// fmt writes floating point numbers by it. Nothing here has one.
int snprintf(char*, std::size_t, const char*, ...) { __builtin_trap(); }
}
#endif
