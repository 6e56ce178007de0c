// SPDX-License-Identifier: Apache-2.0
// One run of one contestant: the measured end in a thread of its own, on the first processor, its peer in the calling
// thread, on the last one.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "bench/uring/end.hpp"
#include "bench/uring/network.hpp"
#include "bench/uring/support.hpp"

namespace weft::uring {

// The other end, the same for all contestants: does its part of `total` and returns.
using Peer = std::function<void(std::span<const int> sockets, std::uint64_t total)>;

Peer ask_blocking();  // on each connection a request, then on each the answer
Peer ask_spinning();
Peer feed();
Peer drain();
Peer stay_away();

struct Task {
  const Network* network = nullptr;
  std::size_t connections = 1;
  std::uint64_t warm = 0;  // requests or octets, before the meter is read first
  std::uint64_t measured = 0;
  Peer peer{};
};

struct Run {
  Meter used{};  // between the two readings
  double copied = -1;
};

Run run(const Task& task, const MakeEnd& make);

}  // namespace weft::uring
