// SPDX-License-Identifier: Apache-2.0
// The command line of `weft bench`.
#include <cstdio>
#include <map>
#include <memory>
#include <string>

#include "tools/bench/follower.hpp"
#include "tools/bench/leader.hpp"
#include "tools/bench/pinning.hpp"
#include "tools/cli/checks.hpp"
#include "tools/cli/child_process.hpp"
#include "tools/cli/command.hpp"

namespace weft::tools {
namespace {

constexpr const char* kDescription =
    "Measures weft between two processes on loopback, and raw TCP sockets doing the same in the same run.";

constexpr const char* kFooter =
    "How it measures: the transports take turns, repetition by repetition, between the same two processes; the figure "
    "of "
    "each is the median of its repetitions. Weft polls. Raw TCP polls for latency; for bw and rate it takes part "
    "twice, "
    "polling and sleeping in the kernel, and the better of the two counts. Threads that poll are pinned to a processor "
    "each where there are two. Before and after, a message of each transport is compared octet by octet. Ratio is weft "
    "divided by tcp.\n"
    "\n"
    "Examples:\n"
    "  weft bench lat --op send --size 8\n"
    "  weft bench bw --op write --size 65536 --crc off\n"
    "  weft bench rate --op send --size 64 --json\n"
    "\n"
    "weft bench lat --help, weft bench bw --help and weft bench rate --help say what exactly each one does.";

constexpr const char* kLatency =
    "Latency in microseconds, one message at a time, both ends polling.\n"
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

struct Arguments {
  bench::Options options{};
  std::string crc = "on";
};

void add_pattern_options(CLI::App& command, bench::Options& options) {
  if (options.kind != bench::Kind::kLatency) {
    command
        .add_option("--signal-every", options.signal_every,
                    "Messages of weft's to one whose completion is reported, at most the depth (default: a quarter of "
                    "the depth, or a list; perftest: 100)")
        ->type_name("N")
        ->check(CLI::Range(1, 4096));
  }
  command
      .add_option("--inline", options.max_inline,
                  "Messages of up to so many octets are posted inline, 0 to 256 (default 256; perftest: 0)")
      ->type_name("N")
      ->check(CLI::Range(0, 256));
  if (options.kind == bench::Kind::kRate) return;
  command
      .add_option_function<std::string>(
          "--pattern",
          [&options](const std::string& text) {
            options.pattern = text == "own" ? bench::Pattern::kOwn : bench::Pattern::kPerftest;
          },
          options.kind == bench::Kind::kLatency
              ? "perftest: weft does as ib_write_lat does, which looks only at its memory while it waits, and never "
                "yields, nor is pinned to a processor without --pinned. With --op write (default own)"
              : "perftest: weft does as ib_write_bw does: depth 128, the clock stops at the last completion, and the "
                "receiver spins on another connection's completion queue. With --op write (default own)")
      ->type_name("own|perftest")
      ->check(CLI::IsMember({"own", "perftest"}));
  command.add_flag("--pinned", options.pinned,
                   "Each of the two processes, with all of its threads, stays on a processor of its own, as with "
                   "taskset. With --pattern perftest");
}

void add_options(CLI::App& command, Arguments& arguments) {
  static const std::map<std::string, bench::Op> kOps{
      {"send", bench::Op::kSend}, {"write", bench::Op::kWrite}, {"read", bench::Op::kRead}};
  bench::Options& options = arguments.options;
  command
      .add_option_function<std::string>(
          "--op", [&options](const std::string& text) { options.op = kOps.at(text); },
          "send, write or read (default send)")
      ->type_name("OP")
      ->check(CLI::IsMember({"send", "write", "read"}));
  command.add_option("--size", options.size, "Octets of one message, 1 to 2^30")
      ->type_name("N")
      ->capture_default_str()
      ->check(CLI::Range(1U, 1U << 30));
  command.add_option("--iters", options.iterations, "Messages of one repetition; 0: as many as fit into --duration")
      ->type_name("N")
      ->capture_default_str()
      ->check(CLI::Range(0, 10'000'000));
  command.add_option("--duration", options.duration, "Seconds for all repetitions together, 0.1 to 3600")
      ->type_name("S")
      ->capture_default_str()
      ->check(CLI::Range(0.1, 3600.0));
  command.add_option("--repetitions", options.repetitions, "Repetitions of each transport, 1 to 1000")
      ->type_name("N")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000));
  if (options.kind != bench::Kind::kLatency) {
    command
        .add_option("--depth", options.depth,
                    "Messages under way at a time, 1 to 4096 (default 16 for bw, 64 for rate)")
        ->type_name("N")
        ->check(CLI::Range(1, 4096));
  }
  command
      .add_option("--mtu", options.mtu,
                  "Largest ULPDU, in octets, that weft puts into one FPDU, 128 to 64768; default: what the segment "
                  "size of TCP gives")
      ->type_name("N")
      ->check(CLI::Range(128, 64768));
  add_pattern_options(command, options);
  command.add_option("--crc", arguments.crc, "on or off: CRCs of weft's FPDUs")
      ->type_name("on|off")
      ->capture_default_str()
      ->check(CLI::IsMember({"on", "off"}));
  command.add_flag("--markers", options.markers, "With MPA Markers in weft's FPDU streams");
  command.add_flag("--json", options.json,
                   "Print one JSON object: weft, tcp, ratio, unit, better (lower or higher), and the figures behind "
                   "them; mtu is null "
                   "where FPDUs were as long as TCP's segments allowed");
}

