// SPDX-License-Identifier: Apache-2.0
// The command line of `weft probe`.
#include "probe/runner.hpp"

#include <fmt/format.h>

#include <chrono>
#include <memory>
#include <string>

#include "tools/cli/checks.hpp"
#include "tools/cli/command.hpp"
#include "tools/cli/interruption.hpp"
#include "tools/cli/standard_output.hpp"
#include "tools/probe/fuzzing.hpp"
#include "tools/probe/listening.hpp"

namespace weft::tools {
namespace {

constexpr const char* kProbeDescription =
    "Leads conversations with an iWARP endpoint, breaks one rule of RFC 5044, 6581, 5041, 5040 or 7306 in each, and "
    "judges "
    "the reaction clause by clause.";

constexpr const char* kProbeFooter =
    "Examples:\n"
    "  weft probe 192.0.2.7:4420                       the endpoint there, whatever it is\n"
    "  weft probe --profile weft 127.0.0.1:4420        a weft probe-peer, which every clause can be reached in\n"
    "  weft probe --listen 4420                        the endpoint that connects there: start it when asked to\n"
    "  weft probe --listen 4420 --run \"rping -c -a {host} -p {port} -C 1\" --profile rping\n"
    "  weft probe --list                               all cases\n";

struct ProbeArguments {
  std::string target{};
  probing::ListenArguments listen{};
  std::string profile = "raw";
  bool list{};
  std::uint64_t seed = 1;
  unsigned at_a_time = 0;
  probe::CaseFilter filter{};
  std::uint32_t patience = 5000;
  std::uint32_t fuzz{};
  std::string replay{};
  std::string folder = ".";
  bool quiet{};
};

Outcome<void> list_cases() {
  std::string text;
  for (const probe::Case& one : probe::all_cases())
    text += fmt::format("{:36} {:18} {}\n", one.name, one.clause, one.what);
  return print_now(text);
}

Outcome<void> run_probe(const ProbeArguments& arguments) {
  if (arguments.list) return list_cases();
  std::unique_ptr<probe::Way> way;
  if (!arguments.listen.at.empty()) {
    auto made = probing::way_by(arguments.listen, arguments.profile, arguments.target);
    if (!made) return std::unexpected(made.error());
    way = std::move(*made);
  } else {
    const auto endpoint = transport::Endpoint::parse(arguments.target);
    if (!endpoint)
      return usage_error("'" + arguments.target + "': " + std::string(transport::describe(endpoint.error())));
    way = probe::way_to_listener(arguments.profile, *endpoint);
  }
  if (!way) return usage_error("no profile has the name '" + arguments.profile + "'.");
  way->patience = std::chrono::milliseconds(arguments.patience);
  if (auto there = probe::knock(*way); !there) return std::unexpected(Failure{there.error(), static_cast<ExitCode>(3)});
  if (!arguments.replay.empty()) return probing::replay(*way, arguments.replay, arguments.quiet);
  if (arguments.fuzz != 0) {
    if (auto caught = catch_interruptions(); !caught) return caught;
    return probing::fuzz(
        *way,
        {.seconds = arguments.fuzz, .seed = arguments.seed, .folder = arguments.folder, .quiet = arguments.quiet});
  }
  probe::RunOptions options{.filter = arguments.filter, .seed = arguments.seed, .at_a_time = arguments.at_a_time};
  options.on_result = [](const probe::CaseResult& result, std::size_t done, std::size_t all) {
    fmt::print("[{:3}/{:3}] {:14} {:18} {:36} {:5} ms  {}\n", done, all, probe::name(result.verdict),
               result.what->clause, result.what->name, result.took.count(), result.reason);
  };
  const probe::Report report = probe::run(*way, options);
  bool failed = false;
  for (const probe::CaseResult& one : report.cases) failed = failed || one.verdict == probe::Verdict::kFail;
  for (const probe::RuleResult& one : report.rules) {
    if (one.breaches == 0) continue;
    failed = failed || one.verdict == probe::Verdict::kFail;
    fmt::print("{:14} {:18} {} times, first in {}: {}\n", probe::name(one.verdict), one.rule->clause, one.breaches,
               report.cases[one.case_index].what->name, one.first->message);
  }
  fmt::print("{} ms\n", report.took.count());
  if (failed) return failure("the peer does not keep every rule.");
  return {};
}

}  // namespace

void add_probe_command(CLI::App& app, Selection& selection) {
  auto arguments = std::make_shared<ProbeArguments>();
  CLI::App* probe = app.add_subcommand("probe", kProbeDescription);
  probe->footer(kProbeFooter);
  probe->add_option("HOST:PORT", arguments->target, "The one address that octets are sent to");
  probe->add_option("--profile", arguments->profile, "What is there: weft, rping or raw")
      ->type_name("NAME")
      ->capture_default_str();
  probing::add_listen_options(*probe, arguments->listen);
  probe->add_flag("--list", arguments->list, "List all cases");
  probe->add_option("--seed", arguments->seed, "Of what is random")->type_name("N")->capture_default_str();
  probe->add_option("--at-a-time", arguments->at_a_time, "Conversations side by side; 0: what the profile allows")
      ->type_name("N");
  probe->add_option("--patience", arguments->patience, "How long a reaction is waited for")
      ->type_name("MS")
      ->capture_default_str();
  probe->add_option("--fuzz", arguments->fuzz, "Instead of the cases: random conversations for so long")
      ->type_name("SECONDS");
  probe->add_option("--replay", arguments->replay, "Instead of the cases: the conversation of this case file")
      ->type_name("FILE");
  probe->add_option("--fuzz-dir", arguments->folder, "Where --fuzz writes its case files")
      ->type_name("DIR")
      ->capture_default_str();
  probe->add_flag("-q,--quiet", arguments->quiet, "Print nothing; the exit code tells");
  probe->add_option("--only", arguments->filter.only, "These cases alone: names, clause ids or their beginnings")
      ->type_name("CASE")
      ->delimiter(',')
      ->allow_extra_args(false);
  probe->add_option("--skip", arguments->filter.skip, "Leave these out")
      ->type_name("CASE")
      ->delimiter(',')
      ->allow_extra_args(false);
  probe->callback(
      [&selection, arguments] { selection.run = [arguments](const GlobalOptions&) { return run_probe(*arguments); }; });
}

}  // namespace weft::tools
