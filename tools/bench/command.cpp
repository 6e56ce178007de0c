// SPDX-License-Identifier: Apache-2.0
// The command line of `weft bench`.
#include <unistd.h>

#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "tools/bench/arguments.hpp"
#include "tools/bench/count.hpp"
#include "tools/bench/measure.hpp"
#include "tools/bench/suite_command.hpp"
#include "tools/cli/command.hpp"
#include "tools/cli/policy_option.hpp"
#include "tools/cli/standard_output.hpp"

namespace weft::tools {
namespace {

constexpr const char* kBenchDescription =
    "Measures weft between two processes on loopback, and raw TCP sockets doing the same in the same run.";

constexpr const char* kBenchFooter =
    "How it measures: the transports take turns, repetition by repetition, between the same two processes; the figure "
    "of "
    "each is the median of its repetitions. Weft polls unless --blocking says otherwise. Raw TCP polls for latency, or "
    "sleeps in recv where weft sleeps; for bw and rate it takes part "
    "twice, "
    "polling and sleeping in the kernel, and the better of the two counts. Threads that poll are pinned to a processor "
    "each where there are two. Before and after, a message of each transport is compared octet by octet. Ratio is weft "
    "divided by tcp.\n"
    "A terminal is shown which repetition is under way. After ^C or SIGTERM the report has the repetitions that were "
    "complete.\n"
    "\n"
    "Examples:\n"
    "  weft bench lat --op send --size 8\n"
    "  weft bench bw --op write --size 65536 --crc off\n"
    "  weft bench rate --op send --size 64 --json\n"
    "  weft bench lat --size 64 --policy tls=require --against tcp,openssl,plain\n"
    "  weft bench setup --policy tls=require --against tcp,openssl,plain\n"
    "\n"
    "weft bench lat --help and so on say what exactly each one does.\n"
    "\n"
    "Exit codes: 0 success, 1 something failed, 2 the command line was wrong, 130 interrupted.";

constexpr const char* kLatency =
    "Latency in microseconds, one message at a time, both ends polling or, with --blocking, asleep.\n"
    "send, write: the message goes there and one of the same size comes back; the figure is half the round trip. The "
    "receiver of a Write looks at its last octet only. read: the whole round trip of a request and its data. The "
    "figure of a "
    "repetition is the median of its messages.";

constexpr const char* kBandwidth =
    "Bandwidth in 10^6 octets of payload per second: one end keeps --depth messages under way, each posted (or sent) "
    "by a call "
    "of its own, and the clock stops when the other end's word arrives that it has all. read: --depth requests under "
    "way, "
    "until the last octet of data is there. Raw TCP is bounded by the kernel's socket buffers instead of the depth, "
    "and "
    "receives in reads of 256 KiB.";

constexpr const char* kRate =
    "Messages per second: as bw, but the messages are handed over in lists of half the depth; weft posts a list in one "
    "call, raw "
    "TCP sends one with one sendmsg.";

constexpr const char* kSetup =
    "Set-ups of connections per second, one after the other; each is closed before the next one begins, which is not "
    "counted. Of weft: from the first call to the Reply; of raw TCP: from connect to an octet there and one back. The "
    "figure of a repetition is what its median set-up allows. With TLS, openssl takes part twice: with whole "
    "handshakes, and with sessions that are resumed.";

Outcome<void> print_report(const bench::Report& report) {
  const std::string& json = report.options.output.json;
  if (json != "-") std::fputs(bench::as_text(report).c_str(), stdout);
  return json.empty() ? Outcome<void>() : write_report(json, bench::as_json(report));
}

// ^C: the repetitions that are complete are told all the same. The other process ends with this one.
[[noreturn]] void tell_and_end(const bench::Report& report) {
  const std::size_t done = report.weft.figures.size();
  if (done > 0) {
    if (const auto written = print_report(report); !written)
      std::fprintf(stderr, "weft bench: %s\n", written.error().sentence.c_str());
  }
  std::fflush(stdout);
  std::fprintf(stderr, "weft bench %s: interrupted: %zu of %u repetitions were complete%s.\n",
               std::string(name(report.options.kind)).c_str(), done, report.options.repetitions,
               done > 0 ? "; the figures are theirs" : ", so there is no figure");
  ::_exit(static_cast<int>(ExitCode::kInterrupted));
}

Outcome<void> run(const bench::Arguments& arguments, const GlobalOptions& global) {
  auto checked = bench::options_of(arguments);
  if (!checked) return std::unexpected(checked.error());
  bench::Options& options = *checked;
  std::optional<KeysInMemory> keys;
  auto files = keys_for(options.policy.text, keys);
  if (!files) return std::unexpected(files.error());
  options.policy.files = std::move(*files);
  if (options.caller == bench::Caller::kFresh && !global.pcap.empty())
    return usage_error("--fresh has many processes: no --pcap.");
  if (const std::string& json = options.output.json; !json.empty() && json != "-") {
    if (auto good = check_writable(json); !good) return good;
  }
  if (options.output.count) {
    const auto counted = bench::count_operations(options, global);
    if (!counted) return std::unexpected(counted.error());
    std::fputs(counted->c_str(), stdout);
    return {};
  }
  const std::string title = "weft bench " + std::string(name(options.kind)) + ": ";
  const auto report = bench::measure(options, global, {.title = title, .at_interruption = tell_and_end});
  if (!report) return std::unexpected(report.error());
  return print_report(*report);
}

void add_kind(CLI::App& parent, Selection& selection, bench::Kind kind, const char* description) {
  CLI::App* command = parent.add_subcommand(std::string(name(kind)), description);
  const auto arguments = std::make_shared<bench::Arguments>();
  arguments->options.kind = kind;
  arguments->options.size = kind == bench::Kind::kBandwidth ? 65536 : 8;
  bench::add_options(*command, *arguments);
  command->callback([arguments, &selection] {
    selection.run = [arguments](const GlobalOptions& global) { return run(*arguments, global); };
  });
}

}  // namespace

void add_bench_command(CLI::App& app, Selection& selection) {
  CLI::App* command = app.add_subcommand("bench", kBenchDescription);
  command->footer(kBenchFooter);
  command->fallthrough();
  command->callback([command, &selection] {
    if (!command->get_subcommands().empty()) return;
    selection.run = [](const GlobalOptions&) -> Outcome<void> {
      return usage_error("say what to measure: lat, bw, rate or setup, or all of it: suite.");
    };
  });
  add_kind(*command, selection, bench::Kind::kLatency, kLatency);
  add_kind(*command, selection, bench::Kind::kBandwidth, kBandwidth);
  add_kind(*command, selection, bench::Kind::kRate, kRate);
  add_kind(*command, selection, bench::Kind::kSetup, kSetup);
  bench::add_suite_command(*command, selection);
}

}  // namespace weft::tools