// Before there is any other thread: those to come inherit it.
void settle(const bench::Options& options, bench::Seat seat) {
  if (options.pinned) bench::Placement(seat).place(bench::Waiting::kPoll);
}

ExitCode follower_process(const bench::Options& options, int channel) {
  settle(options, bench::Seat::kFollower);
  const auto done = bench::follow_commands(options, channel);
  if (done) return ExitCode::kSuccess;
  std::fprintf(stderr, "weft bench, second process: %s\n", done.error().sentence.c_str());
  return done.error().code;
}

Outcome<void> run(Arguments& arguments, const GlobalOptions& global) {
  bench::Options& options = arguments.options;
  options.crc = arguments.crc == "on";
  if (options.pattern == bench::Pattern::kPerftest && options.op != bench::Op::kWrite) {
    return usage_error("--pattern perftest goes with --op write.");
  }
  if (options.pinned && options.pattern != bench::Pattern::kPerftest) {
    return usage_error("--pinned goes with --pattern perftest.");
  }
  if (options.pinned && !bench::Placement(bench::Seat::kFollower).possible()) {
    return usage_error("--pinned wants two processors.");
  }
  auto follower = ChildProcess::start([&](int channel) { return follower_process(options, channel); });
  if (!follower) return std::unexpected(follower.error());
  settle(options, bench::Seat::kLeader);
  if (auto capturing = start_capture(global); !capturing) return capturing;
  const auto report = bench::lead_measurement(options, follower->channel());
  if (!report) return std::unexpected(report.error());
  if (auto left = follower->wait(); !left) return left;
  std::fputs((options.json ? bench::as_json(*report) : bench::as_text(*report)).c_str(), stdout);
  return {};
}

void add_kind(CLI::App& parent, Selection& selection, bench::Kind kind, const char* description) {
  CLI::App* command = parent.add_subcommand(std::string(name(kind)), description);
  const auto arguments = std::make_shared<Arguments>();
  arguments->options.kind = kind;
  arguments->options.size = kind == bench::Kind::kBandwidth ? 65536 : 8;
  add_options(*command, *arguments);
  command->callback([arguments, &selection] {
    selection.run = [arguments](const GlobalOptions& global) { return run(*arguments, global); };
  });
}

}  // namespace

void add_bench_command(CLI::App& app, Selection& selection) {
  CLI::App* command = app.add_subcommand("bench", kDescription);
  command->footer(kFooter);
  command->fallthrough();
  command->callback([command, &selection] {
    if (!command->get_subcommands().empty()) return;
    selection.run = [](const GlobalOptions&) -> Outcome<void> {
      return usage_error("say what to measure: lat, bw or rate.");
    };
  });
  add_kind(*command, selection, bench::Kind::kLatency, kLatency);
  add_kind(*command, selection, bench::Kind::kBandwidth, kBandwidth);
  add_kind(*command, selection, bench::Kind::kRate, kRate);
}

}  // namespace weft::tools
