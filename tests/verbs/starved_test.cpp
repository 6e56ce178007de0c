// SPDX-License-Identifier: Apache-2.0
// Where processors are few, a thread that polls does the work that a progress thread gets no processor for. A process
// of its own: its threads keep the little that they are given here.
#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <string>

#include "loopback.hpp"

namespace weft::verbs::test {
namespace {

// All on one processor, and all but the calling thread only when no other thread wants it.
void starve_the_others() {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(::sched_getcpu(), &one);
  const sched_param none{};
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task")) {
    const std::string name = entry.path().filename();
    pid_t thread = 0;
    std::from_chars(name.data(), name.data() + name.size(), thread);
    ASSERT_EQ(::sched_setaffinity(thread, sizeof one, &one), 0);
    if (thread == ::gettid()) continue;
    ASSERT_EQ(::sched_setscheduler(thread, SCHED_IDLE, &none), 0);
  }
}

TEST(Starved, WhoPollsPlacesWhatIsWrittenOnOtherConnections) {
  constexpr std::size_t kRounds = 20;
  constexpr long kSoon = 1000;  // polls: alone, the progress thread comes to it within ten times as many
  Pair polled;
  Pair passive;
  Buffer near{passive.client, 64};
  Buffer far{passive.server, 64};
  starve_the_others();
  std::array<WorkCompletion, 1> none;
  std::array<long, kRounds> polls{};
  for (std::size_t round = 0; round < kRounds; ++round) {
    const auto value = static_cast<std::byte>(round + 1);
    write_octet(*passive.client.qp, near, far, value);
    const auto end = std::chrono::steady_clock::now() + kPatience;
    while (look_at(far.octets.data()) != value) {
      ASSERT_EQ(must(polled.client.cq.poll(none), "poll"), 0U);
      ++polls[round];
      ASSERT_LT(std::chrono::steady_clock::now(), end);
    }
  }
  std::ranges::sort(polls);
  EXPECT_LE(polls[kRounds / 2], kSoon);
}

}  // namespace
}  // namespace weft::verbs::test
