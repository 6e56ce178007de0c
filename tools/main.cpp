// SPDX-License-Identifier: Apache-2.0
// The `weft` command: finds the subcommand, runs it, and turns what went wrong into one line on stderr and an exit
// code.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "tools/cli/checks.hpp"
#include "tools/cli/command.hpp"
#include "tools/cli/help.hpp"
#include "tools/cli/json_option.hpp"
#include "tools/cli/mistyped.hpp"
#include "tools/cli/standard_output.hpp"
#include "tools/cli/version.hpp"

namespace weft::tools {
namespace {

constexpr const char* kDescription =
    "RDMA over plain TCP sockets (iWARP: MPA, DDP, RDMAP), in userspace and without privileges.";

constexpr const char* kFooter =
    "Examples:\n"
    "  weft demo                                   see two processes do RDMA on this machine\n"
    "  weft rping -s -a 0.0.0.0 -P                 serve pings, also to the stock rping\n"
    "  weft rping -c -a 192.0.2.7 -C 10 -v -V      ping it ten times and check the data\n"
    "  weft --pcap ping.pcap rping -c -a ::1 -C 1  write what crossed the wire for Wireshark\n"
    "  weft --log debug rping -c -a ::1 -C 1       tell each step of a connection and each FPDU\n"
    "  weft bench lat --op send --size 8           latency next to raw TCP\n"
    "  weft run -- ibv_devinfo                     run an unchanged verbs program on weft\n"
    "  weft audit trace.pcapng                     judge the iWARP connections of a capture\n"
    "  weft dissect --overview trace.pcapng        who sent what to whom, message by message\n"
    "  weft dissect --packet 17 trace.pcapng       show each field of what lies in that packet\n"
    "  weft explain --demo                         a page that explains every operation octet by octet\n"
    "  weft keys keys                              make certificates, to try TLS with\n"
    "\n"
    "Exit codes: 0 success, 1 something failed, 2 the command line was wrong or the output\n"
    "cannot be written, 130 weft bench was interrupted;\n"
    "weft run: the program's; weft audit, weft dissect and weft explain: see their help.";

void add_global_options(CLI::App& app, GlobalOptions& options) {
  app.add_option(
         "--pcap", options.pcap,
         "Write every octet of every connection into FILE as Ethernet/IP/TCP packets that Wireshark opens; needs "
         "no capture privilege")
      ->type_name("FILE");
  app.add_option("--log", options.log, "How much to say on stderr: trace, debug, info, warn, error or off")
      ->type_name("LEVEL")
      ->check(CLI::IsMember({"trace", "debug", "info", "warn", "error", "off"}))
      ->capture_default_str();
  app.add_option("--color", options.color,
                 "Colours in reports for people: auto (on a terminal, unless NO_COLOR is set), always or never")
      ->type_name("WHEN")
      ->check(CLI::IsMember({"auto", "always", "never"}))
      ->capture_default_str();
  app.set_version_flag("--version", version_text());
}

int complain(const CLI::App& app, const std::string& sentence, ExitCode code) {
  std::fprintf(stderr, "%s: %s\n", full_name(app).c_str(), sentence.c_str());
  return static_cast<int>(code);
}

// --help and --version.
Outcome<void> print_answer(const CLI::App& app, const CLI::Success& success) {
  std::ostringstream text;
  static_cast<void>(app.exit(success, text, text));
  return print_now(text.str());
}

Outcome<void> run_selected(const Selection& selection, const GlobalOptions& options) {
  if (!selection.run)
    return usage_error(
        "name a subcommand: demo, rping, info, bench, run, audit, dissect, explain, keys or completion (weft --help "
        "explains them).");
  if (!options.command.empty() && !selection.takes_command) {
    return usage_error("'" + options.command.front() +
                       "' behind -- means nothing here; only weft run takes a program.");
  }
  if (auto set = start_log(options); !set) return set;
  if (auto set = choose_crc32c_routine(); !set) return set;
  auto done = selection.run(options);
  if (done) done = check_capture();
  return done;
}

// Takes off the command line what stands behind "--": a program's own words, which the parser must not look at.
void take_command(int& argc, char** argv, GlobalOptions& options) {
  char** const end = argv + argc;
  char** const marker = std::find(argv, end, std::string_view("--"));
  if (marker == end) return;
  options.command.assign(marker + 1, end);
  argc = static_cast<int>(marker - argv);
}

int run(int argc, char** argv) {
  CLI::App app{kDescription, "weft"};
  app.footer(kFooter);
  app.formatter(std::make_shared<HelpFormatter>());  // subcommands inherit it
  app.fallthrough();                                 // global options are welcome behind the subcommand too
  GlobalOptions options;
  take_command(argc, argv, options);
  Selection selection;
  add_global_options(app, options);
  add_demo_command(app, selection);
  add_rping_command(app, selection);
  add_info_command(app, selection);
  add_bench_command(app, selection);
  add_run_command(app, selection);
  add_audit_command(app, selection);
  add_dissect_command(app, selection);
  add_explain_command(app, selection);
  add_keys_command(app, selection);
  add_probe_command(app, selection);
  add_probe_peer_command(app, selection);
  add_completion_command(app, selection);
  Outcome<void> outcome;
  try {
    app.parse(argc, argv);
    if (app.count("--log") == 0) outcome = take_log_variable(options);
    if (outcome) outcome = run_selected(selection, options);
  } catch (const CLI::Success& success) {
    outcome = print_answer(app, success);
  } catch (const CLI::ParseError& error) {
    return complain(app, sentence_for(app, error), ExitCode::kUsage);
  } catch (const std::system_error& error) {  // of fmt, say, whose output is not taken
    outcome = output_has_failed() ? output_failure(error.code().value()) : failure(std::string(error.what()) + '.');
  }
  // Also of a failed command: what its exit code means stands in its output. It may have seen that itself.
  const bool told = !outcome && outcome.error().code == ExitCode::kUnwritten;
  if (auto written = flush_output(); !written && !told) outcome = std::move(written);
  if (outcome) return static_cast<int>(ExitCode::kSuccess);
  return complain(app, outcome.error().sentence, outcome.error().code);
}

}  // namespace
}  // namespace weft::tools

// SIGPIPE keeps its meaning: a reader of our output who goes away ends the command, as it ends other Unix tools. Where
// it is ignored flush_output() sees the error. Sockets never raise it.
int main(int argc, char** argv) {
  weft::tools::occupy_standard_descriptors();
  weft::tools::survive_size_limits();
  weft::tools::join_json_file(argc, argv);
  return weft::tools::run(argc, argv);
}
