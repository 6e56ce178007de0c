// SPDX-License-Identifier: Apache-2.0
#include "verbs/base/compact_mutex.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <limits>

namespace weft::verbs::detail {

namespace {

// The kernel looks at the word itself.
static_assert(sizeof(std::atomic<std::uint32_t>) == sizeof(std::uint32_t) &&
              std::atomic<std::uint32_t>::is_always_lock_free);

constexpr std::uint32_t kEverybody = std::numeric_limits<std::int32_t>::max();

void futex(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value) noexcept {
  const int before = errno;  // the application's
  ::syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), operation | FUTEX_PRIVATE_FLAG, value, nullptr, nullptr,
            0);
  errno = before;
}

void pause() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace

bool CompactMutex::take_from_parent() noexcept {
  std::uint32_t seen = word_.load(std::memory_order_relaxed);
  return is_parents(seen) && word_.compare_exchange_strong(seen, here(kHeld), std::memory_order_acquire);
}

void CompactMutex::take_slowly() noexcept {
  if (take_from_parent()) return;
  for (int look = 0; look < kLooks; ++look) {
    pause();
    if (word_.load(std::memory_order_relaxed) == kFree && try_take()) return;
  }
  take_asleep();
}

// A thread that has slept cannot know whether others sleep, too: it takes the lock as one that is awaited.
void CompactMutex::take_asleep() noexcept {
  const auto since = std::chrono::steady_clock::now();
  std::uint32_t awaited = here(kAwaited);
  std::uint32_t seen = word_.load(std::memory_order_relaxed);
  for (;;) {
    if (seen == kFree || is_parents(seen) || (seen == here(kReserved) && awaited == here(kPromised))) {
      if (word_.compare_exchange_weak(seen, here(kAwaited), std::memory_order_acquire, std::memory_order_relaxed))
        return;
      continue;
    }
    // The word tells the thread that gives the lock up that others wait, and whether one has waited for kPatience.
    const bool told = seen == here(kReserved) || seen == here(kPromised) || seen == awaited;
    if (!told && !word_.compare_exchange_weak(seen, awaited, std::memory_order_relaxed)) continue;
    futex(word_, FUTEX_WAIT, told ? seen : awaited);
    if (std::chrono::steady_clock::now() - since >= kPatience) awaited = here(kPromised);
    seen = word_.load(std::memory_order_relaxed);
  }
}

// The next holder may destroy it once it is free: the kernel is asked to wake threads that sleep at an address, and
// does not look what lies there. It is reserved for one of the sleepers, and any may be that one: all are woken.
void CompactMutex::give_up_awaited(std::uint32_t seen) noexcept {
  while (!word_.compare_exchange_weak(seen, seen == here(kPromised) ? here(kReserved) : kFree,
                                      std::memory_order_release, std::memory_order_relaxed)) {
  }
  futex(word_, FUTEX_WAKE, seen == here(kPromised) ? kEverybody : 1);
}

}  // namespace weft::verbs::detail
