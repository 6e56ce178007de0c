// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/pinning.hpp"

namespace weft::tools::bench {

Placement::Placement(Seat seat) noexcept {
  if (::sched_getaffinity(0, sizeof all_, &all_) != 0 || CPU_COUNT(&all_) < 2) return;
  int before = seat == Seat::kLeader ? 0 : 1;  // processors of the set to pass over
  CPU_ZERO(&mine_);
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &all_) || before-- > 0) continue;
    CPU_SET(cpu, &mine_);
    possible_ = true;
    return;
  }
}

void Placement::place(Waiting waiting) const noexcept {
  if (possible_) ::sched_setaffinity(0, sizeof all_, waiting == Waiting::kPoll ? &mine_ : &all_);
}

bool on_one_processor() noexcept {
  cpu_set_t allowed{};
  return ::sched_getaffinity(0, sizeof allowed, &allowed) == 0 && CPU_COUNT(&allowed) == 1;
}

}  // namespace weft::tools::bench
