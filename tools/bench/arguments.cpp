// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/arguments.hpp"

#include <algorithm>
#include <map>

#include "tools/bench/pinning.hpp"
#include "tools/cli/json_option.hpp"
#include "tools/cli/policy_option.hpp"

namespace weft::tools::bench {
namespace {

void add_pattern_options(CLI::App& command, Options& options) {
  if (options.kind != Kind::kLatency) {
    command
        .add_option("--signal-every", options.posting.signal_every,
                    "Report the completion of every Nth weft message, at most the depth (default: a quarter of the "
                    "depth, or a list; perftest: 100)")
        ->type_name("N")
        ->check(CLI::Range(1, 4096));
  }
  command
      .add_option("--inline", options.posting.max_inline,
                  "Post messages of up to this many octets inline, 0 to 256 (default 256; perftest: 0)")
      ->type_name("N")
      ->check(CLI::Range(0, 256));
  if (options.kind == Kind::kRate) return;
  command
      .add_option_function<std::string>(
          "--pattern",
          [&options](const std::string& text) { options.pattern = text == "own" ? Pattern::kOwn : Pattern::kPerftest; },
          options.kind == Kind::kLatency
              ? "perftest: weft works like ib_write_lat, which only polls its memory and never yields, and is not "
                "pinned to a processor without --pinned. Needs --op write (default own)"
              : "perftest: weft works like ib_write_bw: depth 128, the clock stops at the last completion, and the "
                "receiver polls another connection's completion queue. Needs --op write (default own)")
      ->type_name("own|perftest")
      ->check(CLI::IsMember({"own", "perftest"}));
  command.add_flag("--pinned", options.pinned,
                   "Pin each of the two processes to a processor of its own, with all its threads, like taskset. Needs "
                   "--pattern perftest");
}

void add_sleeping_options(CLI::App& command, Options& options) {
  static const std::map<std::string, Blocking> kWays{
      {"poll", Blocking::kPoll}, {"wait", Blocking::kWait}, {"channel", Blocking::kChannel}};
  command
      .add_option_function<std::string>(
          "--blocking", [&options](const std::string& text) { options.blocking = kWays.at(text); },
          "How both ends of weft wait: poll spins; wait sleeps in weft's wait call; channel sleeps in poll(2) on the "
          "completion channel's descriptor. With wait and channel, raw TCP sleeps in recv, and --op write posts "
          "Writes with Immediate Data, because a sleeping process cannot watch its memory (default poll)")
      ->type_name("poll|wait|channel")
      ->check(CLI::IsMember({"poll", "wait", "channel"}));
  command.add_flag(
      "--idle-target", options.idle_target,
      "The application at the target sleeps outside of weft, and raw TCP sleeps in recv at both ends. Needs --op "
      "read");
}

}  // namespace

void add_length_options(CLI::App& command, Options& options) {
  command.add_option("--iters", options.iterations, "Messages per repetition; 0: as many as fit into --duration")
      ->type_name("N")
      ->capture_default_str()
      ->check(CLI::Range(0, 10'000'000));
  command.add_option("--duration", options.duration, "Total time of all repetitions in seconds, 0.1 to 3600")
      ->type_name("S")
      ->capture_default_str()
      ->check(CLI::Range(0.1, 3600.0));
  command.add_option("--repetitions", options.repetitions, "Repetitions per transport, 1 to 1000")
      ->type_name("N")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000));
}

void add_against_option(CLI::App& command, std::vector<std::string>& against) {
  command
      .add_option(
          "--against", against,
          "Transports to compare with, separated by commas: tcp (raw sockets; the default), ucx (ucx_perftest over "
          "TCP), libfabric (fi_pingpong with the tcp provider); with TLS also openssl (OpenSSL on raw sockets) and "
          "plain (weft without TLS); or none")
      ->type_name("LIST")
      ->delimiter(',')
      ->check(CLI::IsMember({"tcp", "ucx", "libfabric", "openssl", "plain", "none"}));
}

namespace {

void add_crc_option(CLI::App& command, std::string& crc) {
  command.add_option("--crc", crc, "CRCs in weft's FPDUs: on or off")
      ->type_name("on|off")
      ->capture_default_str()
      ->check(CLI::IsMember({"on", "off"}));
}

void add_json_of_report(CLI::App& command, Options& options) {
  add_json_option(
      command, options.output.json,
      "Write one JSON object: weft, tcp, ratio, unit, better (lower or higher) and all figures; mtu is null "
      "if the FPDU size followed the TCP segment size");
}

void add_setup_options(CLI::App& command, Arguments& arguments) {
  Options& options = arguments.options;
  add_length_options(command, options);
  command.add_flag_callback(
      "--fresh", [&options] { options.caller = Caller::kFresh; },
      "Start a new process for each connection, which reads its files again and has no session to resume");
  add_crc_option(command, arguments.crc);
  add_policy_option_of_both_ends(command, options.policy.text);
  add_against_option(command, arguments.against);
  add_json_of_report(command, options);
}

}  // namespace

