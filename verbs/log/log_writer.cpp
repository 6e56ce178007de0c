// SPDX-License-Identifier: Apache-2.0
#include "verbs/log/log_writer.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <thread>
#include <utility>

#include "transport/blocked_signals.hpp"
#include "verbs/base/clock.hpp"

namespace weft::verbs::detail {

namespace {

using std::chrono::milliseconds;

// A write of so much to a pipe is not mixed with others'; lines stay whole when they fit.
std::size_t whole_lines(std::string_view octets) noexcept {
  if (octets.size() <= PIPE_BUF) return octets.size();
  const std::size_t end = octets.rfind('\n', PIPE_BUF - 1);
  return end == std::string_view::npos ? PIPE_BUF : end + 1;
}

// The program may have made its standard error non-blocking.
void wait_for_room(int descriptor) noexcept {
  pollfd room{.fd = descriptor, .events = POLLOUT, .revents = 0};
  ::poll(&room, 1, -1);
}

std::string note_of(std::uint64_t dropped) {
  return "weft: " + std::to_string(dropped) + " log lines are missing here: standard error was too slow\n";
}

}  // namespace

LogWriter::LogWriter(int descriptor, Between between) : descriptor_(descriptor), between_(between) {}

LogWriter::~LogWriter() {
  const std::lock_guard lock(state_->mutex);
  state_->over = true;
  state_->work.notify_one();
}

void LogWriter::push(std::string_view line) noexcept {
  State& state = *state_;
  const std::lock_guard lock(state.mutex);
  try {
    start_locked();
    if (state.dropped == 0 && state.pending.size() + line.size() < kMostPending) {
      state.pending.append(line).push_back('\n');
      state.work.notify_one();
    } else {
      ++state.dropped;
    }
  } catch (...) {  // no thread, or no memory: as if there were no room
    ++state.dropped;
  }
}

void LogWriter::start_locked() {
  if (state_->runs) return;
  std::thread([state = state_, descriptor = descriptor_, between = between_] {
    run(state, descriptor, between);
  }).detach();
  state_->runs = true;
}

void LogWriter::look_again() noexcept {
  const std::lock_guard lock(state_->mutex);
  try {
    start_locked();
  } catch (...) {
    return;
  }
  state_->look = true;
  state_->work.notify_one();
}

// --- The thread

void LogWriter::run(const std::shared_ptr<State>& state, int descriptor, Between between) {
  transport::block_signals();
  std::unique_lock lock(state->mutex);
  while (!state->over) {
    state->busy = true;
    const auto again = look(*state, lock, between);
    if (const std::string batch = take(*state); !batch.empty()) {
      lock.unlock();
      write(*state, descriptor, batch);
      lock.lock();
    }
    state->busy = state->stuck = false;
    state->written.notify_all();
    wait(*state, lock, again);
  }
}

std::optional<Instant> LogWriter::look(State& state, std::unique_lock<std::mutex>& lock, Between between) {
  state.look = false;
  if (between == nullptr) return std::nullopt;
  const bool last = state.last;
  lock.unlock();
  const auto again = between(last);
  lock.lock();
  return again;
}

void LogWriter::wait(State& state, std::unique_lock<std::mutex>& lock, std::optional<Instant> until) {
  const auto wanted = [&] { return !state.pending.empty() || state.dropped != 0 || state.look || state.over; };
  if (until) {
    state.work.wait_for(lock, std::max(*until - now(), Duration::zero()), wanted);
  } else {
    state.work.wait(lock, wanted);
  }
}

std::string LogWriter::take(State& state) {
  std::string batch = std::exchange(state.pending, {});
  if (state.dropped != 0) batch += note_of(std::exchange(state.dropped, 0));
  return batch;
}

// What cannot be written is lost: there is no place to tell it.
void LogWriter::write(State& state, int descriptor, std::string_view octets) noexcept {
  while (!octets.empty()) {
    const ssize_t count = ::write(descriptor, octets.data(), whole_lines(octets));
    if (count < 0 && errno == EAGAIN) wait_for_room(descriptor);
    if (count < 0 && errno != EAGAIN && errno != EINTR) return;
    if (count <= 0) continue;
    state.moved += static_cast<std::uint64_t>(count);
    octets.remove_prefix(static_cast<std::size_t>(count));
  }
}

// --- Waiting

bool LogWriter::flush(milliseconds patience) noexcept {
  State& state = *state_;
  std::unique_lock lock(state.mutex);
  const auto done = [&] { return (state.pending.empty() && !state.busy && !state.look) || !state.runs; };
  if (done() || state.stuck) return done();
  state.stuck = !state.written.wait_for(lock, patience, done);
  return !state.stuck;
}

void LogWriter::finish() noexcept {
  constexpr int kMost = 50;
  constexpr milliseconds kEach{100};
  State& state = *state_;
  {
    const std::lock_guard lock(state.mutex);
    if (!state.runs) return;
    state.last = state.look = true;
    state.stuck = false;
    state.work.notify_one();
  }
  std::uint64_t before = state.moved;
  for (int i = 0; i < kMost && !flush(kEach); ++i) {
    const std::uint64_t moved = state.moved;
    if (std::exchange(before, moved) == moved) return;
    const std::lock_guard lock(state.mutex);
    state.stuck = false;
  }
}

void LogWriter::leave_to_parent() { parents_.push_back(std::exchange(state_, std::make_shared<State>())); }

}  // namespace weft::verbs::detail
