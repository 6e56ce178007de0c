// SPDX-License-Identifier: Apache-2.0
// Order statistics. Medians, because one interrupted repetition says nothing about the code.
#pragma once

#include <vector>

namespace weft::tools::bench {

// The value below which the fraction q (0 to 1) of the samples lies, interpolated between neighbors; 0 without
// samples.
[[nodiscard]] double quantile(std::vector<double> samples, double q);
[[nodiscard]] inline double median(std::vector<double> samples) { return quantile(std::move(samples), 0.5); }

// Half the distance between the quartiles, as a fraction of the median: how far the repetitions lie apart.
[[nodiscard]] double relative_spread(const std::vector<double>& samples);

// Above this the figure says more about what else the machine did.
inline constexpr double kNoisySpread = 0.1;

}  // namespace weft::tools::bench
