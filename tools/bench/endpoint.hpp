// SPDX-License-Identifier: Apache-2.0
// One end of a measured connection. Two transports implement it, weft and raw TCP, and the driver treats them alike:
// what is compared is the same pattern.
//
// The leader measures, the follower answers. A run is a fixed number of messages that both know:
//
//   latency    send, write: the message goes there and one of the same size comes back; a sample is half the round trip
//              read: a request goes there and the data comes back; a sample is the whole round trip
//   setup      a connection is set up and closed again; a sample is the time until the leader knows that it is there
//   stream     send, write: messages one way, at most `depth` under way; ends with the follower's word that it has all
//              (bw, rate) read: the leader keeps `depth` requests under way; ends with the last response
#pragma once

#include <cstdint>
#include <vector>

#include "tools/bench/options.hpp"
#include "tools/cli/outcome.hpp"

namespace weft::tools::bench {

// How an end waits for the other. Where weft is told to sleep it does so as Options::blocking says.
enum class Waiting : std::uint8_t { kPoll, kSleep };

// What a leader saw in one run.
struct RunResult {
  double seconds{};                  // the whole run
  std::vector<double> latency_us{};  // latency: one sample a message; set-ups: one each
};

// Where both ends poll, they offer the processor to others after this number of polls in vain: where there are fewer
// processors than processes that want one, the other may be the one that is waited for. On a machine at rest this is
// never reached.
inline constexpr std::uint32_t kSpinsBeforeYield = 512;

class Endpoint {
 public:
  virtual ~Endpoint() = default;

  // Outside the measurement, before each run or check: the follower's receives are posted when this returns.
  virtual Outcome<void> prepare(Waiting waiting) = 0;
  virtual Outcome<RunResult> lead(std::uint64_t messages) = 0;
  virtual Outcome<void> follow(std::uint64_t messages) = 0;

  // A run of one message whose content is compared octet by octet by the side that receives it. `seed` differs per
  // check.
  virtual Outcome<void> lead_check(std::uint8_t seed) = 0;
  virtual Outcome<void> follow_check(std::uint8_t seed) = 0;
};

}  // namespace weft::tools::bench
