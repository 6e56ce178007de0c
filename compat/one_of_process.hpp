// SPDX-License-Identifier: Apache-2.0
// An object that a process has once, from its first use on. It is never destroyed, because threads may still call while
// exit() runs. A child of fork() empties `place`, and makes its own.
#pragma once

#include <atomic>

namespace weft::compat {

// `make` returns a new object. Takes no lock, which a child of fork() could find taken: of two threads that make one at
// the same time, one deletes its own.
template <typename T>
[[nodiscard]] T& one_of_process(std::atomic<T*>& place, auto make) {
  if (T* const one = place.load()) return *one;
  T* const made = make();
  T* none = nullptr;
  if (place.compare_exchange_strong(none, made)) return *made;
  delete made;
  return *none;
}

}  // namespace weft::compat
