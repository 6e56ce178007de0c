// SPDX-License-Identifier: Apache-2.0
// What all parts of this benchmark use: how it gives up, and how it meters the thread that is measured.
#pragma once

#include <sys/resource.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>

namespace weft::uring {

[[noreturn]] inline void give_up(const std::string& why) {
  std::fprintf(stderr, "weft_uring_bench: %s\n", why.c_str());
  std::_Exit(1);
}

inline void need(bool fine, const char* what) {
  if (!fine) give_up(std::string(what) + ": " + std::strerror(errno));
}

// io_uring tells errors as negative results.
inline int need_result(int result, const char* what) {
  if (result < 0) give_up(std::string(what) + ": " + std::strerror(-result));
  return result;
}

// Each system call of the data path passes through counted(); strace -c says the same.
inline thread_local std::uint64_t system_calls = 0;

template <typename Result>
Result counted(Result result) {
  ++system_calls;
  return result;
}

// One look at what the calling thread, and all of the process, have used so far.
struct Meter {
  double seconds{};
  double cpu{};       // of this thread
  double cpu_both{};  // of the process: this end and its peer
  double calls{};
  double sleeps{};

  static double clock(clockid_t which) {
    timespec time{};
    clock_gettime(which, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
  }

  static Meter now() {
    rusage usage{};
    getrusage(RUSAGE_THREAD, &usage);
    return {clock(CLOCK_MONOTONIC), clock(CLOCK_THREAD_CPUTIME_ID), clock(CLOCK_PROCESS_CPUTIME_ID),
            static_cast<double>(system_calls), static_cast<double>(usage.ru_nvcsw)};
  }
};

}  // namespace weft::uring
