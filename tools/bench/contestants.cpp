// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/contestants.hpp"

#include <algorithm>

#include "tools/bench/statistics.hpp"

namespace weft::tools::bench {
namespace {

// A stream over raw TCP is faster with polling on an idle machine and with sleeping on a busy one: both take part, and
// weft is compared with the better. Where an end of weft sleeps, both ends of raw TCP sleep in recv. A set-up waits as
// it likes.
std::vector<Waiting> ways_of_raw(const Options& options) {
  if (sleeps(options) || options.kind == Kind::kSetup) return {Waiting::kSleep};
  if (options.kind == Kind::kLatency) return {Waiting::kPoll};
  return {Waiting::kPoll, Waiting::kSleep};
}

std::vector<Waiting> ways_of(const Options& options, Transport transport) {
  if (!is_weft(transport)) return ways_of_raw(options);
  const bool polls = options.blocking == Blocking::kPoll && options.kind != Kind::kSetup;
  return {polls ? Waiting::kPoll : Waiting::kSleep};
}

bool is_measured(const Options& options, Transport transport) {
  return takes_part(options, transport) && (transport != Transport::kTcp || with_tcp(options));
}

// Returns the better of a contestant's ways to wait; null if it took no part. Only figures of which more is better have
// two.
const Contestant* best(std::span<const Contestant> all, Transport transport) {
  const Contestant* found = nullptr;
  for (const Contestant& each : all) {
    if (each.transport != transport) continue;
    if (found == nullptr || median(each.series.figures) > median(found->series.figures)) found = &each;
  }
  return found;
}

const char* rivals_name(Transport transport) {
  switch (transport) {
    case Transport::kPlain: return "weft without TLS";
    case Transport::kOpenSsl: return "openssl";
    case Transport::kOpenSslResumed: return "openssl, resumed";
    case Transport::kWeft:
    case Transport::kTcp: break;
  }
  return nullptr;
}

}  // namespace

std::vector<Contestant> contestants(const Options& options) {
  std::vector<Contestant> all;
  for (const Transport transport : kTransports) {
    if (!is_measured(options, transport)) continue;
    for (const Waiting waiting : ways_of(options, transport)) {
      all.push_back({.transport = transport, .waiting = waiting});
    }
  }
  return all;
}

Report report_of(const Options& options, std::span<const Contestant> all) {
  Report report{.options = options, .tcp_sleeps = sleeps(options), .weft = all.front().series};
  if (const Contestant* tcp = best(all, Transport::kTcp)) {
    report.tcp = tcp->series;
    report.tcp_sleeps = tcp->waiting == Waiting::kSleep;
  }
  for (const Transport transport : kTransports) {
    const Contestant* rival = rivals_name(transport) != nullptr ? best(all, transport) : nullptr;
    if (rival != nullptr) report.rivals.push_back({.name = rivals_name(transport), .series = rival->series});
  }
  return report;
}

}  // namespace weft::tools::bench
