// SPDX-License-Identifier: Apache-2.0
// A signal each millisecond, to the thread that made this, as long as it lives. The signal has a handler, and system
// calls are not begun again after it.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <ctime>

namespace weft::verbs::test {

class Nagging {
 public:
  Nagging() {
    struct sigaction action{};
    action.sa_handler = [](int) {};
    EXPECT_EQ(::sigaction(SIGUSR1, &action, &before_), 0);
    sigevent event{};
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = SIGUSR1;
    event._sigev_un._tid = ::gettid();
    EXPECT_EQ(::timer_create(CLOCK_MONOTONIC, &event, &timer_), 0);
    constexpr timespec kMillisecond{.tv_sec = 0, .tv_nsec = 1'000'000};
    constexpr itimerspec kEach{.it_interval = kMillisecond, .it_value = kMillisecond};
    EXPECT_EQ(::timer_settime(timer_, 0, &kEach, nullptr), 0);
  }
  ~Nagging() {
    EXPECT_EQ(::timer_delete(timer_), 0);
    EXPECT_EQ(::sigaction(SIGUSR1, &before_, nullptr), 0);
  }
  Nagging(const Nagging&) = delete;
  Nagging& operator=(const Nagging&) = delete;

 private:
  struct sigaction before_{};
  timer_t timer_{};
};

}  // namespace weft::verbs::test
