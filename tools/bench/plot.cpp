// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/plot.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdarg>
#include <cstdint>
#include <cstdio>

#include "tools/cli/markup.hpp"

namespace weft::tools::bench {
namespace {

constexpr double kPanelWidth = 560;
constexpr double kHeight = 440;
constexpr double kLeft = 70;  // of a panel: room for the labels of its axis
constexpr double kRight = 20;
constexpr double kTop = 40;
constexpr double kBottom = 50;
constexpr std::array kColours{"#0b62c4", "#555555", "#c4480b", "#18864b", "#8a2bb0", "#b08a00"};

[[gnu::format(printf, 1, 2)]] std::string text(const char* format, ...) {
  char buffer[400];
  std::va_list arguments;
  va_start(arguments, format);
  const int length = std::vsnprintf(buffer, sizeof buffer, format, arguments);
  va_end(arguments);
  return {buffer, static_cast<std::size_t>(std::clamp(length, 0, static_cast<int>(sizeof buffer) - 1))};
}

// A logarithmic axis: from whole powers of its base to whole powers, and where a value lies between two places.
struct Axis {
  double base{};
  double low{};  // exponents
  double high{};
  double from{};  // places
  double to{};

  [[nodiscard]] double at(double value) const {
    return from + (to - from) * (std::log(value) / std::log(base) - low) / (high - low);
  }
};

Axis axis_over(const Panel& panel, bool horizontal, double base, double from, double to) {
  double least = 1e300;
  double most = 0;
  for (const Curve& curve : panel.curves) {
    for (const auto& [octets, figure] : curve.points) {
      least = std::min(least, horizontal ? octets : figure);
      most = std::max(most, horizontal ? octets : figure);
    }
  }
  if (most == 0) least = most = 1;
  const double low = std::floor(std::log(least) / std::log(base) + 1e-9);
  const double high = std::ceil(std::log(most) / std::log(base) - 1e-9);
  return {base, low, std::max(high, low + 1), from, to};
}

std::string size_name(double octets) {
  if (octets >= 1 << 20) return text("%.0f MiB", octets / (1 << 20));
  if (octets >= 1 << 10) return text("%.0f KiB", octets / (1 << 10));
  return text("%.0f", octets);
}

std::string grid(const Axis& x, const Axis& y, double left) {
  std::string out;
  for (double e = x.low; e <= x.high; e += 1) {
    const double place = x.at(std::pow(2, e));
    out += text("<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"#e4e4e4\"/>\n", place, y.from, place,
                y.to);
    if (std::fmod(e - x.low, 3) != 0) continue;
    out += text("<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%s</text>\n", place, y.from + 18,
                size_name(std::pow(2, e)).c_str());
  }
  for (double e = y.low; e <= y.high; e += 1) {
    const double place = y.at(std::pow(10, e));
    out += text("<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"#cccccc\"/>\n", x.from, place, x.to,
                place);
    out += text("<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">%g</text>\n", left + kLeft - 6, place + 4,
                std::pow(10, e));
  }
  return out;
}

std::string draw(const Curve& curve, const Axis& x, const Axis& y, const char* colour) {
  std::string line = text("<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"2\" points=\"", colour);
  std::string dots;
  for (const auto& [octets, figure] : curve.points) {
    line += text("%.1f,%.1f ", x.at(octets), y.at(figure));
    dots += text("<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"%s\"/>\n", x.at(octets), y.at(figure), colour);
  }
  return line + "\"/>\n" + dots;
}

double legend_row(std::size_t row) { return kTop + 16 + 18 * static_cast<double>(row); }

std::string legend_text(const std::string& words, std::size_t row, double left) {
  return text("<text x=\"%.1f\" y=\"%.1f\">", left + kLeft + 42, legend_row(row)) + escape(words) + "</text>\n";
}

std::string legend(const std::string& name, std::size_t row, double left, const char* colour) {
  const double place = legend_row(row);
  return text("<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\" stroke-width=\"3\"/>\n",
              left + kLeft + 12, place - 4, left + kLeft + 36, place - 4, colour) +
         legend_text(name, row, left);
}

std::string draw(const Panel& panel, double left) {
  const Axis x = axis_over(panel, true, 2, left + kLeft, left + kPanelWidth - kRight);
  const Axis y = axis_over(panel, false, 10, kHeight - kBottom, kTop);
  std::string out = text("<text x=\"%.1f\" y=\"24\" font-size=\"15\">", left + kLeft) +
                    escape(panel.title + ", " + panel.unit) + "</text>\n" + grid(x, y, left);
  out += text("<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">octets of a message</text>\n", (x.from + x.to) / 2,
              kHeight - 10);
  std::size_t row = 0;
  for (const Curve& curve : panel.curves) {
    if (curve.points.empty()) continue;
    const char* colour = kColours[row % kColours.size()];
    out += draw(curve, x, y, colour) + legend(curve.name, row++, left, colour);
  }
  for (const std::string& note : panel.notes) out += legend_text(note, row++, left);
  return out;
}

}  // namespace

std::string as_svg(const std::vector<Panel>& panels) {
  const double width = kPanelWidth * static_cast<double>(panels.size());
  std::string out = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
  out += text(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" width=\"%.0f\" height=\"%.0f\" "
      "font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
      width, kHeight, width, kHeight);
  for (std::size_t i = 0; i < panels.size(); ++i) out += draw(panels[i], kPanelWidth * static_cast<double>(i));
  return out + "</svg>\n";
}

}  // namespace weft::tools::bench
