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

namespace weft::tools {
namespace {

// A signal handler has nothing but globals. The descriptor is an eventfd that no thread reads: readable once, it stays so.
std::atomic<int> request_descriptor = -1;
std::atomic<bool> request_has_come = false;
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);

void make_readable(int descriptor) noexcept {
  const std::uint64_t one = 1;
  static_cast<void>(!::write(descriptor, &one, sizeof one));
}

void take_request(int) {
  const int error = errno;
  request_has_come = true;
  make_readable(request_descriptor);
  for (const int each : {SIGINT, SIGTERM}) std::signal(each, SIG_DFL);
  errno = error;
}

bool is_ignored(int number) {
  struct sigaction now{};
  return ::sigaction(number, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;
}

void answer_both(void (*handler)(int)) {
  for (const int each : {SIGINT, SIGTERM}) {
    if (!is_ignored(each)) std::signal(each, handler);
  }
}

}  // namespace

Outcome<void> catch_interruptions() {
  if (!interruptions_are_caught()) request_descriptor = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (!interruptions_are_caught())
    return failure(std::string("cannot wait for signals: ") + std::strerror(errno) + ".");
  answer_both(take_request);
  return {};
}

bool interrupted() noexcept { return request_has_come; }

bool interruptions_are_caught() noexcept { return request_descriptor >= 0; }

void leave_interruptions_to_parent() {
  std::signal(SIGINT, SIG_IGN);
  std::signal(SIGTERM, SIG_DFL);
  request_descriptor = -1;
  request_has_come = false;
}

Outcome<void> wait_readable(int descriptor, std::chrono::milliseconds grace) {
  for (;;) {
    const bool asked = interrupted();
    pollfd both[] = {{.fd = descriptor, .events = POLLIN, .revents = 0},
                     {.fd = asked ? -1 : request_descriptor.load(), .events = POLLIN, .revents = 0}};
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
  make_readable(over_.get());
  thread_.join();
  answer_both(SIG_DFL);
}

}  // namespace weft::tools
