// SPDX-License-Identifier: Apache-2.0
// How many connections all listeners of the process have that have asked and not ended (connecting/admission.hpp). A
// child of fork() begins with none: what was its parent's at that moment stays the parent's.
#pragma once

#include <atomic>
#include <cstddef>

namespace weft::verbs::detail {

[[nodiscard]] inline std::atomic<std::size_t>& seats_in_process() noexcept {
  static std::atomic<std::size_t> count{0};
  return count;
}

}  // namespace weft::verbs::detail
