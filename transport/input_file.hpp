// SPDX-License-Identifier: Apache-2.0
// Reads the files that a policy or a variable names: settings, and what TLS needs. Waits for nothing: a pipe is
// refused.
#pragma once

#include <cstddef>
#include <expected>
#include <optional>
#include <string>

#include "transport/file_refusal.hpp"

namespace weft::transport {

// Returns the content of a regular file of at most `most` octets.
[[nodiscard]] std::expected<std::string, FileRefusal> read_file(const std::string& path, std::size_t most);
// Returns why a file cannot be read, for libraries that read it themselves and do not report errno.
[[nodiscard]] std::optional<FileRefusal> why_unreadable(const std::string& path) noexcept;

}  // namespace weft::transport
