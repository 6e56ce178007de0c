// SPDX-License-Identifier: Apache-2.0
// How long a run must be, and what the numbers of its repetitions come to.
#pragma once

#include <cstdint>
#include <vector>

#include "tools/bench/endpoint.hpp"

namespace weft::tools::bench {

// Messages that a run has at least: with several connections each fills its depth once, or the run would show how they
// begin and end.
[[nodiscard]] std::uint64_t least(const Options& options);

// Messages of the first run, which only finds out how fast the transport is.
[[nodiscard]] std::uint64_t first_guess(const Options& options);

// Messages that a run has at most: their samples take memory, and each set-up a port for a minute.
[[nodiscard]] std::uint64_t most(const Options& options);

// Messages that should take `target_seconds`, when `messages` took `seconds`.
[[nodiscard]] std::uint64_t scaled(std::uint64_t messages, double seconds, double target_seconds);

// The figure of one run in the unit of its kind: median latency, 10^6 octets per second, messages per second, or the
// set-ups per second that the median one allows.
[[nodiscard]] double figure(const Options& options, std::uint64_t messages, const RunResult& run);

// One transport's repetitions.
struct Series {
  std::vector<double> figures{};     // one a repetition
  std::vector<double> latency_us{};  // all samples, of latency and set-ups
  std::uint64_t messages{};          // of one repetition
};

}  // namespace weft::tools::bench
