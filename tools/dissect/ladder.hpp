// SPDX-License-Identifier: Apache-2.0
// The entries of one connection's ladder, of what its walk shows.
#pragma once

#include <array>
#include <cstdint>
#include <functional>

#include "tools/dissect/entry.hpp"
#include "tools/dissect/packet_times.hpp"

namespace weft::tools::dissect {

class Ladder {
 public:
  using Put = std::function<void(Entry)>;

  // Calls `put` for each entry that `seen` completes. `times` knows the packets up to now.
  void take(const conformance::Seen& seen, const PacketTimes& times, const Put& put);

 private:
  struct Output {
    const PacketTimes& times;
    const Put& put;
  };

  void on(const conformance::StreamingSeen& streaming, const Output& out);
  void on(const conformance::StartupSeen& startup, const Output& out);
  void on(const conformance::FpduSeen& fpdu, const Output& out);
  void on(const conformance::LostSeen& lost, const Output& out);
  void on(const conformance::ResumedSeen& resumed, const Output& out);
  void on(const conformance::EndSeen& end, const Output& out);
  void on(const conformance::CaptureOver& over, const Output& out);
  void on(const conformance::SegmentSeen&, const Output&) noexcept {}
  void break_off(conformance::Direction from, const Output& out);
  void put_messages(const Output& out);

  conformance::MessageJoiner joiner_{};
  std::array<std::uint64_t, 2> octets_before_mpa_{};  // until the startup frame is told
  std::uint64_t reset_ = 0;                           // the packet, told of both directions
};

}  // namespace weft::tools::dissect
