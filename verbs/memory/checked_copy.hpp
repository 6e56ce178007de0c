// SPDX-License-Identifier: Apache-2.0
// Copies to and from memory of a program that may be unmapped. The kernel makes them and returns an error where a
// processor would fault. For StartupPolicy::checked_memory; costs one system call per copy.
#pragma once

#include <cstddef>

#include "common/wire.hpp"

namespace weft::verbs::detail {

// Returns false when some of `to` cannot be written; then any part of it may have been.
[[nodiscard]] bool checked_write(std::byte* to, Bytes from) noexcept;
// The same, and the last octet becomes visible after all others. Not empty.
[[nodiscard]] bool checked_write_last_octet_last(std::byte* to, Bytes from) noexcept;
// Returns false when some of `from` cannot be read.
[[nodiscard]] bool checked_read(MutableBytes to, const std::byte* from) noexcept;

}  // namespace weft::verbs::detail