void add_options(CLI::App& command, Arguments& arguments) {
  static const std::map<std::string, Op> kOps{{"send", Op::kSend}, {"write", Op::kWrite}, {"read", Op::kRead}};
  Options& options = arguments.options;
  if (options.kind == Kind::kSetup) return add_setup_options(command, arguments);
  command
      .add_option_function<std::string>(
          "--op", [&options](const std::string& text) { options.op = kOps.at(text); },
          "send, write or read (default send)")
      ->type_name("OP")
      ->check(CLI::IsMember({"send", "write", "read"}));
  command.add_option("--size", options.size, "Message size in octets, 1 to 2^30")
      ->type_name("N")
      ->capture_default_str()
      ->check(CLI::Range(1U, 1U << 30));
  add_length_options(command, options);
  if (options.kind != Kind::kLatency) {
    command.add_option("--depth", options.depth, "Messages in flight, 1 to 4096 (default 16 for bw, 64 for rate)")
        ->type_name("N")
        ->check(CLI::Range(1, 4096));
  }
  if (options.kind != Kind::kLatency) {
    command
        .add_option(
            "--connections", options.connections,
            "Connections between the two processes, 1 to 1024, each with its own --depth; the figure is the total "
            "(default 1)")
        ->type_name("N")
        ->check(CLI::Range(1, 1024));
  }
  command
      .add_option("--emss", options.segments.emss,
                  "TCP segment size in octets, 500 to 65000, for weft and raw TCP; Ethernet's MTU of 1500 gives 1448 "
                  "(default: that of the path)")
      ->type_name("N")
      ->check(CLI::Range(500, 65000));
  command
      .add_option("--mtu", options.segments.mtu,
                  "Largest ULPDU per FPDU in octets, 128 to 64768 (default: derived from the TCP segment size)")
      ->type_name("N")
      ->check(CLI::Range(128, 64768));
  if (options.kind == Kind::kLatency) add_sleeping_options(command, options);
  add_pattern_options(command, options);
  add_crc_option(command, arguments.crc);
  command
      .add_option("--markers", arguments.markers,
                  "MPA Markers in weft's streams: on or off; without a value: on (default off)")
      ->type_name("on|off")
      ->expected(0, 1)
      ->check(CLI::IsMember({"on", "off", ""}));
  add_policy_option_of_both_ends(command, options.policy.text);
  add_against_option(command, arguments.against);
  command.add_flag(
      "--count", options.output.count,
      "Instead of measuring time, send a fixed number of weft messages and print the heap allocations per message; "
      "then repeat under strace, if installed, and print the system calls per message");
  add_json_of_report(command, options);
}

Outcome<Against> against_of(const std::vector<std::string>& names) {
  const auto named = [&](const char* who) { return std::ranges::find(names, who) != names.end(); };
  if (named("none") && names.size() != 1) return usage_error("--against: none cannot be combined with others.");
  return Against{.tcp = named("tcp"),
                 .plain = named("plain"),
                 .openssl = named("openssl"),
                 .ucx = named("ucx"),
                 .libfabric = named("libfabric")};
}

// What it says of CRC and Markers is what the connection has to have.
Outcome<void> take_policy(Options& options) {
  const auto policy = read_policy(options.policy.text, {.startup = {.crc = options.crc, .markers = options.markers}});
  if (!policy) return std::unexpected(policy.error());
  options.crc = policy->startup.crc;
  options.markers = policy->startup.markers;
  const bool with_tls = options.against.plain || options.against.openssl;
  if (with_tls && policy->tls.mode != verbs::Tls::kRequire)
    return usage_error("--against plain and openssl need --policy tls=require.");
  return {};
}

namespace {

// Checks the rivals against the kind and the pattern.
Outcome<void> check_rivals(const Options& options) {
  const Against& against = options.against;
  if (options.kind == Kind::kSetup && (against.ucx || against.libfabric))
    return usage_error("--against ucx and libfabric cannot be used with setup.");
  if (options.pattern == Pattern::kPerftest && (against.plain || against.openssl))
    return usage_error("--pattern perftest cannot be used with --against plain or openssl.");
  return {};
}

}  // namespace

Outcome<Options> options_of(const Arguments& arguments) {
  Options options = arguments.options;
  options.crc = arguments.crc == "on";
  const auto against = against_of(arguments.against);
  if (!against) return std::unexpected(against.error());
  options.against = *against;
  options.markers = arguments.markers != "off";
  if (auto good = take_policy(options); !good) return std::unexpected(good.error());
  if (auto good = check_rivals(options); !good) return std::unexpected(good.error());
  const bool perftest = options.pattern == Pattern::kPerftest;
  if (perftest && options.op != Op::kWrite) return usage_error("--pattern perftest needs --op write.");
  if (options.pinned && !perftest) return usage_error("--pinned needs --pattern perftest.");
  if (options.pinned && !Placement(Seat::kFollower).possible()) return usage_error("--pinned needs two processors.");
  if (perftest && options.blocking != Blocking::kPoll)
    return usage_error("--pattern perftest cannot be used with --blocking: it polls.");
  if (perftest && options.connections != 1)
    return usage_error("--pattern perftest cannot be used with --connections: it has one.");
  if (options.output.count && (perftest || !options.output.json.empty()))
    return usage_error("--count cannot be used with --pattern perftest or --json.");
  if (options.idle_target && options.op != Op::kRead) return usage_error("--idle-target needs --op read.");
  return options;
}

}  // namespace weft::tools::bench
