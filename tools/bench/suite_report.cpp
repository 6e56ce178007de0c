// SPDX-License-Identifier: Apache-2.0
// The suite's results for people and for programs.
#include <sys/utsname.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <limits>
#include <thread>

#include "common/crc32c_routine.hpp"
#include "common/json.hpp"
#include "tools/bench/statistics.hpp"
#include "tools/bench/suite.hpp"
#include "tools/cli/version.hpp"

namespace weft::tools::bench {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

std::string processor() {
  std::ifstream lines("/proc/cpuinfo");
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("model name") && line.find(": ") != std::string::npos) return line.substr(line.find(": ") + 2);
  }
  return "unknown";
}

std::string date() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  char text[32];
  return {text, std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", ::gmtime_r(&now, &parts))};
}

void put_machine(JsonWriter& json, const SuiteSetting& setting) {
  utsname names{};
  ::uname(&names);
  json.begin_object("machine").put("processor", processor()).put("processors", std::thread::hardware_concurrency());
  json.put("kernel", std::string(names.release) + ' ' + names.machine).put("load", setting.load);
  if (setting.busy) {
    json.put("busy", setting.busy->disturbing()).put("other_processes", setting.busy->others);
    json.put("steal", setting.busy->stolen);
  }
  json.end();
  json.put("date", date()).put("version", version_text()).put("compiler", compiler_name());
  json.put("build_type", build_type()).put("sanitizers", built_with_sanitizers());
  json.put("crc32c", weft::name(crc32c_in_use().routine));
}

void put_stacks(JsonWriter& json, const std::vector<RivalStack>& stacks) {
  json.begin_array("rivals");
  for (const RivalStack& stack : stacks) {
    json.begin_object().put("name", stack.name).put("installed", stack.missing.empty());
    if (!stack.missing.empty()) json.put("reason", stack.missing);
    json.end();
  }
  json.end();
}

void put_series(JsonWriter& json, std::string_view name, const Series& series) {
  if (series.figures.empty()) return;
  json.begin_object(name).put("median", median(series.figures));
  json.put("quartile_1", quantile(series.figures, 0.25)).put("quartile_3", quantile(series.figures, 0.75));
  if (!series.latency_us.empty()) json.put("p99", quantile(series.latency_us, 0.99));
  json.put("repetitions", series.figures.size()).put("messages", series.messages);
  json.put("runs", series.figures).end();
}

void put_rival_series(JsonWriter& json, const Report& report) {
  json.begin_array("rivals");
  for (const RivalSeries& rival : report.rivals) {
    json.begin_object().put("name", rival.name);
    if (!rival.reason.empty()) json.put("reason", rival.reason);
    put_series(json, "figures", rival.series);
    json.end();
  }
  json.end();
}

void put_options(JsonWriter& json, const Options& options) {
  json.put("bench", name(options.kind)).put("op", name(options.op)).put("size", options.size);
  json.put("depth", effective_depth(options)).put("list", list_length(options));
  json.put("connections", options.connections).put("blocking", name(options.blocking));
  json.put("idle_target", options.idle_target).put("crc", options.crc).put("markers", options.markers);
  json.put("policy", options.policy.text).put("emss", options.segments.emss == 0 ? kNone : options.segments.emss);
  json.put("unit", unit(options.kind)).put("better", lower_is_better(options.kind) ? "lower" : "higher");
}

const char* name_of(Reference reference) {
  switch (reference) {
    case Reference::kTcp: return "tcp";
    case Reference::kUcx: return "ucx";
    case Reference::kOpenSsl: return "openssl";
    case Reference::kOpenSslResumed: return "openssl, resumed";
  }
  return "?";
}

// As --against has it.
std::string rival_of(Reference reference) {
  return reference == Reference::kOpenSslResumed ? "openssl" : name_of(reference);
}

void put_case(JsonWriter& json, const SuiteResult& result) {
  json.begin_object().put("name", result.what.name);
  put_options(json, result.what.options);
  json.put("reference", name_of(result.what.reference)).put("target", result.what.target);
  json.put("ratio", ratio(result).value_or(kNone));
  if (const auto reached = met(result)) json.put("met", *reached);
  if (!result.error.empty()) json.put("error", result.error);
  if (result.report) {
    put_series(json, "weft", result.report->weft);
    put_series(json, "tcp", result.report->tcp);
    put_rival_series(json, *result.report);
  }
  json.end();
}

