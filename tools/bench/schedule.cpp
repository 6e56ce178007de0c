// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/schedule.hpp"

#include <algorithm>

#include "tools/bench/statistics.hpp"

namespace weft::tools::bench {
namespace {

constexpr std::uint64_t kMaxMessages = 10'000'000;  // bounds the memory of the latency samples

}  // namespace

std::uint64_t least(const Options& options) {
  return options.connections == 1 ? 1 : std::uint64_t{options.connections} * effective_depth(options);
}

std::uint64_t first_guess(const Options& options) {
  switch (options.kind) {
    case Kind::kLatency: return 200;
    case Kind::kBandwidth: return std::clamp<std::uint64_t>((8u << 20) / options.size, 16, 10'000);
    case Kind::kRate: return 5'000;
    case Kind::kSetup: return 10;
  }
  return 1;
}

std::uint64_t most(const Options& options) { return options.kind == Kind::kSetup ? 300 : kMaxMessages; }

std::uint64_t scaled(std::uint64_t messages, double seconds, double target_seconds) {
  const double wanted = static_cast<double>(messages) * target_seconds / std::max(seconds, 1e-6);
  return static_cast<std::uint64_t>(std::clamp(wanted, 1.0, static_cast<double>(kMaxMessages)));
}

double figure(const Options& options, std::uint64_t messages, const RunResult& run) {
  const double per_second = static_cast<double>(messages) / run.seconds;
  switch (options.kind) {
    case Kind::kLatency: return median(run.latency_us);
    case Kind::kBandwidth: return per_second * options.size / 1e6;
    case Kind::kRate: return per_second;
    case Kind::kSetup: return 1e6 / median(run.latency_us);  // without the time that closing takes
  }
  return 0;
}

}  // namespace weft::tools::bench
