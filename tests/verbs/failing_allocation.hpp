// SPDX-License-Identifier: Apache-2.0
// Fails an allocation of the calling thread: the first of a call, the second and so on. Links failing_allocation.cpp,
// which has the program's operator new.
#pragma once

#include <exception>
#include <functional>
#include <new>

namespace weft::test {

// While it lives, the n-th allocation with operator new of this thread fails, counted from 0.
class FailingAllocation {
 public:
  explicit FailingAllocation(int nth) noexcept;
  ~FailingAllocation();
  FailingAllocation(const FailingAllocation&) = delete;
  FailingAllocation& operator=(const FailingAllocation&) = delete;
  [[nodiscard]] bool has_failed() const noexcept;
};

// Each scene is made anew by `prepare`, which returns the call. The call is made with its first allocation failing, in the
// next scene with its second, and so on until it has no further one. After a failure it is made once more, without one.
// The number of allocations that failed.
inline int fail_each_allocation(const std::function<std::function<void()>()>& prepare) {
  for (int nth = 0;; ++nth) {
    const auto call = prepare();
    bool failed = false;
    {
      const FailingAllocation here(nth);
      try {
        call();
      } catch (const std::exception&) {  // std::bad_alloc, or what the call makes of its error
      }
      failed = here.has_failed();
    }
    if (!failed) return nth;
    call();
  }
}

}  // namespace weft::test
