// SPDX-License-Identifier: Apache-2.0
#include "verbs/detail/compact_mutex.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace weft::verbs::detail {

namespace {

// The kernel looks at the word itself.
static_assert(sizeof(std::atomic<std::uint32_t>) == sizeof(std::uint32_t) &&
              std::atomic<std::uint32_t>::is_always_lock_free);

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

// Who has slept cannot know whether others sleep, too: it takes the lock as one that is awaited.
void CompactMutex::take_slowly() noexcept {
  for (int look = 0; look < kLooks; ++look) {
    pause();
    if (word_.load(std::memory_order_relaxed) == kFree && try_take()) return;
  }
  while (word_.exchange(kAwaited, std::memory_order_acquire) != kFree) futex(word_, FUTEX_WAIT, kAwaited);
}

void CompactMutex::wake_one() noexcept { futex(word_, FUTEX_WAKE, 1); }

}  // namespace weft::verbs::detail
