// SPDX-License-Identifier: Apache-2.0
// Who takes turns within the two processes: each transport, some of them with two ways to wait.
#pragma once

#include <span>
#include <vector>

#include "tools/bench/control.hpp"
#include "tools/bench/report.hpp"

namespace weft::tools::bench {

struct Contestant {
  Transport transport{};
  Waiting waiting{};
  Series series{};
};

// Weft first.
[[nodiscard]] std::vector<Contestant> contestants(const Options& options);

// The report's part that they have measured.
[[nodiscard]] Report report_of(const Options& options, std::span<const Contestant> all);

}  // namespace weft::tools::bench
