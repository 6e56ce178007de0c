// SPDX-License-Identifier: Apache-2.0
// When packets were captured. The walk names packets by number, some of them long after they came.
#pragma once

#include <cstdint>
#include <vector>

#include "conformance/packet.hpp"

namespace weft::tools::dissect {

class PacketTimes {
 public:
  static constexpr std::size_t kKept = std::size_t{1} << 18;  // the latest ones: 2 MiB

  // Notes the time of each packet of the capture, in order.
  void note(const conformance::Packet& packet) {
    if (times_.empty()) first_ = packet.time;
    last_ = packet.number;
    if (times_.size() < kKept) return times_.push_back(packet.time);
    times_[(packet.number - 1) % kKept] = packet.time;
  }
  // Nanoseconds since the first packet of the capture. Of a packet that is not kept any more, those of the oldest that
  // is.
  [[nodiscard]] std::int64_t since_first(std::uint64_t packet) const noexcept {
    if (times_.empty()) return 0;
    const std::uint64_t oldest = last_ - times_.size() + 1;
    const std::uint64_t kept = packet < oldest ? oldest : packet;
    return times_[(kept - 1) % kKept] - first_;
  }

 private:
  std::int64_t first_ = 0;
  std::uint64_t last_ = 0;
  std::vector<std::int64_t> times_{};
};

}  // namespace weft::tools::dissect