std::string cell(const char* format, double value) {
  char text[64];
  return {text, static_cast<std::size_t>(std::snprintf(text, sizeof text, format, value))};
}

std::string padded(std::string text, std::size_t width, bool right = true) {
  if (text.size() < width) text.insert(right ? 0 : text.size(), width - text.size(), ' ');
  return text;
}

// `stacks`: the columns of the rivals, with their own padding.
std::string row(const std::string& name, const std::string& weft, const std::string& reference,
                const std::string& stacks, const std::string& ratio, const std::string& target,
                const std::string& verdict) {
  return padded(name, 36, false) + padded(weft, 13) + padded(reference, 13) + stacks + padded(ratio, 8) +
         padded(target, 9) + "  " + verdict;
}

std::string stack_cell(const RivalStack& stack, const SuiteResult& result) {
  if (!stack.missing.empty()) return "not installed";
  std::optional<double> best;
  if (!result.report) return "-";
  const bool lower = lower_is_better(result.what.options.kind);
  for (const RivalSeries& rival : result.report->rivals) {
    if (!rival.name.starts_with(stack.name + ' ') || !rival.reason.empty() || rival.series.figures.empty()) continue;
    const double figure = median(rival.series.figures);
    if (!best || (lower ? figure < *best : figure > *best)) best = figure;
  }
  return best ? cell("%.2f", *best) : "-";
}

std::string stack_cells(const std::vector<RivalStack>& stacks, const SuiteResult& result) {
  std::string cells;
  for (const RivalStack& stack : stacks) cells += padded(stack_cell(stack, result), 15);
  return cells;
}

// No target: it says what the median hides.
std::string tails(const Report& report) {
  if (report.options.kind != Kind::kLatency) return {};  // of a set-up the figure is no time
  if (report.weft.latency_us.empty() || report.tcp.latency_us.empty()) return {};
  return cell("; p99 %.2f", quantile(report.weft.latency_us, 0.99)) +
         cell(", %.2f us", quantile(report.tcp.latency_us, 0.99));
}

// What TLS costs.
std::string without_tls_text(const Report& report) {
  const auto plain = std::ranges::find(report.rivals, "weft without TLS", &RivalSeries::name);
  return plain == report.rivals.end() ? std::string() : cell("; without TLS %.2f", median(plain->series.figures));
}

}  // namespace

double load_now() {
  double load = 0;
  std::ifstream("/proc/loadavg") >> load;
  return load;
}

std::string suite_heading(const std::vector<RivalStack>& stacks) {
  std::string columns;
  for (const RivalStack& stack : stacks) columns += padded(stack.name, 15);
  return row("what", "weft", "reference", columns, "ratio", "target", "met");
}

std::string suite_line(const SuiteResult& result, const std::vector<RivalStack>& stacks) {
  const std::string rivals = stack_cells(stacks, result);
  const Options& options = result.what.options;
  const std::string target = cell(lower_is_better(options.kind) ? "<= %.2f" : ">= %.2f", result.what.target);
  const auto reached = ratio(result);
  if (!result.report) return row(result.what.name, "-", "-", rivals, "-", target, result.error);
  const double ours = median(result.report->weft.figures);
  const std::string figure = cell("%.2f", ours);
  if (!reached) {
    const std::string rival = rival_of(result.what.reference);
    const bool missing = std::ranges::any_of(
        stacks, [&](const RivalStack& stack) { return stack.name == rival && !stack.missing.empty(); });
    return row(result.what.name, figure, "-", rivals, "-", target,
               missing ? rival + " is not installed" : "needs --against " + rival);
  }
  return row(result.what.name, figure, cell("%.2f", ours / *reached), rivals, cell("%.2f", *reached), target,
             (*met(result) ? "yes" : "no") + tails(*result.report) + without_tls_text(*result.report));
}

std::string suite_json(const std::vector<SuiteResult>& results, const SuiteSetting& setting) {
  JsonWriter json;
  put_machine(json, setting);
  put_stacks(json, setting.stacks);
  json.put("complete", setting.missing.empty()).put("missing", setting.missing);
  json.begin_array("cases");
  for (const SuiteResult& result : results) put_case(json, result);
  json.end();
  return json.finish();
}

}  // namespace weft::tools::bench
