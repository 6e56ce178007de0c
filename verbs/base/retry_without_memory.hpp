// SPDX-License-Identifier: Apache-2.0
// What has to be done although memory is short: an object goes, and its destructor cannot fail.
#pragma once

#include <chrono>
#include <new>
#include <thread>

namespace weft::verbs::detail {

// Tries `body`, which may be called again after it threw std::bad_alloc, for about a tenth of a second.
template <typename Body>
void retry_without_memory(Body body) noexcept {
  constexpr int kTries = 100;
  for (int i = 0; i < kTries; ++i) {
    try {
      return body();
    } catch (const std::bad_alloc&) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
}

}  // namespace weft::verbs::detail
