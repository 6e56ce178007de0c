// SPDX-License-Identifier: Apache-2.0
#include "verbs/stream/served_queue_pair.hpp"

#include <atomic>
#include <utility>

namespace weft::verbs::detail {

namespace {

// 64 bits do not wrap: at a million queue pairs a second they last for half a million years.
std::uint64_t next_identity() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

}  // namespace

ServedQueuePair::ServedQueuePair(std::uint32_t its_number, const QueuePairAttributes& wanted,
                                 std::shared_ptr<ProtectionDomainState> its_domain,
                                 std::shared_ptr<ReceiveQueue> its_receives, const QueueDrivers& its_drivers)
    : number(its_number),
      identity(next_identity()),
      attributes(wanted),
      domain(std::move(its_domain)),
      receives(std::move(its_receives)),
      drivers(its_drivers) {}

Error full_send_queue() { return {Errc::kQueueFull, "send queue", "holds its bound of work that was not polled"}; }

}  // namespace weft::verbs::detail
