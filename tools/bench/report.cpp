// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/report.hpp"

#include <algorithm>
#include <cstdio>
#include <limits>

#include "common/json.hpp"
#include "tools/bench/statistics.hpp"

namespace weft::tools::bench {
namespace {

double ratio(const Report& report) {
  const double tcp = median(report.tcp.figures);
  return tcp == 0 ? 0 : median(report.weft.figures) / tcp;
}

std::string line(const char* who, const Options& options, const Series& series) {
  char text[200];
  int length = std::snprintf(text, sizeof text, "  %-5s %12.2f %-6s (+-%4.1f %% over %zu repetitions of %llu messages)",
                             who, median(series.figures), std::string(unit(options.kind)).c_str(),
                             100 * relative_spread(series.figures), series.figures.size(),
                             static_cast<unsigned long long>(series.messages));
  std::string out(text, static_cast<std::size_t>(length));
  if (options.kind != Kind::kLatency) return out + '\n';
  length = std::snprintf(text, sizeof text, "; p10 %.2f, p99 %.2f, p99.9 %.2f us\n", quantile(series.latency_us, 0.1),
                         quantile(series.latency_us, 0.99), quantile(series.latency_us, 0.999));
  return out + std::string(text, static_cast<std::size_t>(length));
}

std::string rival_line(const Report& report, const RivalSeries& rival) {
  if (!rival.reason.empty()) return "  " + rival.name + ": no figure: " + rival.reason + ".\n";
  const double theirs = median(rival.series.figures);
  char text[200];
  const int length = std::snprintf(
      text, sizeof text, "  %-12.2f %-6s %s (+-%4.1f %% over %zu repetitions); weft/this %.2f\n", theirs,
      std::string(unit(report.options.kind)).c_str(), rival.name.c_str(), 100 * relative_spread(rival.series.figures),
      rival.series.figures.size(), theirs == 0 ? 0 : median(report.weft.figures) / theirs);
  return {text, static_cast<std::size_t>(length)};
}

void put_rivals(JsonWriter& json, const Report& report) {
  json.begin_array("rivals");
  for (const RivalSeries& rival : report.rivals) {
    json.begin_object().put("name", rival.name);
    if (rival.reason.empty()) {
      json.put("median", median(rival.series.figures)).put("runs", rival.series.figures);
    } else {
      json.put("reason", rival.reason);
    }
    json.end();
  }
  json.end();
}

bool noisy(const Report& report) {
  return std::max(relative_spread(report.weft.figures), relative_spread(report.tcp.figures)) > kNoisySpread;
}

std::string more_text(const Options& options) {
  std::string text;
  if (options.connections != 1) text += "; " + std::to_string(options.connections) + " connections";
  if (!options.policy.text.empty()) text += "; policy " + options.policy.text;
  if (options.segments.emss != 0) text += "; segments of " + std::to_string(options.segments.emss) + " octets";
  if (options.blocking != Blocking::kPoll) text += "; both ends blocking (" + std::string(name(options.blocking)) + ")";
  if (options.idle_target) text += "; the target's application asleep";
  return text;
}

std::string title_of_setup(const Options& options) {
  const std::string who = options.caller == Caller::kFresh ? ", each by a new process" : "";
  return "set-up of connections, one after the other" + who + "; CRC " + (options.crc ? "on" : "off") +
         ", two processes on loopback" + more_text(options) + '\n';
}

std::string title(const Options& options) {
  if (options.kind == Kind::kSetup) return title_of_setup(options);
  char text[200];
  const int length = std::snprintf(
      text, sizeof text, "%s of %s, %u octets, depth %u, lists of %u; CRC %s, markers %s, two processes on loopback%s",
      options.kind == Kind::kLatency     ? "latency"
      : options.kind == Kind::kBandwidth ? "bandwidth"
                                         : "message rate",
      std::string(name(options.op)).c_str(), options.size, effective_depth(options), list_length(options),
      options.crc ? "on" : "off", options.markers ? "on" : "off",
      options.pattern == Pattern::kPerftest ? "; perftest's pattern, without raw TCP" : "");
  return std::string(text, static_cast<std::size_t>(length)) + more_text(options) + '\n';
}

void put_series(JsonWriter& json, const std::string& who, const Options& options, const Series& series) {
  json.put(who + "_runs", series.figures);
  json.put(who + "_messages", series.messages);
  json.put(who + "_spread", relative_spread(series.figures));
  if (options.kind != Kind::kLatency) return;
  json.put(who + "_p10", quantile(series.latency_us, 0.1));
  json.put(who + "_p99", quantile(series.latency_us, 0.99));
}

}  // namespace

std::string as_text(const Report& report) {
  std::string text = title(report.options) + line("weft", report.options, report.weft);
  if (with_tcp(report.options)) {
    char last[100];
    const int length = std::snprintf(last, sizeof last, "  ratio %12.2f weft/tcp (%s is better)\n", ratio(report),
                                     lower_is_better(report.options.kind) ? "lower" : "higher");
    text += line("tcp", report.options, report.tcp) + std::string(last, static_cast<std::size_t>(length));
  }
  for (const RivalSeries& rival : report.rivals) text += rival_line(report, rival);
  if (noisy(report)) {
    text += "  noisy: the repetitions differ too much for a firm figure; was the machine busy?\n";
  }
  return text;
}

std::string as_json(const Report& report) {
  const Options& options = report.options;
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  JsonWriter json;
  json.put("bench", name(options.kind)).put("op", name(options.op)).put("size", options.size);
  json.put("depth", effective_depth(options)).put("list", list_length(options));
  // Without a limit there is no one number: FPDUs follow TCP's segment size, which on loopback doubles during a run.
  json.put("connections", options.connections).put("emss", options.segments.emss == 0 ? kNone : options.segments.emss);
  json.put("mtu", options.segments.mtu == 0 ? kNone : options.segments.mtu);
  json.put("crc", options.crc).put("markers", options.markers).put("policy", options.policy.text);
  json.put("unit", unit(options.kind)).put("better", lower_is_better(options.kind) ? "lower" : "higher");
  const bool tcp = with_tcp(options);
  json.put("weft", median(report.weft.figures))
      .put("tcp", tcp ? median(report.tcp.figures) : kNone)
      .put("ratio", tcp ? ratio(report) : kNone);
  json.put("blocking", name(options.blocking)).put("idle_target", options.idle_target);
  json.put("fresh", options.caller == Caller::kFresh);
  json.put("pattern", name(options.pattern)).put("signal_every", signal_interval(options));
  json.put("noisy", noisy(report)).put("pinned", report.pinned);
  json.put("complete", report.complete).put("repetitions", report.weft.figures.size());
  if (tcp) json.put("tcp_waiting", report.tcp_sleeps ? "sleep" : "poll");
  put_series(json, "weft", options, report.weft);
  if (tcp) put_series(json, "tcp", options, report.tcp);
  put_rivals(json, report);
  return json.finish();
}

}  // namespace weft::tools::bench
