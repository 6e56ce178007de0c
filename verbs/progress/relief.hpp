// SPDX-License-Identifier: Apache-2.0
// The selection of who serves the sockets of the progress threads: the second table of docs/progress.md.
#pragma once

#include <cstddef>
#include <cstdint>

namespace weft::verbs::detail {

struct ReliefFacts {
  std::size_t threads = 1;   // progress threads
  bool sockets{};            // they have any; without one the thread disturbs no other, and its listeners need it
  bool proxy{};              // a thread that waits for connection events is present
  bool messages{};           // came for established connections since the last look
  bool sleepers{};           // threads that sleep until an event of a set-up
  bool pollers_have_time{};  // since the last tick
};

enum class Server : std::uint8_t { kProgressThreads, kPollers, kProxy };

constexpr Server relief(const ReliefFacts& facts) noexcept {
  if (facts.threads != 1) return Server::kProgressThreads;  // then there are processors enough
  if (facts.proxy && !facts.messages && !facts.sleepers) return Server::kProxy;
  return facts.pollers_have_time && facts.sockets ? Server::kPollers : Server::kProgressThreads;
}

}  // namespace weft::verbs::detail
