// SPDX-License-Identifier: Apache-2.0
// The number of connections of all listeners of the process that have requested and not ended
// (connecting/admission.hpp). A child of fork() starts with zero: the connections of its parent remain the parent's.
#pragma once

#include <atomic>
#include <cstddef>

namespace weft::verbs::detail {

[[nodiscard]] inline std::atomic<std::size_t>& seats_in_process() noexcept {
  static std::atomic<std::size_t> count{0};
  return count;
}

}  // namespace weft::verbs::detail
