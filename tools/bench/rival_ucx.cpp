// SPDX-License-Identifier: Apache-2.0
// ucx_perftest. With UCX_TLS=tcp,self two processes have only TCP between them; UCX_NET_DEVICES=lo keeps it on
// loopback. Beside weft's shared memory it has its own, and one copy by the kernel (cma) for long messages.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <sstream>

#include "tools/bench/policy.hpp"
#include "tools/bench/rival.hpp"

namespace weft::tools::bench {
namespace {

// The better one counts. UCX's Puts over TCP are slower than its messages, which are what any rate is held against.
std::vector<std::string> tests_of(const Options& options) {
  const bool latency = options.kind == Kind::kLatency;
  if (options.kind == Kind::kRate) return {"tag_bw", "ucp_am_bw"};
  if (options.op == Op::kWrite) return {latency ? "ucp_put_lat" : "ucp_put_bw"};
  if (latency) return {"tag_lat", "ucp_am_lat"};
  return {"tag_bw", "ucp_am_bw"};
}

std::string why_not_ucx(const Options& options) {
  if (options.op == Op::kRead) return "ucp_get over TCP asks the target's processor and often never ends";
  if (options.connections != 1) return "ucx_perftest has one connection";
  if (options.segments.emss != 0) return "UCX has no option for TCP's segment size";
  if (options.idle_target || options.blocking == Blocking::kChannel) return "ucx_perftest has no such way to wait";
  if (options.blocking != Blocking::kPoll && options.op == Op::kWrite) return "ucp_put_lat has no sleeping mode";
  return {};
}

std::vector<std::string> client_arguments(const Options& options, const std::string& test, std::uint16_t port,
                                          std::uint64_t messages) {
  const std::uint64_t warm_up = std::min<std::uint64_t>(messages / 10 + 1, 1000);
  std::vector<std::string> all{"127.0.0.1",
                               "-p",
                               std::to_string(port),
                               "-t",
                               test,
                               "-v",
                               "-s",
                               std::to_string(options.size),
                               "-n",
                               std::to_string(messages),
                               "-w",
                               std::to_string(warm_up)};
  if (options.blocking == Blocking::kWait) all.insert(all.end(), {"-I", "-E", "sleep"});
  return all;
}

// The line of numbers of the CSV output: iterations, median, average and overall latency, average and overall
// bandwidth, average and overall rate.
bool find_numbers(const std::string& output, std::array<double, 8>& numbers) {
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream cells(line);
    std::size_t count = 0;
    for (std::string cell; std::getline(cells, cell, ',') && count < numbers.size(); ++count) {
      char* end = nullptr;
      numbers[count] = std::strtod(cell.c_str(), &end);
      if (end == cell.c_str()) break;
    }
    if (count == numbers.size()) return true;
  }
  return false;
}

std::vector<std::string> environment_of_ucx(const Options& options) {
  if (is_same_host(options)) return {"UCX_TLS=posix,cma,self", "UCX_LOG_LEVEL=info"};
  return {"UCX_TLS=tcp,self", "UCX_NET_DEVICES=lo", "UCX_LOG_LEVEL=info"};
}

}  // namespace

RivalPlan plan_ucx(const Options& options) {
  RivalPlan plan{.name = "ucx", .reason = why_not_ucx(options)};
  if (!plan.reason.empty()) return plan;
  for (const std::string& test : tests_of(options)) {
    plan.tests.push_back(
        {.name = "ucx " + test,
         .program = "ucx_perftest",
         .environment = environment_of_ucx(options),
         .server = [](std::uint16_t port,
                      std::uint64_t /*messages*/) { return std::vector<std::string>{"-p", std::to_string(port)}; },
         .client = [options, test](std::uint16_t port,
                                   std::uint64_t messages) { return client_arguments(options, test, port, messages); },
         .read = [options](const std::string& output,
                           std::uint64_t messages) { return read_ucx(options, output, messages); }});
  }
  return plan;
}

Outcome<RivalFigure> read_ucx(const Options& options, const std::string& output, std::uint64_t messages) {
  std::array<double, 8> numbers{};
  if (!find_numbers(output, numbers)) return failure("ucx_perftest printed no figures.");
  if (output.find(is_same_host(options) ? "posix/memory" : "(tcp/lo)") == std::string::npos) {
    return failure("ucx_perftest took another transport than it was told.");
  }
  const auto [count, median, average, overall, bandwidth, overall_bandwidth, rate, overall_rate] = numbers;
  const auto all = static_cast<double>(messages);
  if (options.kind == Kind::kLatency) return RivalFigure{median, 2 * overall * 1e-6 * all};
  if (overall_rate <= 0) return failure("ucx_perftest measured nothing.");
  constexpr double kMebi = 1048576;  // its MB
  return RivalFigure{options.kind == Kind::kRate ? overall_rate : overall_bandwidth * kMebi / 1e6, all / overall_rate};
}

}  // namespace weft::tools::bench
