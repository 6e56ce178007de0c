// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace weft::tools::bench {

double quantile(std::vector<double> samples, double q) {
  if (samples.empty()) return 0;
  std::sort(samples.begin(), samples.end());
  const double position = q * static_cast<double>(samples.size() - 1);
  const auto below = static_cast<std::size_t>(std::floor(position));
  const std::size_t above = std::min(below + 1, samples.size() - 1);
  return std::lerp(samples[below], samples[above], position - static_cast<double>(below));
}

double relative_spread(const std::vector<double>& samples) {
  const double middle = median(samples);
  if (middle == 0) return 0;
  return (quantile(samples, 0.75) - quantile(samples, 0.25)) / 2 / middle;
}

}  // namespace weft::tools::bench
