// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/slow_notice.hpp"

#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <stop_token>
#include <utility>

namespace weft::tools {
namespace {

constexpr std::chrono::seconds kPatience(1);

void tell_unless_stopped(const std::stop_token& stop, const std::string& sentence) {
  std::mutex mutex;
  std::condition_variable_any over;
  std::unique_lock lock(mutex);
  over.wait_for(lock, stop, kPatience, [] { return false; });
  if (!stop.stop_requested()) std::fprintf(stderr, "%s\n", sentence.c_str());
}

}  // namespace

SlowNotice::SlowNotice(std::string sentence) {
  if (::isatty(STDERR_FILENO) != 1) return;
  thread_ = std::jthread(
      [sentence = std::move(sentence)](const std::stop_token& stop) { tell_unless_stopped(stop, sentence); });
}

}  // namespace weft::tools
