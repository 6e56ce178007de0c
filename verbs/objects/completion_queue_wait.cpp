// SPDX-License-Identifier: Apache-2.0
// Threads that sleep until a completion queue has something for them. They own no socket: docs/progress.md says which
// thread reads it meanwhile, and row 19 there why no completion is slept through.
#include "transport/cancellation.hpp"
#include "verbs/objects/completion_queue_state.hpp"

namespace weft::verbs::detail {

// A poll is enough where something is there. A wait that may take no time does not end the presence of a poller.
Result<std::size_t> CompletionQueueState::wait(std::span<WorkCompletion> out, Sleepers::Clock::time_point until) {
  if (const auto found = poll(out); !found || *found != 0) return found;
  if (Sleepers::Clock::now() < until) {
    const transport::NoCancellationButInWaits not_cancelled;
    poller_->sleeps();
    Wait wait(*this);
    do {
      if (const auto found = wait.look(out); !found || *found != 0) return found;
    } while (wait.sleep(until));
  }
  return fail(Errc::kTimedOut, "completion queue", "no completion came in time");
}

// Set before the sleepers are told: a thread that looked before that does not go on sleeping, and looks again.
void CompletionQueueState::interrupt_wait() {
  interrupted_.store(true, std::memory_order_release);
  sleepers_.tell_all();
}

// --- Step by step

// A wake-up is for one thread. One that was woken and leaves without what it was woken for, because it is canceled or
// its time is over, wakes the next.
CompletionQueueState::Wait::~Wait() {
  queue_.sleepers_.leave();
  if (queue_.held_.load(std::memory_order_acquire) != 0 && queue_.sleepers_.any()) queue_.sleepers_.tell_one();
}

// Takes the queue's lock even where the count says that nothing is there: see Sleepers.
Result<std::size_t> CompletionQueueState::Wait::look(std::span<WorkCompletion> out) {
  told_ = queue_.sleepers_.told();
  if (const auto count = queue_.take_held(out); count != 0) return count;
  if (queue_.interrupted_.exchange(false, std::memory_order_acq_rel))
    return fail(Errc::kInterrupted, "completion queue", "a call of interrupt_wait() ended the wait");
  return queue_.nothing_there();
}

bool CompletionQueueState::Wait::sleep(Sleepers::Clock::time_point until) {
  return queue_.sleepers_.sleep(told_, until);
}

}  // namespace weft::verbs::detail
