// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/interruption.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <string>
#include <system_error>

#include "transport/system_words.hpp"

namespace weft::tools {
namespace {

// A signal handler has nothing but globals. The switch stays as long as one may run.
std::atomic<conformance::StopSwitch*> caught_by = nullptr;
static_assert(std::atomic<conformance::StopSwitch*>::is_always_lock_free);

void take_request(int) {
  for (const int each : {SIGINT, SIGTERM}) std::signal(each, SIG_DFL);
  if (conformance::StopSwitch* const stop = caught_by) stop->stop();
}

void answer_both(void (*handler)(int)) {
  for (const int each : {SIGINT, SIGTERM}) {
    if (!is_answered_by(each, SIG_IGN)) std::signal(each, handler);
  }
}

}  // namespace

bool is_answered_by(int number, void (*handler)(int)) {
  struct sigaction now{};
  return ::sigaction(number, nullptr, &now) == 0 && now.sa_handler == handler;
}

Outcome<void> catch_interruptions() {
  try {
    if (!interruptions_are_caught()) caught_by = new conformance::StopSwitch;
  } catch (const std::system_error& error) {
    return failure(std::string("cannot wait for signals: ") + system_words(error.code().value()) + ".");
  }
  answer_both(take_request);
  return {};
}

conformance::StopSwitch& interruption_switch() noexcept { return *caught_by; }

bool interrupted() noexcept { return interruptions_are_caught() && interruption_switch().stopped(); }

bool interruptions_are_caught() noexcept { return caught_by != nullptr; }

// SIGTERM: SIGINT may be ignored.
InterruptionsCaught::InterruptionsCaught() : before_(is_answered_by(SIGTERM, take_request)) {
  if (!before_) static_cast<void>(catch_interruptions());
}

InterruptionsCaught::~InterruptionsCaught() {
  if (!before_) answer_both(SIG_DFL);
}

void leave_interruptions_to_parent() {
  std::signal(SIGINT, SIG_IGN);
  std::signal(SIGTERM, SIG_DFL);
  delete caught_by.exchange(nullptr);  // no handler comes by it any more
}

Outcome<void> wait_readable(int descriptor, std::chrono::milliseconds grace) {
  for (;;) {
    const bool asked = interrupted();
    const int request = !asked && interruptions_are_caught() ? interruption_switch().descriptor() : -1;
    pollfd both[] = {{.fd = descriptor, .events = POLLIN, .revents = 0},
                     {.fd = request, .events = POLLIN, .revents = 0}};
    const int ready = ::poll(both, 2, asked ? static_cast<int>(grace.count()) : -1);
    if (ready < 0 && errno != EINTR) return failure(std::string("poll: ") + std::strerror(errno) + ".");
    if (ready > 0 && both[0].revents != 0) return {};
    if (ready == 0) return std::unexpected(Failure{"interrupted.", ExitCode::kInterrupted});
  }
}

InterruptionWatch::InterruptionWatch(std::function<void()> then) : over_(::eventfd(0, EFD_CLOEXEC)) {
  if (!over_.valid() || !catch_interruptions()) return;  // then a signal ends the process, as ever
  thread_ = std::thread([over = over_.get(), then = std::move(then)] {
    if (!wait_readable(over)) then();
  });
}

InterruptionWatch::~InterruptionWatch() {
  if (!thread_.joinable()) return;
  constexpr std::uint64_t kOver = 1;
  static_cast<void>(::write(over_.get(), &kOver, sizeof kOver) < 0);
  thread_.join();
  answer_both(SIG_DFL);
}

}  // namespace weft::tools
