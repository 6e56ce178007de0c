// SPDX-License-Identifier: Apache-2.0
// A signal each millisecond, to the thread that made this, as long as it lives. The signal has a handler, and system
// calls are not begun again behind it.
#pragma once

#include <gtest/gtest.h>
#include <pthread.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <thread>

namespace weft::verbs::test {

class Nagging {
 public:
  Nagging() {
    struct sigaction action{};
    action.sa_handler = [](int) {};
    EXPECT_EQ(::sigaction(SIGUSR1, &action, &before_), 0);
    thread_ = std::thread([this, nagged = ::pthread_self()] {
      while (!over_) ::pthread_kill(nagged, SIGUSR1), std::this_thread::sleep_for(std::chrono::milliseconds(1));
    });
  }
  ~Nagging() {
    over_ = true;
    thread_.join();
    EXPECT_EQ(::sigaction(SIGUSR1, &before_, nullptr), 0);
  }
  Nagging(const Nagging&) = delete;
  Nagging& operator=(const Nagging&) = delete;

 private:
  struct sigaction before_{};
  std::atomic<bool> over_{false};
  std::thread thread_;
};

}  // namespace weft::verbs::test
