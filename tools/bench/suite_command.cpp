// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/suite_command.hpp"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include "tools/bench/arguments.hpp"
#include "tools/bench/measure.hpp"
#include "tools/bench/suite.hpp"
#include "tools/bench/sweep.hpp"
#include "tools/cli/interruption.hpp"
#include "tools/cli/json_option.hpp"
#include "tools/cli/policy_option.hpp"
#include "tools/cli/progress_line.hpp"
#include "tools/cli/report_files.hpp"
#include "tools/cli/standard_output.hpp"
#include "tools/cli/whole_file.hpp"

namespace weft::tools::bench {
namespace {

constexpr const char* kSuiteDescription =
    "Measures the whole table of targets, one line each\n"
    "Each line shows weft's median, the median of the reference in the same run, their ratio and the target ratio.";

constexpr const char* kSuiteFooter =
    "Each line is a measurement of weft bench lat, bw, rate or setup; their help explains how they measure. The rate "
    "of 64-octet messages has UCX as its reference and needs --against ucx; other stacks are measured where they have "
    "the pattern. The lines \"same host\" go through shared memory, and so do UCX's figures there. Rivals that are not "
    "installed are named before the table, with the Debian package to install. If "
    "other processes kept the machine busy, the report ends with a warning and figures.\n"
    "On a terminal, a progress line shows the current line and repetition. After ^C or SIGTERM the table and the JSON "
    "have the completed lines, and the exit code is 130.\n"
    "\n"
    "Examples:\n"
    "  weft bench suite --quick\n"
    "  weft bench suite --against tcp,ucx,libfabric --json=figures.json --plot figures.svg\n"
    "  weft bench suite --tls --duration 20 --json=tls.json";

struct SuiteArguments {
  Options common{.duration = 4.0, .repetitions = 7};
  std::vector<std::string> against{"tcp"};
  std::string only{};
  std::string output{};
  std::string plot{};
  bool quick = false;
  bool tls = false;
};

void add_suite_options(CLI::App& command, SuiteArguments& arguments) {
  add_length_options(command, arguments.common);
  add_policy_option_of_both_ends(command, arguments.common.policy.text);
  add_against_option(command, arguments.against);
  command.add_flag("--quick", arguments.quick,
                   "0.6 seconds and 3 repetitions for each line: less than a minute without rivals");
  command.add_flag("--tls", arguments.tls,
                   "Measure the cost of TLS instead: latency, bandwidth and setups with TLS (--policy tls=require is "
                   "implied), without TLS, of raw TCP, and of OpenSSL on raw TCP, which is the reference");
  command.add_option("--only", arguments.only, "Measure only the lines whose name contains TEXT")->type_name("TEXT");
  add_json_option(command, arguments.output, "Write the table and all figures as JSON");
  register_report(command.add_option("--output", arguments.output, "The same as --json=FILE")->type_name("FILE"),
                  ReportFormat::kJson);
  CLI::Option* const plot =
      command
          .add_option(
              "--plot", arguments.plot,
              "Also measure latency and bandwidth of Sends for sizes from 2 octets to 1 MiB, and draw them to FILE "
              "as SVG")
          ->type_name("FILE");
  register_report(plot, ReportFormat::kOther);
}

// At once, and not after ten minutes of measuring.
Outcome<void> try_to_write(const std::string& path) {
  return path.empty() || path == "-" ? Outcome<void>() : check_writable(path);
}

Outcome<void> write_results(const std::string& path, const std::string& text) {
  return path.empty() ? Outcome<void>() : write_report(path, text);
}

// The measured cases in order: all, or those before ^C.
struct SuiteRun {
  std::vector<SuiteResult> results{};
  bool interrupted = false;
};

// Short: with the repetition after it, a terminal of 80 columns has room for it.
std::string title_of(std::size_t index, const std::vector<SuiteCase>& cases) {
  return "line " + std::to_string(index + 1) + " of " + std::to_string(cases.size()) + ", " + cases[index].name + ": ";
}

// With --json alone, standard output has the JSON and nothing else. A command that writes files goes on without a
// reader of its table; flush_output() sees that it was not printed.
Outcome<void> print_table_line(const SuiteArguments& arguments, const std::string& line) {
  if (arguments.output == "-") return {};
  auto printed = print_line(line);
  return report_is_wanted() ? Outcome<void>() : printed;
}

Outcome<SuiteRun> run_cases(const SuiteArguments& arguments, const std::vector<SuiteCase>& cases,
                            const std::vector<RivalStack>& stacks, const GlobalOptions& global) {
  SuiteRun run;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    SuiteResult result{.what = cases[i]};
    auto report = measure_apart(cases[i].options, global, title_of(i, cases));
    if (!report) clear_progress_line();  // its process had no time for that
    run.interrupted = !report && report.error().code == ExitCode::kInterrupted;
    if (run.interrupted) return run;
    if (report) {
      result.report = std::move(*report);
    } else {
      result.error = report.error().sentence;
    }
    if (auto printed = print_table_line(arguments, suite_line(result, stacks)); !printed)
      return std::unexpected(printed.error());
    run.results.push_back(std::move(result));
  }
  return run;
}

std::vector<std::string> names_behind(const std::vector<SuiteCase>& cases, std::size_t done) {
  std::vector<std::string> names;
  for (std::size_t i = done; i < cases.size(); ++i) names.push_back(cases[i].name);
  return names;
}

std::unexpected<Failure> interrupted_after(std::size_t done, const std::vector<std::string>& missing) {
  return std::unexpected(Failure{"interrupted: " + std::to_string(done) + " of " +
                                     std::to_string(done + missing.size()) + " lines were complete; from '" +
                                     missing.front() + "' on they are missing.",
                                 ExitCode::kInterrupted});
}

Outcome<void> plot_sweep(const SuiteArguments& arguments, const GlobalOptions& global) {
  if (arguments.plot.empty()) return {};
  const auto panels = sweep(arguments.common, global);
  if (panels) return write_results(arguments.plot, as_svg(*panels));
  clear_progress_line();
  if (panels.error().code != ExitCode::kInterrupted) return std::unexpected(panels.error());
  return std::unexpected(
      Failure{"interrupted: all lines were complete; " + arguments.plot + " is not drawn.", ExitCode::kInterrupted});
}

// Before what the text says of TLS: the last word counts.
void require_tls(std::string& text) { text = text.empty() ? "tls=require" : "tls=require," + text; }

Outcome<void> check_tls(const SuiteArguments& arguments) {
  const auto policy = read_policy(arguments.common.policy.text);
  if (!policy) return std::unexpected(policy.error());
  if (arguments.tls && policy->tls.mode != verbs::Tls::kRequire)
    return usage_error("--tls needs --policy tls=require.");
  return {};
}

// CRC and Markers are what the lines differ by.
Outcome<void> take_policy_of_lines(Options& common, std::optional<KeysInMemory>& keys) {
  for (const bool crc : {true, false}) {
    Options line = common;
    line.crc = crc;
    line.markers = !crc;
    if (auto good = take_policy(line); !good) return good;
    if (line.crc != crc || line.markers == crc) return usage_error("--policy: crc and markers are set by each line.");
  }
  auto files = keys_for(common.policy.text, keys);
  if (!files) return std::unexpected(files.error());
  common.policy.files = std::move(*files);
  return {};
}

// What contradicts itself, or cannot be written; then the lines to measure.
Outcome<std::vector<SuiteCase>> prepare(SuiteArguments& arguments, const GlobalOptions& global,
                                        std::optional<KeysInMemory>& keys) {
  const auto against = against_of(arguments.against);
  if (!against) return std::unexpected(against.error());
  if (arguments.tls) require_tls(arguments.common.policy.text);
  if (auto good = check_tls(arguments); !good) return std::unexpected(good.error());
  if (!global.pcap.empty())
    return usage_error("weft bench suite cannot be used with --pcap: it makes many connections.");
  arguments.common.against = *against;
  if (auto good = take_policy_of_lines(arguments.common, keys); !good) return std::unexpected(good.error());
  if (arguments.quick) {
    arguments.common.duration = 0.6;
    arguments.common.repetitions = 3;
  }
  for (const std::string& path : {arguments.output, arguments.plot}) {
    if (auto good = try_to_write(path); !good) return std::unexpected(good.error());
  }
  auto cases = arguments.tls ? tls_cases(arguments.common) : suite_cases(arguments.common);
  std::erase_if(cases, [&](const SuiteCase& each) { return each.name.find(arguments.only) == std::string::npos; });
  if (cases.empty()) return usage_error("--only: no line has a name that contains '" + arguments.only + "'.");
  return cases;
}

// Were the figures disturbed by other work?
Outcome<void> judge_machine(const SuiteArguments& arguments, const std::optional<ProcessorTime>& before,
                            SuiteSetting& setting) {
  const auto after = processor_time_now();
  if (!before || !after) return {};
  setting.busy = busy_between(*before, *after);
  const std::string text = busy_text(*setting.busy, std::thread::hardware_concurrency(), setting.load);
  return text.empty() ? Outcome<void>() : print_table_line(arguments, '\n' + text);
}

Outcome<void> run_suite(SuiteArguments arguments, const GlobalOptions& global) {
  std::optional<KeysInMemory> keys;
  const auto cases = prepare(arguments, global, keys);
  if (!cases) return std::unexpected(cases.error());
  if (auto caught = catch_interruptions(); !caught) return caught;
  SuiteSetting setting{.stacks = stacks_of(arguments.common.against), .load = load_now()};
  for (const RivalStack& stack : setting.stacks) {
    if (!stack.missing.empty()) print_error("weft bench suite: " + stack.missing + ".");
  }
  if (auto printed = print_table_line(arguments, suite_heading(setting.stacks)); !printed) return printed;
  const auto before = processor_time_now();
  const auto run = run_cases(arguments, *cases, setting.stacks, global);
  if (!run) return std::unexpected(run.error());
  if (auto printed = judge_machine(arguments, before, setting); !printed) return printed;
  setting.missing = names_behind(*cases, run->results.size());
  if (auto written = write_results(arguments.output, suite_json(run->results, setting)); !written) return written;
  if (run->interrupted) return interrupted_after(run->results.size(), setting.missing);
  if (auto drawn = plot_sweep(arguments, global); !drawn) return drawn;
  const auto failed = std::ranges::count_if(run->results, [](const SuiteResult& each) { return !each.report; });
  if (failed != 0) return failure(std::to_string(failed) + " measurements failed.");
  return {};
}

}  // namespace

void add_suite_command(CLI::App& parent, Selection& selection) {
  CLI::App* command = parent.add_subcommand("suite", kSuiteDescription);
  command->footer(kSuiteFooter);
  const auto arguments = std::make_shared<SuiteArguments>();
  add_suite_options(*command, *arguments);
  command->callback([arguments, &selection] {
    selection.run = [arguments](const GlobalOptions& global) { return run_suite(*arguments, global); };
  });
}

}  // namespace weft::tools::bench
