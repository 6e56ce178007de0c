// SPDX-License-Identifier: Apache-2.0
// The `weft` command: finds the subcommand, runs it, and reports an error as one line on stderr and an exit code.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "tools/cli/checks.hpp"
#include "tools/cli/command.hpp"
#include "tools/cli/help.hpp"
#include "tools/cli/json_option.hpp"
#include "tools/cli/mistyped.hpp"
#include "tools/cli/report_files.hpp"
#include "tools/cli/standard_output.hpp"
#include "tools/cli/version.hpp"

namespace weft::tools {
namespace {

constexpr const char* kDescription =
    "RDMA over plain TCP (iWARP), in userspace: no RDMA hardware, no kernel module, no privileges.\n"
    "Run verbs programs unchanged, test and audit iWARP peers, and read captures.";

constexpr const char* kFooter =
    "'weft help SUBCOMMAND' explains one subcommand.\n"
    "\n"
    "Examples:\n"
    "  weft demo                       two processes do RDMA on this machine\n"
    "  weft run rping -s -a 0.0.0.0    an unchanged verbs program runs on weft\n"
    "  weft rping -c -a 192.0.2.7      ping an rping server, weft's or another's\n"
    "  weft bench lat --size 8         measure latency beside raw TCP\n"
    "  weft audit trace.pcapng         check a capture against the RFCs\n"
    "  weft dissect trace.pcapng       show the messages and fields of a capture\n"
    "  weft explain --demo             write a page that explains every operation\n"
    "  weft probe 192.0.2.7:4420       test a live endpoint, clause by clause\n"
    "  weft --pcap t.pcap rping -s     write the traffic to a capture file\n"
    "\n"
    "Exit codes: 0 success, 1 failure, 2 wrong command line or output that could not be written, 130 interrupted. "
    "weft run exits with the program's code; audit, dissect, explain and probe have more codes (see their help).";

// Every subcommand, in the order of --help.
constexpr std::array kSubcommands{
    &add_demo_command,  &add_run_command,     &add_rping_command,   &add_bench_command, &add_info_command,
    &add_audit_command, &add_dissect_command, &add_explain_command, &add_probe_command, &add_probe_peer_command,
    &add_keys_command,  &add_help_command,    &add_version_command};

void add_global_options(CLI::App& app, GlobalOptions& options) {
  app.add_option(
         "--pcap", options.pcap,
         "Write the traffic of connections and datagrams to FILE, as packets that Wireshark reads; needs no privileges")
      ->type_name("FILE");
  app.add_option("--log", options.log, "Log to stderr from this level on: debug, info, warn, error or off")
      ->type_name("LEVEL")
      ->check(CLI::IsMember({"debug", "info", "warn", "error", "off"}))
      ->capture_default_str();
  app.add_option("--color", options.color,
                 "Color reports: auto (on a terminal, unless NO_COLOR is set), always or never")
      ->type_name("WHEN")
      ->check(CLI::IsMember({"auto", "always", "never"}))
      ->capture_default_str();
  app.set_version_flag("--version", version_text());
  app.get_option("--version")->description("Print the version and exit");
}

// Not --json[=FILE], whose value is optional.
bool is_plain_flag(const CLI::Option* option) {
  return option->get_expected_max() == 0 && option->get_type_name().empty();
}

// A subcommand never contains another one of the same level, whatever words follow it: those are its own.
void one_subcommand_at_most(CLI::App& app) {
  app.require_subcommand(0, 1);
  app.fallthrough();  // options of `app` are accepted after the subcommand, too
  for (CLI::Option* option : app.get_options([](const CLI::Option*) { return true; }))
    leave_checks_undescribed(*option);
  for (CLI::Option* option : app.get_options(is_plain_flag)) option->disable_flag_override();
  for (CLI::App* each : app.get_subcommands([](const CLI::App*) { return true; })) one_subcommand_at_most(*each);
}

int complain(const CLI::App& app, const std::string& sentence, ExitCode code) {
  print_error(full_name(app) + ": " + sentence);
  return static_cast<int>(code);
}

// --help and --version.
Outcome<void> print_answer(const CLI::App& app, const CLI::Success& success) {
  std::ostringstream text;
  static_cast<void>(app.exit(success, text, text));
  return print_now(text.str());
}

Outcome<void> run_selected(const Selection& selection, const GlobalOptions& options) {
  if (auto set = start_log(options); !set) return set;
  if (auto set = choose_crc32c_routine(); !set) return set;
  auto done = selection.run(options);
  if (done) done = check_capture();
  return done;
}

bool takes_next_word(const CLI::App& app, const std::string& word) {
  const CLI::Option* const option = app.get_option_no_throw(word);
  return option != nullptr && option->get_items_expected_min() > 0;
}

// The first word that is neither an option nor an option's value; of `command`, or of weft.
std::size_t operand_in(const CLI::App& app, const CLI::App& command, const std::vector<std::string>& words,
                       std::size_t from) {
  for (std::size_t i = from; i < words.size(); ++i) {
    if (words[i] == "--" || !words[i].starts_with('-')) return i;
    if (takes_next_word(app, words[i]) || takes_next_word(command, words[i])) ++i;
  }
  return words.size();
}

void erase_word(int& argc, char** argv, std::size_t at) {
  std::copy(argv + at + 1, argv + argc, argv + at);
  argv[--argc] = nullptr;
}

// A "--" before a subcommand ends the options of the command above it; the subcommand has its own. Returns the words
// without it.
std::vector<std::string> take_separators(const CLI::App& app, int& argc, char** argv) {
  std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  std::size_t at = 0;
  for (const CLI::App* command = &app; command != nullptr && !names_of_subcommands(*command).empty(); ++at) {
    at = operand_in(app, *command, words, at);
    if (at < words.size() && words[at] == "--") {
      erase_word(argc, argv, at + 1);
      words.erase(words.begin() + static_cast<std::ptrdiff_t>(at));
    }
    command = at < words.size() ? subcommand_named(*command, words[at]) : nullptr;
  }
  return words;
}

// Takes the program of `weft run [options] [--] PROGRAM` off the command line: the parser must not look at its words.
void take_command(const CLI::App& app, int& argc, char** argv, GlobalOptions& options) {
  const std::vector<std::string> words = take_separators(app, argc, argv);
  const CLI::App* const run = app.get_subcommand("run");
  const std::size_t subcommand = operand_in(app, app, words, 0);
  if (subcommand >= words.size() || words[subcommand] != run->get_name()) return;
  const std::size_t at = operand_in(app, *run, words, subcommand + 1);
  if (at >= words.size()) return;
  options.command.assign(words.begin() + static_cast<std::ptrdiff_t>(at) + (words[at] == "--" ? 1 : 0), words.end());
  argc = static_cast<int>(at) + 1;
}

// `weft` alone: the help, where errors go.
int explain_usage(const CLI::App& app) {
  std::fputs(help_of(app, app).c_str(), stderr);
  return static_cast<int>(ExitCode::kUsage);
}

int run(int argc, char** argv) {
  CLI::App app{kDescription, "weft"};
  app.footer(kFooter);
  app.formatter(std::make_shared<HelpFormatter>());  // subcommands inherit it
  GlobalOptions options;
  Selection selection;
  add_global_options(app, options);
  for (const auto add : kSubcommands) add(app, selection);
  one_subcommand_at_most(app);
  take_command(app, argc, argv, options);
  join_json_file(argc, argv);
  Outcome<void> outcome;
  bool answered = false;  // --help or --version: other options have no effect
  try {
    app.parse(argc, argv);
    if (!selection.run) return explain_usage(app);
    if (app.count("--log") == 0) outcome = take_log_variable(options);
    if (report_is_wanted()) survive_closed_pipes();
    if (outcome) outcome = run_selected(selection, options);
  } catch (const CLI::Success& success) {
    answered = true;
    outcome = print_answer(app, success);
  } catch (const CLI::ParseError& error) {
    outcome = usage_error(sentence_for(app, error));
  } catch (const std::system_error& error) {  // of fmt, say, whose output is not taken
    outcome = output_has_failed() ? output_failure(error.code().value()) : failure(std::string(error.what()) + '.');
  }
  // Also of a failed command: what its exit code means stands in its output. It may have seen that itself.
  const bool told = !outcome && outcome.error().code == ExitCode::kUnwritten;
  if (auto written = flush_output(); !written && !told) outcome = std::move(written);
  if (!answered) outcome = settle_reports(full_name(app), std::move(outcome));
  if (outcome) return static_cast<int>(ExitCode::kSuccess);
  return complain(app, outcome.error().sentence, outcome.error().code);
}

}  // namespace
}  // namespace weft::tools

// SIGPIPE keeps its meaning: a reader of our output who goes away ends the command, as it ends other Unix tools; but
// not one that was asked for report files. Where it is ignored flush_output() sees the error. Sockets never raise it.
int main(int argc, char** argv) {
  weft::tools::occupy_standard_descriptors();
  weft::tools::survive_size_limits();
  return weft::tools::run(argc, argv);
}
