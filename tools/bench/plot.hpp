// SPDX-License-Identifier: Apache-2.0
// Latency and bandwidth over message size as an SVG: two panels side by side, all axes logarithmic.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace weft::tools::bench {

struct Curve {
  std::string name{};
  std::vector<std::pair<double, double>> points{};  // octets and figure, both above 0
};

struct Panel {
  std::string title{};
  std::string unit{};
  std::vector<Curve> curves{};       // those without points are left out
  std::vector<std::string> notes{};  // below the names of the curves: "ucx: not installed"
};

[[nodiscard]] std::string as_svg(const std::vector<Panel>& panels);

}  // namespace weft::tools::bench
