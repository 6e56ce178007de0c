// SPDX-License-Identifier: Apache-2.0
// errno, as an error code.
#pragma once

#include <cerrno>
#include <system_error>

namespace weft::transport {

inline std::error_code last_error() noexcept { return {errno, std::system_category()}; }

}  // namespace weft::transport
