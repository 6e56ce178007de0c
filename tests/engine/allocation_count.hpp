// SPDX-License-Identifier: Apache-2.0
// Counts what the whole test program allocates, all of its threads.
#pragma once

#include <cstddef>

namespace weft::engine::test {

[[nodiscard]] std::size_t allocations() noexcept;

}  // namespace weft::engine::test
