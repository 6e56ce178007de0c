// SPDX-License-Identifier: Apache-2.0
// The one runtime of a process, and what fork() does to it.
#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <chrono>
#include <thread>
#include <utility>

#include "verbs/base/compact_mutex.hpp"
#include "verbs/base/process_settings.hpp"
#include "verbs/base/queue_pair_numbers.hpp"
#include "verbs/base/seats.hpp"
#include "verbs/progress/driven.hpp"
#include "verbs/progress/runtime.hpp"

namespace weft::verbs::detail {

namespace {

// The runtime of this process. Never destroyed: threads may still call while exit() runs.
struct Current {
  std::mutex mutex{};
  std::weak_ptr<Runtime> runtime{};
  std::shared_ptr<Runtime> forking{};                 // while fork() runs
  std::vector<std::shared_ptr<Runtime>> inherited{};  // in a child: kept, for their threads are the parent's to join
  std::vector<std::shared_ptr<void>> kept{};          // in a child: its parent's objects that it let go of
  std::unique_lock<std::mutex> own{};                 // while fork() runs: the lock above,
  std::unique_lock<std::mutex> streams{};             // the runtime's,
  std::unique_lock<std::mutex> numbers{};             // and that of the queue pairs' numbers
};

Current& current() {
  static auto* const one = new Current;
  return *one;
}

// A signal handler that forks may have interrupted the very thread that holds the lock. No other holds one for long.
std::unique_lock<std::mutex> lock_for_fork(std::mutex& mutex) {
  constexpr std::chrono::milliseconds kLong{100};
  const auto end = std::chrono::steady_clock::now() + kLong;
  std::unique_lock lock(mutex, std::try_to_lock);
  while (!lock && std::chrono::steady_clock::now() < end) {
    std::this_thread::yield();
    static_cast<void>(lock.try_lock());
  }
  return lock;
}

}  // namespace

bool is_parents(const Runtime& runtime) noexcept { return runtime.is_parents(); }

void keep_for_ever(std::shared_ptr<void> state) noexcept {
  const std::lock_guard lock(current().mutex);
  current().kept.push_back(std::move(state));
}

std::unexpected<Error> not_ours(std::string_view object) noexcept {
  return fail(Errc::kInvalidState, object, "was made before fork(): it is the parent process's");
}

// A child has its parent's objects, but not its progress thread. It gets a runtime of its own for what it opens, and
// lets go of the parent's sockets: else they would stay open when the parent closes them, and what it did to them would
// reach the epoll sets that both share.
void Runtime::before_fork() {
  Current& self = current();
  self.own = lock_for_fork(self.mutex);
  if (self.own) self.forking = self.runtime.lock();
  if (self.forking) self.streams = lock_for_fork(self.forking->streams_mutex_);
  self.numbers = lock_for_fork(QueuePairNumbers::of_process().mutex());
}

void Runtime::after_fork_in_parent() {
  Current& self = current();
  self.numbers = {};
  self.streams = {};
  const auto last = std::move(self.forking);  // perhaps the last share: it ends after the lock
  const auto lock = std::move(self.own);
}

// Locks that the child's own thread does not hold are free from here on, and it holds two at most.
void Runtime::after_fork_in_child() {
  Current& self = current();
  self.numbers = {};
  CompactMutex::entered_child();
  seats_in_process() = 0;
  if (self.forking) {
    self.forking->leave_to_parent(self.streams.owns_lock());
    self.streams = {};
    self.inherited.push_back(std::move(self.forking));
  }
  self.runtime.reset();
  self.own = {};
}

// Without the lock the list of streams may be in the middle of a change: then their sockets stay open here.
void Runtime::leave_to_parent(bool streams_locked) {
  is_parents_ = true;
  tick_.leave_to_parent();
  if (watchdog_) watchdog_->leave_to_parent();
  if (!streams_locked) return;
  const int nowhere = ::eventfd(0, EFD_CLOEXEC);
  for (const auto& [number, stream] : streams_) stream->leave_to_parent(nowhere);
  for (const auto& [number, weak] : listeners_) {
    auto listener = weak.lock();
    if (!listener) continue;
    listener->leave_to_parent(nowhere);
    kept_.push_back(std::move(listener));
  }
  if (nowhere >= 0) ::close(nowhere);
}

// A daemon that has closed all descriptors begins anew: its threads cannot be joined, so what they use is never freed.
void Runtime::end(Runtime* runtime) noexcept {
  if (!runtime->progress_.are_cut_off()) delete runtime;
}

std::shared_ptr<Runtime> Runtime::running() {
  const std::lock_guard lock(current().mutex);
  return current().runtime.lock();
}

Result<std::shared_ptr<Runtime>> Runtime::acquire() {
  static const int watched = ::pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
  if (watched != 0) return fail(Errc::kSystem, "runtime", "cannot register what fork() has to do", watched);
  apply_environment();
  const std::lock_guard lock(current().mutex);
  if (auto running = current().runtime.lock()) return running;
  auto reactor = transport::Reactor::create();
  if (!reactor) return fail(Errc::kSystem, "runtime", "cannot create the reactor", reactor.error().value());
  std::shared_ptr<Runtime> made(new Runtime(std::move(*reactor)), end);
  if (const auto opened = made->open_timers(); !opened) return std::unexpected(opened.error());
  const auto serve = [runtime = made.get()](const transport::Ready& ready) { return runtime->serve(ready); };
  if (const auto opened = made->progress_.open(thread_count(), serve); !opened) return std::unexpected(opened.error());
  current().runtime = made;
  return made;
}

}  // namespace weft::verbs::detail
