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
#include "tools/cli/mistyped.hpp"
#include "tools/cli/policy_option.hpp"
#include "tools/cli/report_files.hpp"
#include "tools/cli/standard_output.hpp"
#include "tools/cli/whole_file.hpp"

namespace weft::tools {
namespace {

constexpr const char* kBenchDescription =
    "Measures weft and raw TCP in the same run\n"
    "Both ends run on loopback, in two processes. The same two processes run the same pattern over raw TCP sockets.";

constexpr const char* kBenchFooter =
    "How it measures: the transports take turns, repetition by repetition, between the same two processes; each figure "
    "is the median of its repetitions. weft polls unless --blocking says otherwise. For latency, raw TCP polls too, or "
    "sleeps in recv when weft sleeps; for bw and rate it is measured polling and sleeping, and the better result "
    "counts. Polling threads are pinned to a processor each if there are two. Before and after, a message of each "
    "transport is compared octet by octet. The ratio is weft divided by tcp.\n"
    "On a terminal, a progress line shows the current repetition. After ^C or SIGTERM the report covers the completed "
    "repetitions.\n"
    "\n"
    "Examples:\n"
    "  weft bench lat --op send --size 8\n"
    "  weft bench bw --op write --size 65536 --crc off\n"
    "  weft bench rate --op send --size 64 --json\n"
    "  weft bench lat --size 64 --policy tls=require --against tcp,openssl,plain\n"
    "  weft bench setup --policy tls=require --against tcp,openssl,plain\n"
    "\n"
    "'weft help bench lat' and so on explain each measurement.\n"
    "\n"
    "Exit codes: 0 success, 1 failure, 2 wrong command line, 130 interrupted; partial results were printed.";

constexpr const char* kLatency =
    "Measures latency in microseconds, one message at a time\n"
    "Both ends poll or, with --blocking, sleep. send, write: a message and a reply of the same size; the figure is "
    "half the round trip. The receiver of a Write only looks at its last octet. read: the whole round trip of a "
    "request and its data. The figure of a repetition is the median of its messages.";

constexpr const char* kBandwidth =
    "Measures bandwidth in 10^6 octets of payload per second\n"
    "One end keeps --depth messages in flight, each posted (or sent) with a call of its own; the clock stops when the "
    "other end confirms that it has everything. read: --depth requests in flight, until the last octet of data has "
    "arrived. Raw TCP is limited by the kernel's socket buffers instead of the depth, and receives in reads of 256 "
    "KiB.";

constexpr const char* kRate =
    "Measures messages per second\n"
    "Like bw, but messages are posted in lists of half the depth: weft posts a list with one call, raw TCP sends it "
    "with one sendmsg.";

constexpr const char* kSetup =
    "Measures connection setups per second\n"
    "Connections are set up one after another; each is closed before the next one, which is not counted. For weft: "
    "from the first call to the Reply; for raw TCP: from connect to one octet in each direction. The figure of a "
    "repetition is derived from its median setup. With TLS, openssl is measured twice: with full handshakes and with "
    "resumed sessions.";

Outcome<void> print_report(const bench::Report& report) {
  const std::string& json = report.options.output.json;
  if (json != "-") std::fputs(bench::as_text(report).c_str(), stdout);
  return json.empty() ? Outcome<void>() : write_report(json, bench::as_json(report));
}

// ^C: the repetitions that are complete are told all the same. The other process ends with this one.
[[noreturn]] void tell_and_end(const bench::Report& report) {
  const std::size_t done = report.weft.figures.size();
  if (done > 0) {
    if (const auto written = print_report(report); !written) print_error("weft bench: " + written.error().sentence);
  }
  std::fflush(stdout);
  std::fprintf(stderr, "weft bench %s: interrupted after %zu of %u repetitions%s.\n",
               std::string(name(report.options.kind)).c_str(), done, report.options.repetitions,
               done > 0 ? "; the report covers those" : "; there is no result");
  static_cast<void>(settle_reports("weft bench", std::unexpected(Failure{"interrupted.", ExitCode::kInterrupted})));
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
    return usage_error("--fresh cannot be used with --pcap: it starts many processes.");
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
  command->callback([command, &selection] {
    if (!command->get_subcommands().empty()) return;
    std::string choices;
    for (const std::string& name : names_of_subcommands(*command)) choices += (choices.empty() ? "" : ", ") + name;
    selection.run = [choices](const GlobalOptions&) -> Outcome<void> {
      return usage_error("choose a measurement: " + choices + " (see weft bench --help).");
    };
  });
  add_kind(*command, selection, bench::Kind::kLatency, kLatency);
  add_kind(*command, selection, bench::Kind::kBandwidth, kBandwidth);
  add_kind(*command, selection, bench::Kind::kRate, kRate);
  add_kind(*command, selection, bench::Kind::kSetup, kSetup);
  bench::add_suite_command(*command, selection);
}

}  // namespace weft::tools
