// SPDX-License-Identifier: Apache-2.0
#include "compat/rsockets/closer.hpp"

#include <poll.h>

#include <algorithm>
#include <thread>
#include <utility>

#include "compat/objects/report.hpp"
#include "compat/one_of_process.hpp"
#include "compat/rsockets/call.hpp"
#include "transport/blocked_signals.hpp"
#include "transport/descriptor_limit.hpp"

namespace weft::compat::rsockets {

namespace {

using Clock = std::chrono::steady_clock;

// Grace period for the peer's close: its late writes would otherwise meet deregistered memory, and fail.
constexpr std::chrono::seconds kGrace{1};
constexpr int kPauseWithoutMemory = 100;  // ms
// Each has up to seven descriptors, so that all of them have less than half of what the process may have.
constexpr std::size_t kShare = 16;
constexpr std::size_t kFewest = 16;
constexpr std::size_t kMost = 256;

std::atomic<Closer*>& closer_of_process() {
  static std::atomic<Closer*> one{nullptr};
  return one;
}

std::atomic<std::size_t>& under_way() {
  static std::atomic<std::size_t> count{0};
  return count;
}

}  // namespace

// TCP's connection goes when both directions are over and all is sent. Not before: what the peer takes slowly is not to
// be flushed.
bool Ending::step(Socket& self) {
  Stream& stream = *self.stream;
  if (!sent_ && stream.shut_down(true) && stream.all_sent()) {
    sent_ = true;
    until_ = Clock::now() + kGrace;
    if (!stream.lost()) static_cast<void>(self.id->disconnect());
  }
  return stream.lost() || (until_ && Clock::now() >= *until_);
}

struct Closer::Closing {
  Closing(std::shared_ptr<Socket> closed, const Ending& end)
      : socket(std::move(closed)), ending(end), sent(end.sent()) {
    ++under_way();
  }
  ~Closing() {
    socket.reset();
    --under_way();
  }
  Closing(const Closing&) = delete;
  Closing& operator=(const Closing&) = delete;

  std::shared_ptr<Socket> socket;
  Ending ending;  // the thread's
  std::atomic<bool> sent;
};

Closer& Closer::of_process() {
  return one_of_process(closer_of_process(), [] { return new Closer; });
}

void Closer::leave_to_parent() noexcept {
  closer_of_process() = nullptr;
  under_way() = 0;
}

std::size_t Closer::most() noexcept {
  return std::clamp(transport::part_of_descriptors(kShare, kMost), kFewest, kMost);
}

std::size_t Closer::count() noexcept { return under_way(); }

bool Closer::take(const std::shared_ptr<Socket>& socket, const Ending& ending) noexcept {
  std::shared_ptr<Closing> ousted;  // ends after the lock
  const int taken = guarded_minus_one([&] {
    auto one = std::make_shared<Closing>(socket, ending);
    const std::lock_guard lock(mutex_);
    if (!changed_ && !start()) return -1;
    ones_.reserve(ones_.size() + 1);
    if (ones_.size() >= most()) ousted = oust();
    ones_.push_back(std::move(one));
    changed_->raise(true);
    return 0;
  });
  return taken == 0;
}

bool Closer::start() {
  changed_.emplace();
  if (changed_->descriptor() >= 0) {
    try {
      std::thread([this] { run(); }).detach();
      return true;
    } catch (...) {
      changed_.reset();
      throw;
    }
  }
  changed_.reset();
  return false;
}

std::shared_ptr<Closer::Closing> Closer::oust() {
  auto at = std::ranges::find_if(ones_, [](const auto& one) { return one->sent.load(); });
  if (at == ones_.end()) at = ones_.begin();
  auto ousted = std::move(*at);
  ones_.erase(at);
  return ousted;
}

void Closer::forget(const std::shared_ptr<Closing>& one) {
  const std::lock_guard lock(mutex_);
  std::erase(ones_, one);
}

// --- The thread

void Closer::run() noexcept {
  transport::block_signals();
  const Inside until_the_end;
  for (;;) {
    const int done = guarded_minus_one([this] {
      round();
      return 0;
    });
    if (done != 0) ::poll(nullptr, 0, kPauseWithoutMemory);
  }
}

// Looks at all of them, and sleeps until something happens to one. No wake-up is lost: of each, prepare_wait() has said
// that its descriptors show whatever happens from now on. A number of `list` may be another file's when an ousted
// connection had it: this costs one round more.
void Closer::round() {
  std::vector<std::shared_ptr<Closing>> all;
  std::vector<pollfd> list;
  {
    const std::lock_guard lock(mutex_);
    changed_->raise(false);
    all = ones_;
    list.push_back({.fd = changed_->descriptor(), .events = POLLIN, .revents = 0});
  }
  Deadline next;
  for (const auto& one : all) {
    const State state = step(*one);
    if (state == State::kOver) {
      forget(one);
      continue;
    }
    const Deadline until = state == State::kBusy ? Clock::now() : one->ending.until();
    next = next ? std::min(next, until) : until;
    Socket& socket = *one->socket;
    list.push_back({.fd = socket.events->descriptor(), .events = POLLIN, .revents = 0});
    list.push_back({.fd = socket.stream->endpoint().channel.descriptor(), .events = POLLIN, .revents = 0});
  }
  all.clear();  // those that are over end here
  ::poll(list.data(), list.size(), milliseconds_until(next));
}

Closer::State Closer::step(Closing& one) noexcept {
  State state = State::kOver;
  static_cast<void>(guarded_minus_one([&] {  // without memory, it is reset
    Socket& socket = *one.socket;
    const std::lock_guard lock(socket.mutex);
    if (one.ending.step(socket)) return 0;
    one.sent = one.ending.sent();
    state = socket.prepare_wait() ? State::kCalm : State::kBusy;
    return 0;
  }));
  return state;
}

}  // namespace weft::compat::rsockets
