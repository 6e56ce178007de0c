// SPDX-License-Identifier: Apache-2.0
// How many heap allocations this process has made, all of its threads together: `weft bench --count`.
//
// Counted in operator new, which `weft` replaces: weft and the C++ libraries below it (Asio) allocate with nothing
// else. What C libraries take with malloc themselves (getaddrinfo, stdio) is left out; nothing of that is on the data
// path, and glibc has no count of its own (mallinfo2() tells octets, and not of all arenas). Until counts are asked for
// it is one branch an allocation; then one counter for all threads, since an allocation costs more than sharing it
// does, and where there are none the counter is not touched.
#pragma once

#include <cstdint>

namespace weft::tools::bench {

// Returns false in a build with sanitizers, whose run-time libraries bring an operator new of their own.
[[nodiscard]] bool allocations_can_be_counted() noexcept;
// From now on, in this process.
void count_allocations() noexcept;
[[nodiscard]] std::uint64_t allocations() noexcept;  // since then

}  // namespace weft::tools::bench
