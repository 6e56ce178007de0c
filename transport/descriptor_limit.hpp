// SPDX-License-Identifier: Apache-2.0
// How many descriptors this process may have (ulimit -n), which bounds what peers may take of them.
#pragma once

#include <sys/resource.h>

#include <algorithm>
#include <cstddef>

namespace weft::transport {

// One such part of them, one descriptor at least; `otherwise` if there is no limit.
[[nodiscard]] inline std::size_t part_of_descriptors(std::size_t parts, std::size_t otherwise) noexcept {
  rlimit descriptors{};
  const bool known = ::getrlimit(RLIMIT_NOFILE, &descriptors) == 0 && descriptors.rlim_cur != RLIM_INFINITY;
  return known ? std::max<std::size_t>(descriptors.rlim_cur / parts, 1) : otherwise;
}

}  // namespace weft::transport
