// SPDX-License-Identifier: Apache-2.0
#include "verbs/detail/runtime.hpp"

#include <new>
#include <utility>

#include "transport/blocked_signals.hpp"
#include "verbs/detail/log.hpp"
#include "verbs/detail/stream.hpp"

namespace weft::verbs::detail {

namespace {

bool& own_thread_mark() noexcept {
  static thread_local bool mark = false;
  return mark;
}

}  // namespace

Runtime::Runtime(transport::Reactor reactor)
    : reactor_(std::move(reactor)), drivers_([this](bool some_have_time) { share_work(some_have_time); }) {}

Result<void> Runtime::open_timers() {
  auto timer = transport::Timer::create(reactor_, [this] { serve_deadlines(); });
  std::error_code error = timer ? drivers_.open(reactor_) : timer.error();
  if (!error) error = watchdog_.open(reactor_);
  if (error) return fail(Errc::kSystem, "runtime", "cannot create a timer", error.value());
  deadlines_.emplace(std::move(*timer));
  return {};
}

Result<void> Runtime::open_progress(std::size_t threads) {
  progress_.reserve(threads);
  while (progress_.size() < threads) {
    auto one = transport::ReadinessThread::create([this](const transport::Ready& ready) { serve(ready); });
    if (!one) return fail(Errc::kSystem, "runtime", "cannot create a readiness set", one.error().value());
    progress_.push_back(std::move(*one));
  }
  return {};
}

Runtime::~Runtime() {
  reactor_.stop();
  if (thread_.joinable()) thread_.join();
  for (auto& one : progress_) one.stop();
  // Graceful closes that are still under way end here; the kernel delivers what was written.
  std::unordered_map<std::uint64_t, std::shared_ptr<Stream>> left;
  {
    const std::lock_guard lock(streams_mutex_);
    left.swap(streams_);
  }
  for (const auto& [number, stream] : left) stream->abandon();
  drivers_.clear();
}

transport::Reactor& Runtime::reactor() {
  std::call_once(started_, [this] {
    thread_ = std::thread([this] {
      transport::block_signals();
      own_thread_mark() = true;
      reactor_.run();
    });
    for (auto& one : progress_) one.start([] { own_thread_mark() = true; }, [this] { descriptors_are_gone(); });
    runs_ = true;
  });
  return reactor_;
}

// A program that becomes a daemon closes all descriptors. Asio's thread would ask for its own again and again.
void Runtime::descriptors_are_gone() {
  log_warning("progress", "the program has closed weft's descriptors: its connections so far stand still");
  reactor_.stop();
}

bool Runtime::on_its_thread() noexcept { return own_thread_mark(); }

// --- Streams

void Runtime::add(const std::shared_ptr<Stream>& stream) {
  reactor();
  const std::lock_guard lock(streams_mutex_);
  streams_.emplace(stream->number(), stream);
}

void Runtime::forget(std::uint64_t number) {
  const std::lock_guard lock(streams_mutex_);
  streams_.erase(number);
}

std::shared_ptr<Stream> Runtime::find(std::uint64_t number) {
  const std::lock_guard lock(streams_mutex_);
  const auto found = streams_.find(number);
  return found == streams_.end() ? nullptr : found->second;
}

// --- Threads of the application

void Runtime::watch(std::shared_ptr<ApplicationDriver> driver) {
  drivers_.watch(std::move(driver));
  watchdog_.start();
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

void Runtime::serve(const transport::Ready& ready) {
  const auto stream = find(ready.token);
  if (!stream) return;
  try {
    if (stream->drive(ready.hangup)) messages_came_ = true;
  } catch (const std::bad_alloc&) {
    stream->run_out_of_memory();
  }
}

void Runtime::help() {
  for (auto& one : progress_) {
    if (one.serves_any()) one.help();
  }
}

void Runtime::resume() {
  if (!stood_in_for_) progress_.front().resume();
}

bool Runtime::stand_in() {
  if (!runs_ || progress_.size() != 1 || sleepers_ != 0 || messages_came_.exchange(false)) return false;
  if (stood_in_for_.exchange(true)) return false;
  progress_.front().rest();
  return true;
}

void Runtime::falls_asleep() {
  ++sleepers_;
  if (stood_in_for_) progress_.front().resume();
}

void Runtime::step_back() {
  stood_in_for_ = false;
  progress_.front().resume();
}

// With several progress threads there are processors enough. And who has no socket to serve disturbs nobody: it is
// there for a listener's connections, which help() does not look for then.
void Runtime::share_work(bool others_have_time) {
  auto& first = progress_.front();
  const bool set_ups_alone = !messages_came_.exchange(false) && sleepers_ == 0;
  if (stood_in_for_ && set_ups_alone) return first.rest();
  if (others_have_time && progress_.size() == 1 && first.serves_any()) {
    first.rest();
  } else {
    first.resume();
  }
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
    const auto stream = find(number);
    if (!stream) continue;
    try {
      stream->deadline_passed();
    } catch (const std::bad_alloc&) {
      stream->run_out_of_memory();
    }
  }
}

std::vector<std::uint64_t> Runtime::take_due() {
  const std::lock_guard lock(streams_mutex_);
  return deadlines_->take_due(now());
}

}  // namespace weft::verbs::detail
