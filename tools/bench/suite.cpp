// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/suite.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string_view>

#include "tools/bench/policy.hpp"
#include "tools/bench/statistics.hpp"
#include "tools/bench/tcp_socket.hpp"

namespace weft::tools::bench {
namespace {

class Table {
 public:
  explicit Table(const Options& common) : common_(common) {}

  Options& add(Kind kind, Op op, std::uint32_t size, double target, Reference reference = Reference::kTcp) {
    Options options = common_;
    options.kind = kind;
    options.op = op;
    options.size = size;
    cases_.push_back({.options = options, .reference = reference, .target = target});
    return cases_.back().options;
  }

  Options& add_setup(const std::string& name, double target, Reference reference) {
    Options& options = add(Kind::kSetup, Op::kSend, 0, target, reference);
    cases_.back().name = name;
    return options;
  }

  std::vector<SuiteCase> finish() && {
    for (SuiteCase& each : cases_) {
      if (each.name.empty()) each.name = name_of(each.options);
      if (!plain(each.options)) each.options.against.ucx = each.options.against.libfabric = false;
    }
    return std::move(cases_);
  }

 private:
  // The rest is between weft and raw TCP: other stacks have no CRC, no Markers, other ways to sleep, and the system's
  // congestion control.
  static bool plain(const Options& options) {
    return tcp_settings(options).congestion_control.empty() && (options.crc || is_same_host(options)) &&
           !options.markers && options.segments.emss == 0 && options.connections == 1 && !sleeps(options);
  }

  static std::string name_of(const Options& options) {
    std::string text = std::string(name(options.kind)) + ' ' + std::string(name(options.op)) + ' ';
    text += options.size >= 1U << 20 ? std::to_string(options.size >> 20) + "Mi" : std::to_string(options.size);
    if (options.blocking != Blocking::kPoll) text += ", blocking " + std::string(name(options.blocking));
    if (options.idle_target) text += ", idle target";
    if (options.connections > 1) text += ", " + std::to_string(options.connections) + " connections";
    if (options.segments.emss != 0) text += ", EMSS " + std::to_string(options.segments.emss);
    if (options.markers) text += ", markers";
    if (!options.crc) text += ", CRC off";
    if (const auto algorithm = tcp_settings(options).congestion_control; !algorithm.empty()) text += ", " + algorithm;
    if (is_same_host(options)) text += ", same host";
    return text;
  }

