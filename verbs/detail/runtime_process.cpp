// SPDX-License-Identifier: Apache-2.0
// The one runtime of a process, and what fork() does to it.
#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <utility>

#include "verbs/detail/runtime.hpp"
#include "verbs/detail/stream.hpp"

namespace weft::verbs::detail {

namespace {

// The runtime of this process. Never destroyed: threads may still call while exit() runs.
struct Current {
  std::mutex mutex{};
  std::weak_ptr<Runtime> runtime{};
  std::shared_ptr<Runtime> forking{};                 // while fork() runs
  std::vector<std::shared_ptr<Runtime>> inherited{};  // in a child: kept, for their threads are the parent's to join
};

Current& current() {
  static auto* const one = new Current;
  return *one;
}

}  // namespace

// A child has its parent's objects, but not its progress thread. It gets a runtime of its own for what it opens, and
// lets go of the parent's sockets: else they would stay open when the parent closes them, and what it did to them would
// reach the epoll sets that both share.
void Runtime::before_fork() {
  Current& self = current();
  self.mutex.lock();
  self.forking = self.runtime.lock();
  if (self.forking) self.forking->streams_mutex_.lock();
}

void Runtime::after_fork_in_parent() {
  Current& self = current();
  if (self.forking) self.forking->streams_mutex_.unlock();
  const auto last = std::move(self.forking);  // perhaps the last share: it ends behind the lock
  self.mutex.unlock();
}

void Runtime::after_fork_in_child() {
  Current& self = current();
  if (self.forking) {
    self.forking->leave_to_parent();
    self.forking->streams_mutex_.unlock();
    self.inherited.push_back(std::move(self.forking));
  }
  self.runtime.reset();
  self.mutex.unlock();
}

void Runtime::leave_to_parent() {
  drivers_.leave_to_parent();
  watchdog_.leave_to_parent();
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

Result<std::shared_ptr<Runtime>> Runtime::acquire() {
  static const int watched = ::pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
  if (watched != 0) return fail(Errc::kSystem, "runtime", "cannot register what fork() has to do", watched);
  const std::lock_guard lock(current().mutex);
  if (auto running = current().runtime.lock()) return running;
  auto reactor = transport::Reactor::create();
  if (!reactor) return fail(Errc::kSystem, "runtime", "cannot create the reactor", reactor.error().value());
  std::shared_ptr<Runtime> made(new Runtime(std::move(*reactor)));
  if (const auto opened = made->open_timers(); !opened) return std::unexpected(opened.error());
  if (const auto opened = made->open_progress(progress_threads()); !opened) return std::unexpected(opened.error());
  current().runtime = made;
  return made;
}

}  // namespace weft::verbs::detail
