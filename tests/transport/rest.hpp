// SPDX-License-Identifier: Apache-2.0
// Whether anything but the test's own thread could ever move again by itself, read from the kernel. No time is measured: while all
// threads sleep without a time limit, no epoll set has anything to tell and no timer is about to go off, nothing happens. What
// beats, as the tick and the watchdog do, does so ten times a second or more; a single alarm far away may be left of a startup.
#pragma once

#include <poll.h>
#include <sys/syscall.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <expected>
#include <map>
#include <string>
#include <thread>

#include "tests/skips/sanitizers.hpp"
#include "tests/transport/support.hpp"

namespace weft::transport::test {

// --- Descriptors

// Calls `look` with the number of each descriptor of the process whose link is that of an anonymous inode of this kind.
template <typename Look>
void for_each_descriptor(const std::string& kind, Look look) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd", error)) {
    const auto target = std::filesystem::read_symlink(entry.path(), error);
    if (!error && target.string().contains(kind)) look(std::stoi(entry.path().filename()));
  }
}

// When the next of the process's timers goes off; nothing when none is set.
inline std::optional<std::chrono::nanoseconds> next_alarm() {
  std::optional<std::chrono::nanoseconds> next;
  for_each_descriptor("[timerfd]", [&](int descriptor) {
    std::ifstream file("/proc/self/fdinfo/" + std::to_string(descriptor));
    for (std::string line; std::getline(file, line);) {
      long long seconds = 0, nanoseconds = 0;
      if (std::sscanf(line.c_str(), "it_value: (%lld, %lld)", &seconds, &nanoseconds) != 2) continue;
      const auto left = std::chrono::seconds(seconds) + std::chrono::nanoseconds(nanoseconds);
      if (left.count() != 0) next = std::min(next.value_or(left), left);
    }
  });
  return next;
}

// Whether a thread that sleeps in any of the process's epoll sets is about to be woken.
inline bool any_set_is_ready() {
  bool ready = false;
  for_each_descriptor("[eventpoll]", [&](int descriptor) {
    pollfd set{.fd = descriptor, .events = POLLIN, .revents = 0};
    ready = ready || ::poll(&set, 1, 0) == 1;
  });
  return ready;
}

// --- Threads

// The system call in which a thread sleeps, and its arguments; nothing when it runs.
struct SystemCall {
  long number{};
  std::array<std::uint64_t, 6> arguments{};
};
inline std::optional<SystemCall> system_call_of(pid_t thread) {
  std::ifstream file("/proc/self/task/" + std::to_string(thread) + "/syscall");
  SystemCall call;
  if (!(file >> call.number)) return std::nullopt;  // "running"
  for (auto& argument : call.arguments) file >> std::hex >> argument;
  return call;
}

// Only an event or another thread ends such a sleep.
inline bool sleeps_without_limit(const SystemCall& call) {
  const auto& at = call.arguments;
  switch (call.number) {
#ifdef SYS_epoll_wait
    case SYS_epoll_wait:
#endif
    case SYS_epoll_pwait: return static_cast<std::int32_t>(at[3]) < 0;
    case SYS_futex: return at[3] == 0;  // no time-out
    case SYS_read: return true;
    default: return false;
  }
}

// ThreadSanitizer's own thread, which looks around now and then.
inline bool is_sanitizers(const SystemCall& call) {
  return weft::test::kThreadSanitizer && (call.number == SYS_nanosleep || call.number == SYS_clock_nanosleep);
}

// The thread's name and what it does.
inline std::string told(pid_t thread, const std::optional<SystemCall>& call) {
  std::string name;
  std::ifstream("/proc/self/task/" + std::to_string(thread) + "/comm") >> name;
  return "thread " + std::to_string(thread) + " (" + name + ") " +
         (call ? "sleeps for a time, in system call " + std::to_string(call->number) : "runs");
}

// How often each thread has gone to sleep; or which one does not sleep, or only for a time.
inline std::expected<std::map<pid_t, std::string>, std::string> all_asleep() {
  std::map<pid_t, std::string> sleeps;
  for (const pid_t thread : living_threads()) {
    if (thread == ::gettid()) continue;
    const auto call = system_call_of(thread);
    if (call && is_sanitizers(*call)) continue;
    if (!call || !sleeps_without_limit(*call)) return std::unexpected(told(thread, call));
    sleeps[thread] = status_of(thread, "voluntary_ctxt_switches:").value_or("");
  }
  return sleeps;
}

// --- Both

// What moves, or will soon; empty: nothing. Threads that were asleep before and after the look at timers and sets have not moved
// meanwhile.
inline std::string unrest() {
  const auto before = all_asleep();
  if (!before) return before.error();
  if (const auto next = next_alarm(); next && *next <= 1s) {
    return "an alarm in " + std::to_string(next->count()) + " ns";
  }
  if (any_set_is_ready()) return "a descriptor in an epoll set is ready";
  return all_asleep() == before ? "" : "a thread woke up";
}
inline bool is_at_rest() { return unrest().empty(); }

inline void expect_rest() {
  const auto end = std::chrono::steady_clock::now() + kPatience;
  for (std::string why = unrest(); !why.empty(); why = unrest()) {
    if (std::chrono::steady_clock::now() > end) {
      ADD_FAILURE() << "no rest: " << why;
      return;
    }
    std::this_thread::yield();
  }
}

// /proc/*/syscall is missing from some kernels and hidden in some containers.
inline bool rest_can_be_seen() { return system_call_of(::gettid()).has_value(); }
inline constexpr const char* kRestIsHidden =
    "this system hides which system calls threads sleep in (/proc/self/task/*/syscall): that they rest is not tested";

}  // namespace weft::transport::test
