// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/sweep.hpp"

#include <algorithm>

#include "tools/bench/measure.hpp"
#include "tools/bench/rival_run.hpp"
#include "tools/bench/statistics.hpp"

namespace weft::tools::bench {
namespace {

constexpr std::uint32_t kSmallest = 2;
constexpr std::uint32_t kLargest = 1U << 20;

void add_point(std::vector<Curve>& curves, const std::string& name, std::uint32_t size, const Series& series) {
  if (series.figures.empty()) return;
  auto curve = std::ranges::find(curves, name, &Curve::name);
  if (curve == curves.end()) curve = curves.insert(curves.end(), {.name = name});
  curve->points.emplace_back(size, median(series.figures));
}

Outcome<std::vector<Curve>> sweep_kind(Options options, Kind kind, const GlobalOptions& global) {
  std::vector<Curve> curves;
  options.kind = kind;
  // Every second power of two, and the last one.
  for (std::uint64_t size = kSmallest; size <= kLargest; size = size == kLargest / 2 ? kLargest : size * 4) {
    options.size = static_cast<std::uint32_t>(size);
    const auto report = measure_apart(options, global,
                                      "plot, " + std::string(name(kind)) + " of " + std::to_string(size) + " octets: ");
    if (!report) return std::unexpected(report.error());
    add_points(curves, *report);
  }
  return curves;
}

}  // namespace

void add_points(std::vector<Curve>& curves, const Report& report) {
  const std::uint32_t size = report.options.size;
  add_point(curves, "weft, CRC on", size, report.weft);
  add_point(curves, "raw TCP", size, report.tcp);
  for (const RivalSeries& rival : report.rivals) add_point(curves, rival.name, size, rival.series);
}

Outcome<std::vector<Panel>> sweep(const Options& common, const GlobalOptions& global) {
  auto latency = sweep_kind(common, Kind::kLatency, global);
  if (!latency) return std::unexpected(latency.error());
  auto bandwidth = sweep_kind(common, Kind::kBandwidth, global);
  if (!bandwidth) return std::unexpected(bandwidth.error());
  std::vector<std::string> notes;
  for (const RivalStack& stack : stacks_of(common.against)) {
    if (!stack.missing.empty()) notes.push_back(stack.name + ": not installed");
  }
  return std::vector<Panel>{{"Latency of a Send, half the round trip", "us", std::move(*latency), notes},
                            {"Bandwidth of Sends", "10^6 octets/s", std::move(*bandwidth), notes}};
}

}  // namespace weft::tools::bench
