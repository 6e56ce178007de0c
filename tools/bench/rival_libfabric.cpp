// SPDX-License-Identifier: Apache-2.0
// fi_pingpong over libfabric's tcp provider.
#include <algorithm>
#include <sstream>

#include "tools/bench/rival.hpp"

namespace weft::tools::bench {
namespace {

std::string why_not_libfabric(const Options& options) {
  if (options.kind != Kind::kLatency) return "fi_pingpong has one message under way: it knows no stream and no rate";
  if (options.op != Op::kSend) return "fi_pingpong knows messages only";
  if (options.blocking != Blocking::kPoll) return "fi_pingpong always polls";
  if (options.segments.emss != 0) return "libfabric has no option for TCP's segment size";
  return {};
}

std::vector<std::string> common(const Options& options, std::uint64_t messages) {
  return {"-p", "tcp", "-e", "msg", "-S", std::to_string(options.size), "-I", std::to_string(messages)};
}

}  // namespace

// Both sides must be told how many messages there are: else the one that expects more waits forever.
RivalPlan plan_libfabric(const Options& options) {
  RivalPlan plan{.name = "libfabric", .reason = why_not_libfabric(options)};
  if (!plan.reason.empty()) return plan;
  plan.tests.push_back({.name = "libfabric fi_pingpong",
                        .program = "fi_pingpong",
                        .environment = {"FI_PROVIDER=tcp"},
                        .server =
                            [options](std::uint16_t port, std::uint64_t messages) {
                              auto all = common(options, messages);
                              all.insert(all.end(), {"-B", std::to_string(port)});
                              return all;
                            },
                        .client =
                            [options](std::uint16_t port, std::uint64_t messages) {
                              auto all = common(options, messages);
                              all.insert(all.end(), {"-P", std::to_string(port), "127.0.0.1"});
                              return all;
                            },
                        .read = &read_libfabric});
  return plan;
}

// "bytes #sent #ack total time MB/sec usec/xfer Mxfers/sec", and below that its numbers. A transfer is one way.
Outcome<RivalFigure> read_libfabric(const std::string& output, std::uint64_t messages) {
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("bytes")) continue;
    std::string bytes, sent, acknowledged, total, time;
    double bandwidth = 0;
    double microseconds = 0;
    if (lines >> bytes >> sent >> acknowledged >> total >> time >> bandwidth >> microseconds && microseconds > 0) {
      return RivalFigure{microseconds, 2e-6 * microseconds * static_cast<double>(messages)};
    }
  }
  return failure("fi_pingpong printed no figures.");
}

std::vector<RivalPlan> plan_rivals(const Options& options) {
  std::vector<RivalPlan> all;
  if (options.against.ucx) all.push_back(plan_ucx(options));
  if (options.against.libfabric) all.push_back(plan_libfabric(options));
  return all;
}

}  // namespace weft::tools::bench
