// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/allocations.hpp"

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::atomic<bool> counting{false};
std::atomic<std::uint64_t> made{0};

}  // namespace

namespace weft::tools::bench {

void count_allocations() noexcept { counting.store(true, std::memory_order_relaxed); }
std::uint64_t allocations() noexcept { return made.load(std::memory_order_relaxed); }
bool allocations_can_be_counted() noexcept { return WEFT_COUNTS_ALLOCATIONS != 0; }

}  // namespace weft::tools::bench

#if WEFT_COUNTS_ALLOCATIONS

namespace {

void* counted(void* memory) {
  if (counting.load(std::memory_order_relaxed)) made.fetch_add(1, std::memory_order_relaxed);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

// The other forms call one of these. malloc(0) may give nothing, which would not be out of memory.
void* operator new(std::size_t size) { return counted(std::malloc(size == 0 ? 1 : size)); }
void* operator new(std::size_t size, std::align_val_t alignment) {
  const auto step = static_cast<std::size_t>(alignment);
  const std::size_t steps = size / step + (size % step != 0 || size == 0 ? 1 : 0);
  return counted(steps > SIZE_MAX / step ? nullptr : std::aligned_alloc(step, steps * step));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

#endif