  Options common_;
  std::vector<SuiteCase> cases_{};
};

constexpr std::uint32_t kMebi = 1U << 20;

void add_latencies(Table& table) {
  for (const auto& [blocking, target] :
       {std::pair{Blocking::kPoll, 1.10}, {Blocking::kWait, 1.3}, {Blocking::kChannel, 2.0}}) {
    for (const Op op : {Op::kSend, Op::kWrite}) table.add(Kind::kLatency, op, 64, target).blocking = blocking;
  }
  table.add(Kind::kLatency, Op::kRead, 64, 1.5).idle_target = true;
}

void add_bandwidths(Table& table) {
  for (const Op op : {Op::kSend, Op::kRead, Op::kWrite}) {
    table.add(Kind::kBandwidth, op, kMebi, op == Op::kWrite ? 0.80 : 0.85);
    table.add(Kind::kBandwidth, op, kMebi, 0.97).crc = false;
    table.add(Kind::kBandwidth, op, kMebi, 0.6).segments.emss = 1448;
    table.add(Kind::kBandwidth, op, kMebi, 0.5).markers = true;
  }
}

void add_key(Options& options, const char* key) {
  if (!options.policy.text.empty() || !options.policy.files.empty()) options.policy.files += ',';
  options.policy.files += key;
}

bool may_choose(std::string_view algorithm) {
  std::ifstream allowed("/proc/sys/net/ipv4/tcp_allowed_congestion_control");
  const std::istream_iterator<std::string> begin(allowed), end;
  return std::find(begin, end, algorithm) != end;
}

// Linux's default, and the harder comparison: BBR paces even over loopback. Left out where the system forbids the
// choice, and where the policy makes another.
void add_cubic(Table& table, const Options& common) {
  const auto policy = policy_of(common);
  if (!policy || !policy->startup.congestion_control.empty() || !may_choose("cubic")) return;
  for (const Op op : {Op::kSend, Op::kRead, Op::kWrite}) {
    add_key(table.add(Kind::kBandwidth, op, kMebi, 0.82), "congestion-control=cubic");
    Options& unchecked = table.add(Kind::kBandwidth, op, kMebi, 0.97);
    unchecked.crc = false;
    add_key(unchecked, "congestion-control=cubic");
  }
}

// Through shared memory, which TLS does not use.
void add_same_host(Table& table, const Options& common) {
  const auto policy = policy_of(common);
  if (!policy || policy->tls.mode != verbs::Tls::kOff) return;
  const auto share = [](Options& options) { add_key(options, "same-host=on"); };
  for (const Op op : {Op::kSend, Op::kWrite}) share(table.add(Kind::kLatency, op, 64, 0.25));
  Options& sleeper = table.add(Kind::kLatency, Op::kSend, 64, 0.9);
  sleeper.blocking = Blocking::kWait;
  share(sleeper);
  for (const Op op : {Op::kSend, Op::kRead, Op::kWrite}) {
    share(table.add(Kind::kBandwidth, op, kMebi, 1.5));
    Options& unchecked = table.add(Kind::kBandwidth, op, kMebi, 1.5);
    unchecked.crc = false;
    share(unchecked);
  }
  for (const Op op : {Op::kSend, Op::kWrite}) {
    Options& rate = table.add(Kind::kRate, op, 64, 1.0, Reference::kUcx);
    rate.depth = 64;
    share(rate);
  }
}

// Messages that all connections together keep in a cache.
void add_crowds(Table& table) {
  for (const std::uint32_t connections : {1U, 16U, 256U}) {
    table.add(Kind::kBandwidth, Op::kSend, 16384, 0.8).connections = connections;
  }
}

// Returns whether `rival` is the name of a test of this reference. UCX has several tests, whose names begin with "ucx".
bool is_of(const std::string& rival, Reference reference) {
  switch (reference) {
    case Reference::kUcx: return rival.starts_with("ucx");
    case Reference::kOpenSsl: return rival == "openssl";
    case Reference::kOpenSslResumed: return rival == "openssl, resumed";
    case Reference::kTcp: break;
  }
  return false;
}

double reference_median(const SuiteResult& result) {
  if (result.what.reference == Reference::kTcp) return median(result.report->tcp.figures);
  const bool lower = lower_is_better(result.what.options.kind);
  double best = 0;
  for (const RivalSeries& rival : result.report->rivals) {
    if (!is_of(rival.name, result.what.reference) || !rival.reason.empty()) continue;
    const double figure = median(rival.series.figures);
    if (best == 0 || (lower ? figure < best : figure > best)) best = figure;
  }
  return best;
}

}  // namespace

std::vector<SuiteCase> suite_cases(const Options& common) {
  Table table(common);
  add_latencies(table);
  add_bandwidths(table);
  for (const Op op : {Op::kSend, Op::kWrite}) {  // held against UCX's Sends in either case
    table.add(Kind::kRate, op, 64, 10, Reference::kUcx).depth = 64;
  }
  add_crowds(table);
  add_cubic(table, common);
  add_same_host(table, common);
  return std::move(table).finish();
}

std::vector<SuiteCase> tls_cases(const Options& common) {
  constexpr double kLatencyTarget = 1.15;
  constexpr double kTarget = 0.85;
  Options with_rivals = common;
  with_rivals.against = {.tcp = true, .plain = true, .openssl = true};
  Table table(with_rivals);
  table.add(Kind::kLatency, Op::kSend, 64, kLatencyTarget, Reference::kOpenSsl);
  table.add(Kind::kBandwidth, Op::kSend, kMebi, kTarget, Reference::kOpenSsl);
  table.add(Kind::kBandwidth, Op::kSend, 16384, kTarget, Reference::kOpenSsl).connections = 16;
  table.add_setup("setup, whole", kTarget, Reference::kOpenSsl).policy.files += ",tls-resumption=off";
  table.add_setup("setup, resumed", kTarget, Reference::kOpenSslResumed);
  return std::move(table).finish();
}

std::optional<double> ratio(const SuiteResult& result) {
  if (!result.report) return std::nullopt;
  const double reference = reference_median(result);
  if (reference == 0) return std::nullopt;
  return median(result.report->weft.figures) / reference;
}

std::optional<bool> met(const SuiteResult& result) {
  const auto reached = ratio(result);
  if (!reached) return std::nullopt;
  return lower_is_better(result.what.options.kind) ? *reached <= result.what.target : *reached >= result.what.target;
}

}  // namespace weft::tools::bench
