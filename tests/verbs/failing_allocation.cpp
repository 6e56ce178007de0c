// SPDX-License-Identifier: Apache-2.0
#include "tests/verbs/failing_allocation.hpp"

#include <cstddef>
#include <cstdlib>

namespace {

thread_local int left = -1;  // allocations until one fails; negative: none does
thread_local bool has_failed_here = false;

void* allocate(std::size_t size, std::size_t alignment) {
  if (left >= 0 && left-- == 0) {
    has_failed_here = true;
    throw std::bad_alloc();
  }
  void* const memory = std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

void* operator new(std::size_t size) { return allocate(size, alignof(std::max_align_t)); }
void* operator new(std::size_t size, std::align_val_t alignment) {
  return allocate(size, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

namespace weft::test {

FailingAllocation::FailingAllocation(int nth) noexcept {
  left = nth;
  has_failed_here = false;
}
FailingAllocation::~FailingAllocation() { left = -1; }
bool FailingAllocation::has_failed() const noexcept { return has_failed_here; }

}  // namespace weft::test
