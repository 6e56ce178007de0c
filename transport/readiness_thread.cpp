// SPDX-License-Identifier: Apache-2.0
#include "transport/readiness_thread.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

#include "transport/blocked_signals.hpp"
#include "transport/cancellation.hpp"
#include "transport/own_descriptors.hpp"

namespace weft::transport {
namespace {

constexpr std::uint64_t kBell = 0;

}  // namespace

ReadinessThread::Bell::Bell() noexcept : descriptor_(move_up(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK))) {}

ReadinessThread::Bell::~Bell() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void ReadinessThread::Bell::ring() const noexcept {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(descriptor_, &one, sizeof one);
}

void ReadinessThread::Bell::silence() const noexcept {
  std::uint64_t rung = 0;
  [[maybe_unused]] const auto read = ::read(descriptor_, &rung, sizeof rung);
}

std::expected<ReadinessThread, std::error_code> ReadinessThread::create(Serve serve) {
  auto sockets = ReadinessSet::create();
  if (!sockets) return std::unexpected(sockets.error());
  ReadinessThread made(std::move(*sockets), std::move(serve));
  if (made.bell_.descriptor() < 0) return std::unexpected(std::error_code(errno, std::system_category()));
  if (const auto error = made.sockets_.watch(made.bell_.descriptor(), kBell)) return std::unexpected(error);
  return made;
}

void ReadinessThread::stop() {
  if (!thread_.joinable()) return;
  change(Duty::kEnd);
  thread_.join();
}

void ReadinessThread::rest() { change(Duty::kRest); }
void ReadinessThread::resume() { change(Duty::kServe); }

// The end is final: what is served last, or another thread, may tell it to go on meanwhile.
void ReadinessThread::change(Duty duty) {
  if (serving_->gone) return;  // the bell's number may be another file's by now
  Duty before = serving_->duty;
  do {
    if (before == duty || before == Duty::kEnd) return;
  } while (!serving_->duty.compare_exchange_weak(before, duty));
  const NoCancellation here;
  serving_->duty.notify_one();  // wherever it sleeps
  bell_.ring();
}

void ReadinessThread::start(std::function<void()> first, std::function<void()> gone) {
  if (thread_.joinable()) return;
  thread_ = std::thread([this, first = std::move(first), gone = std::move(gone)] {
    block_signals();
    if (first) first();
    run();
    if (serving_->gone && gone) gone();
  });
}

void ReadinessThread::run() {
  std::array<Ready, ReadinessSet::kMaxReady> ready;
  for (Duty duty{}; (duty = serving_->duty) != Duty::kEnd;) {
    if (duty == Duty::kRest) {
      serving_->duty.wait(duty);
      continue;
    }
    const std::size_t count = sockets_.wait(ready, ReadinessSet::kForEver);
    if (count == 0 && !ReadinessSet::was_there()) {
      serving_->gone = true;
      return;
    }
    const std::lock_guard lock(serving_->mutex);
    serving_->late_since.reset();
    serve(std::span(ready).first(count), [this] { return serving_->duty == Duty::kServe; });
  }
}

// What `may_serve` leaves is still ready when a thread waits the next time. Of an end of a socket that is neither read
// nor written, and of what comes to a visitor, the kernel tells once: those are not left.
void ReadinessThread::serve(std::span<const Ready> ready, auto may_serve) {
  for (const Ready& one : ready) {
    if (one.token == kBell) {
      bell_.silence();
    } else if (one.token >= kFirstVisitor) {
      call(one.token);
    } else if (one.hangup || may_serve()) {
      serve_(one);
    }
  }
}

void ReadinessThread::help(std::chrono::microseconds late, std::size_t most) {
  const NoCancellation here;
  const std::unique_lock lock(serving_->mutex, std::try_to_lock);
  if (!lock || (serving_->duty != Duty::kRest && !is_late(late))) return;
  std::array<Ready, ReadinessSet::kMaxReady> ready;
  serve(std::span(ready).first(sockets_.wait(std::span(ready).first(most))), [] { return true; });
}

bool ReadinessThread::serves_now() const noexcept {
  const std::unique_lock lock(serving_->mutex, std::try_to_lock);
  return !lock;
}

bool ReadinessThread::serve_one() {
  const NoCancellation here;
  const std::lock_guard lock(serving_->mutex);
  std::array<Ready, 1> ready;
  const std::size_t count = sockets_.wait(ready);
  serving_->late_since.reset();
  serve(std::span(ready).first(count), [] { return true; });
  return count != 0;
}

bool ReadinessThread::is_late(std::chrono::microseconds late) {
  if (!sockets_.any_ready()) return false;
  const auto now = std::chrono::steady_clock::now();
  if (!serving_->late_since) serving_->late_since = now;
  return now - *serving_->late_since >= late;
}

// --- Sockets for `serve`

std::error_code ReadinessThread::add(const Socket& socket, std::uint64_t token, Interest interest) noexcept {
  const auto error = sockets_.add(socket, token, interest);
  if (!error) ++serving_->sockets;
  return error;
}

void ReadinessThread::remove(const Socket& socket) noexcept {
  sockets_.remove(socket);
  --serving_->sockets;
}

// --- Visitors

std::expected<std::uint64_t, std::error_code> ReadinessThread::visit(const Socket& socket, Come come) {
  const std::lock_guard lock(visitors_->mutex);  // the thread finds it, however soon something comes
  const std::uint64_t token = visitors_->next++;
  if (const auto error = sockets_.add_edges(socket, token)) return std::unexpected(error);
  visitors_->come.emplace(token, std::make_shared<const Come>(std::move(come)));
  return token;
}

void ReadinessThread::leave(const Socket& socket, std::uint64_t token) {
  sockets_.remove(socket);
  decltype(Visitors::come)::node_type last;  // ends after the lock: what it holds may take locks of its own
  const std::lock_guard lock(visitors_->mutex);
  last = visitors_->come.extract(token);
}

void ReadinessThread::call(std::uint64_t visitor) {
  std::shared_ptr<const Come> come;
  {
    const std::lock_guard lock(visitors_->mutex);
    const auto found = visitors_->come.find(visitor);
    if (found != visitors_->come.end()) come = found->second;
  }
  if (come) (*come)();
}

}  // namespace weft::transport
