// SPDX-License-Identifier: Apache-2.0
#include "verbs/progress/runtime.hpp"

#include <algorithm>
#include <new>
#include <system_error>
#include <utility>

#include "transport/blocked_signals.hpp"
#include "verbs/log/log.hpp"
#include "verbs/progress/driven.hpp"

namespace weft::verbs::detail {

namespace {

bool& own_thread_mark() noexcept {
  static thread_local bool mark = false;
  return mark;
}

}  // namespace

Runtime::Runtime(transport::Reactor reactor) : reactor_(std::move(reactor)) {}

Result<void> Runtime::open_timers() {
  auto timer = transport::Timer::create(reactor_, [this] { serve_deadlines(); });
  std::error_code error = timer ? tick_.open(reactor_) : timer.error();
  if (!error && watchdog_) error = watchdog_->open(reactor_);
  if (error) return fail(Errc::kSystem, "runtime", "cannot create a timer", error.value());
  deadlines_.emplace(std::move(*timer));
  return {};
}

Runtime::~Runtime() {
  reactor_.stop();
  if (thread_.joinable()) thread_.join();
  progress_.stop();
  // Graceful closes that are still under way end here; the kernel delivers what was written.
  std::unordered_map<std::uint64_t, std::shared_ptr<Driven>> left;
  {
    const std::lock_guard lock(streams_mutex_);
    left.swap(streams_);
  }
  for (const auto& [number, stream] : left) stream->abandon();
  tick_.clear();
}

transport::Reactor& Runtime::reactor() {
  std::call_once(started_, [this] {
    // Once more where a thread further on was not to be had before.
    const auto run = [this] {
      transport::block_signals();
      own_thread_mark() = true;
      reactor_.run();
    };
    if (!thread_.joinable()) thread_ = std::thread(run);
    progress_.start([] { own_thread_mark() = true; }, [this] { descriptors_are_gone(); });
  });
  return reactor_;
}

Result<void> Runtime::start() {
  try {
    reactor();
  } catch (const std::system_error& error) {
    return fail(Errc::kSystem, "thread", "cannot be started (process limit?)", error.code().value());
  }
  return {};
}

// A program that becomes a daemon closes all descriptors. Asio's thread would ask for its own again and again.
void Runtime::descriptors_are_gone() {
  log_warning("progress", "the program closed weft's descriptors; existing connections are dead");
  reactor_.stop();
}

bool Runtime::on_its_thread() noexcept { return own_thread_mark(); }

// --- Streams

void Runtime::add(const std::shared_ptr<Driven>& stream) {
  reactor();
  const std::lock_guard lock(streams_mutex_);
  streams_.emplace(stream->number(), stream);
}

void Runtime::forget(std::uint64_t number) {
  const std::lock_guard lock(streams_mutex_);
  streams_.erase(number);
}

std::shared_ptr<Driven> Runtime::find(std::uint64_t number) {
  const std::lock_guard lock(streams_mutex_);
  const auto found = streams_.find(number);
  return found == streams_.end() ? nullptr : found->second;
}

std::vector<std::shared_ptr<Driven>> Runtime::streams() {
  std::vector<std::shared_ptr<Driven>> all;
  {
    const std::lock_guard lock(streams_mutex_);
    all.reserve(streams_.size());
    for (const auto& [number, stream] : streams_) all.push_back(stream);
  }
  std::ranges::sort(all, {}, &Driven::number);
  return all;
}

// --- Who drives

void Runtime::watch(std::shared_ptr<Driver> driver) {
  tick_.watch(std::move(driver));
  if (watchdog_) watchdog_->start();
}

// --- Listeners

void Runtime::add(std::uint64_t number, const std::shared_ptr<transport::Listener>& listener) {
  const std::lock_guard lock(streams_mutex_);
  listeners_.emplace(number, listener);
}

void Runtime::forget_listener(std::uint64_t number) {
  const std::lock_guard lock(streams_mutex_);
  listeners_.erase(number);
}

// --- Readiness

bool Runtime::serve(const transport::Ready& ready) {
  const auto stream = find(ready.token);
  return stream && stream->drive(ready.hangup);
}

// --- Deadlines

void Runtime::wake_at(std::uint64_t number, Instant at) {
  const std::lock_guard lock(streams_mutex_);
  deadlines_->add(at, number);
}

void Runtime::forget_wake_up(std::uint64_t number, Instant at) {
  const std::lock_guard lock(streams_mutex_);
  deadlines_->forget(at, number);
}

void Runtime::serve_deadlines() {
  for (const auto number : take_due()) {
    if (const auto stream = find(number)) stream->deadline_passed();
  }
}

std::vector<std::uint64_t> Runtime::take_due() {
  const std::lock_guard lock(streams_mutex_);
  return deadlines_->take_due(now());
}

}  // namespace weft::verbs::detail
