// SPDX-License-Identifier: Apache-2.0
// The command line of `weft probe`.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "common/number.hpp"
#include "probe/way_profile.hpp"
#include "tools/cli/checks.hpp"
#include "tools/cli/colour.hpp"
#include "tools/cli/command.hpp"
#include "tools/cli/interruption.hpp"
#include "tools/cli/json_option.hpp"
#include "tools/cli/known_findings.hpp"
#include "tools/cli/progress_line.hpp"
#include "tools/cli/report_files.hpp"
#include "tools/cli/standard_output.hpp"
#include "tools/cli/whole_file.hpp"
#include "tools/probe/captures.hpp"
#include "tools/probe/fuzzing.hpp"
#include "tools/probe/html_report.hpp"
#include "tools/probe/json_report.hpp"
#include "tools/probe/junit_report.hpp"
#include "tools/probe/known.hpp"
#include "tools/probe/listening.hpp"
#include "tools/probe/options.hpp"
#include "tools/probe/outcome.hpp"
#include "tools/probe/profile_file.hpp"
#include "tools/probe/text_report.hpp"

namespace weft::tools {
namespace {

constexpr const char* kProbeDescription =
    "Tests a live iWARP endpoint, clause by clause\n"
    "Runs protocol exchanges with the endpoint, breaks one rule of RFC 5044, 6581, 5041, 5040 or 7306 in each, and "
    "checks the reaction: the Terminate message, the end of the connection, the memory that must not change. Also "
    "applies the rules of weft audit to everything the peer sends. Sends only to the given address.";

constexpr const char* kProbeFooter =
    "Profiles tell weft what it is talking to, and so which cases apply:\n"
    "  raw      any endpoint: startup, and errors that end a connection\n"
    "  rping    an rping server (every RDMA stack has one): its RDMA Reads, too\n"
    "  weft     a weft probe-peer: memory with all rights, windows, shared receives, atomics\n"
    "  FILE     your own ULP, described in the file (docs/probe-profiles.md)\n"
    "\n"
    "Examples:\n"
    "  weft probe 192.0.2.7:4420                         any endpoint\n"
    "  weft probe --profile rping 192.0.2.7:7174         an rping -s -P\n"
    "  weft probe --profile weft [::1]:4420              a weft probe-peer -s, every clause\n"
    "  weft probe --html report.html --pcap-dir caps 192.0.2.7:4420\n"
    "      a report for the vendor, and a capture of each case\n"
    "  weft probe --only MPA-4.4 192.0.2.7:4420          only the cases of RFC 5044 section 4.4\n"
    "  weft probe --depth deep --known bugs.txt 192.0.2.7:4420\n"
    "      thousands of combinations; only new failures fail\n"
    "  weft probe --only crc.after-32 192.0.2.7:4420     combinations whose names begin with this\n"
    "  weft probe --fuzz 60 --seed 7 192.0.2.7:4420      random exchanges for a minute\n"
    "  weft probe --replay probe-7.case 192.0.2.7:4420   repeat one of them\n"
    "  weft probe --profile rping --listen 7174 --run \"rping -c -a {host} -p {port} -C 1\"\n"
    "      test a connecting endpoint, started for each connection\n"
    "  weft probe --list                                 list all cases\n"
    "\n"
    "Exit codes: 0 no failure, 1 failures (with --strict: or warnings), 2 report that could not be written or wrong "
    "command line, 3 no endpoint responded, it has no iWARP, or it went away during the run.";

using probing::Options;

// Returns a sample of the cases for any peer.
std::vector<const probe::Case*> sample(probe::Depth depth, std::uint64_t seed = 1) {
  return probe::planned_cases(depth, seed, [](std::uint32_t) { return true; });
}

Outcome<void> list_cases(const Options& options) {
  std::string text;
  const auto put = [&](const probe::Case& one) {
    if (options.filter.allows(one)) text += fmt::format("{:36} {:18} {}\n", one.name, one.clause, one.what);
  };
  for (const probe::Case& one : probe::all_cases()) put(one);
  for (const probe::Case* const one : sample(options.sampling.depth, options.sampling.seed)) put(*one);
  return print_now(text);
}

// Names and clauses that no case has are a mistake that would make a report look clean.
Outcome<void> check_filter(const probe::CaseFilter& filter) {
  std::optional<std::vector<const probe::Case*>> deep;  // sampled once, and only where a word may name a rule
  for (const auto* words : {&filter.only, &filter.skip}) {
    for (const std::string& word : *words) {
      const probe::CaseFilter alone{.only = {word}};
      if (probe::names_combinations(word)) {
        if (probe::planned_cases_of(word).empty())
          return usage_error("no combination has the name '" + word +
                             "', or one that begins with it (see weft probe --list --depth deep).");
        continue;
      }
      if (std::ranges::any_of(probe::all_cases(), [&](const probe::Case& one) { return alone.allows(one); })) continue;
      if (!deep) deep = sample(probe::Depth::kDeep);
      if (std::ranges::none_of(*deep, [&](const probe::Case* one) { return alone.allows(*one); }))
        return usage_error("no case name or clause id begins with '" + word + "' (see weft probe --list).");
    }
  }
  return {};
}

// "192.0.2.7:4420", "[::1]:4420", "host:4420".
Outcome<verbs::Endpoint> read_target(const std::string& target) {
  if (target.empty()) return usage_error("name the endpoint to test: HOST:PORT.");
  const std::size_t colon = target.rfind(':');
  const bool has_host = colon != std::string::npos && colon != 0;
  const auto port = has_host ? parse_number<std::uint16_t>(std::string_view(target).substr(colon + 1)) : std::nullopt;
  if (port.value_or(0) == 0) return usage_error("'" + target + "' is not HOST:PORT (IPv6: [::1]:4420).");
  std::string host = target.substr(0, colon);
  if (host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
  return look_up("HOST:PORT", host, *port);
}

Outcome<std::unique_ptr<probe::Way>> way_of(const Options& options) {
  if (options.listen.at.empty() && !options.listen.from.empty()) return usage_error("--from needs --listen.");
  auto own = probing::profile_of(options.profile);
  if (!own) return std::unexpected(own.error());
  if (!options.listen.at.empty()) return probing::way_by(options.listen, options.profile, *own, options.target);
  const auto endpoint = read_target(options.target);
  if (!endpoint) return std::unexpected(endpoint.error());
  if (*own) return probe::way_by_profile(options.profile, **own, probe::way_to_listener("raw", *endpoint));
  return probe::way_to_listener(options.profile, *endpoint);
}

// One that fails does not keep the others from being written.
Outcome<void> write_reports(const probe::Report& report, const Options& options) {
  Outcome<void> result;
  const auto keep = [&](const Outcome<void>& written) {
    if (!written && result) result = written;
  };
  if (!options.json.empty())
    keep(write_report(options.json, probing::json_of(report, options.strict), Readers::kOwner));
  if (!options.junit.empty()) keep(write_file(options.junit, probing::junit_of(report, options.strict)));
  if (!options.html.empty()) keep(write_file(options.html, probing::html_of(report, options.strict), Readers::kOwner));
  if (!options.captures.empty()) keep(probing::write_captures(report, options.captures));
  return result;
}

Outcome<void> run_cases(probe::Way& way, const Options& options, const std::string& target, const Palette& palette,
                        KnownFindings known) {
  ProgressLine progress;
  std::atomic<bool> stop = false;
  Outcome<void> told;
  probe::RunOptions run{.filter = options.filter,
                        .depth = options.sampling.depth,
                        .seed = options.sampling.seed,
                        .at_a_time = options.at_a_time,
                        .stop = &stop};
  run.keeps_all = !options.captures.empty();
  run.on_result = [&](const probe::CaseResult& result, std::size_t done, std::size_t all) {
    stop = interrupted();
    if (options.quiet) return;
    const std::string line = probing::progress_text(result, done, all, palette);
    if (!options.verbose) return progress.show(line);
    if (told) told = print_now(line + "\n");
  };
  std::vector<probe::Report> runs;
  do runs.push_back(probe::run(way, run));
  while (runs.size() < options.sampling.repeat && !stop && !runs.back().gone);
  progress.clear();
  probe::Report report = probe::merge(std::move(runs));
  report.target = target;
  report.title = options.title;
  probing::mark_known(report, std::move(known));
  if (!options.quiet && told) told = print_now(probing::text_of(report, options.strict, palette));
  const Outcome<void> written = write_reports(report, options);
  if (!told) return told;
  return written ? probing::outcome_of(report, options.strict) : written;
}

// The reports of a run that could not begin.
Outcome<void> report_no_peer(const probe::Way& way, const Options& options, const std::string& why) {
  const probe::Report report{.title = options.title,
                             .target = way.place.empty() ? options.target : way.place,
                             .profile = options.profile,
                             .listens = !options.listen.at.empty(),
                             .seed = options.sampling.seed,
                             .depth = options.sampling.depth,
                             .started = std::chrono::system_clock::now(),
                             .gone = probe::PeerGone{.reason = why}};
  const bool cases = options.random.fuzz == 0 && options.random.replay.empty();
  const Outcome<void> written = cases ? write_reports(report, options) : Outcome<void>();
  return written ? probing::no_peer(why + ".") : written;
}

Outcome<void> run_probe(const Options& options, const GlobalOptions& global) {
  if (auto checked = check_filter(options.filter); !checked) return checked;
  if (options.list) return list_cases(options);
  auto known = KnownFindings::read(options.known, is_rule_or_case);
  if (!known) return std::unexpected(known.error());
  auto made = way_of(options);
  if (!made) return std::unexpected(made.error());
  std::optional<probe::Script> repeated;
  if (!options.random.replay.empty()) {
    auto read = probing::read_case(options.random.replay);
    if (!read) return std::unexpected(read.error());
    repeated = std::move(*read);
  }
  const auto way = std::move(*made);
  way->patience = std::chrono::milliseconds(options.patience);
  way->first_fpdu_delay = std::chrono::milliseconds(options.first_fpdu_delay);
  if (auto caught = catch_interruptions(); !caught) return caught;
  if (!options.captures.empty()) survive_closed_pipes();
  if (auto there = probe::meet(*way); !there) return report_no_peer(*way, options, there.error());
  if (repeated) return probing::replay(*way, *repeated, options.quiet);
  if (options.random.fuzz != 0)
    return probing::fuzz(*way, {.seconds = options.random.fuzz,
                                .seed = options.sampling.seed,
                                .folder = options.random.folder,
                                .quiet = options.quiet});
  return run_cases(*way, options, way->place.empty() ? options.target : way->place,
                   palette_for(global.color, STDOUT_FILENO), std::move(*known));
}

void add_report_options(CLI::App& probe, Options& options) {
  add_json_option(probe, options.json, "Write the report as JSON (schema: docs/probe.schema.json)");
  register_report(
      probe.add_option("--junit", options.junit, "Write the report to this file as JUnit XML, for CI systems")
          ->type_name("FILE"),
      ReportFormat::kJunit);
  register_report(
      probe.add_option("--html", options.html, "Write the report to this file as a self-contained web page")
          ->type_name("FILE"),
      ReportFormat::kOther);
  probe.add_option("--pcap-dir", options.captures, "Write a capture of each case to this directory")->type_name("DIR");
  probe.add_flag("-q,--quiet", options.quiet, "Print no report; only the exit code counts");
  probe.add_flag("-v,--verbose", options.verbose, "Print a line for each completed case");
  probe.add_flag("--strict", options.strict, "Treat warnings as failures");
  probe.add_option("--title", options.title, "Title of the reports, instead of the endpoint's address")
      ->type_name("TEXT");
  probe
      .add_option("--known", options.known,
                  "File of known findings: cases and clauses that may fail (format: docs/probe.md)")
      ->type_name("FILE");
}

void add_choice_options(CLI::App& probe, Options& options) {
  // One word each: else the target after it would be taken for a case.
  probe.add_option("--only", options.filter.only, "Run only these cases: names, clause ids or prefixes")
      ->type_name("CASE")
      ->delimiter(',')
      ->allow_extra_args(false);
  probe.add_option("--skip", options.filter.skip, "Do not run these cases: names, clause ids or prefixes")
      ->type_name("CASE")
      ->delimiter(',')
      ->allow_extra_args(false);
  probe.add_flag("--list", options.list, "List all cases: name, clause, action and expected reaction");
  probe
      .add_option("--repeat", options.sampling.repeat,
                  "Run all cases this many times; a verdict that differs is reported as flaky")
      ->type_name("N")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  const std::map<std::string, probe::Depth> depths{
      {"quick", probe::Depth::kQuick}, {"normal", probe::Depth::kNormal}, {"deep", probe::Depth::kDeep}};
  probe
      .add_option(
          "--depth", options.sampling.depth,
          "How many combinations of place, value, message and segmentation to try: quick, normal (a minute at most) "
          "or deep (ten)")
      ->type_name("DEPTH")
      ->transform(CLI::CheckedTransformer(depths).description(""))
      ->default_str("normal");
  probe.add_option("--seed", options.sampling.seed, "Random seed; the same seed sends the same octets")
      ->type_name("N")
      ->capture_default_str();
  probe
      .add_option("--at-a-time", options.at_a_time, "Number of parallel connections; 0: as many as the profile allows")
      ->type_name("N")
      ->check(CLI::Range(0, 64))
      ->capture_default_str();
  probe.add_option("--patience", options.patience, "Time to wait for a reaction")
      ->type_name("MS")
      ->check(CLI::Range(10, 600000))
      ->capture_default_str();
  probe
      .add_option("--first-fpdu-delay", options.first_fpdu_delay,
                  "Delay between the peer's Reply and the first FPDU (for Linux siw: 200)")
      ->type_name("MS")
      ->check(CLI::Range(0, 10000))
      ->capture_default_str();
}

void add_random_options(CLI::App& probe, Options& options) {
  probe.add_option("--fuzz", options.random.fuzz, "Run random exchanges for this time, instead of the cases")
      ->type_name("SECONDS")
      ->check(CLI::Range(1, 86400));
  probe.add_option("--fuzz-dir", options.random.folder, "Directory for the minimized case files that --fuzz writes")
      ->type_name("DIR")
      ->capture_default_str();
  probe.add_option("--replay", options.random.replay, "Repeat the exchange of this case file, instead of the cases")
      ->type_name("FILE");
}

}  // namespace

void add_probe_command(CLI::App& app, Selection& selection) {
  auto options = std::make_shared<Options>();
  CLI::App* probe = app.add_subcommand("probe", kProbeDescription);
  probe->footer(kProbeFooter);
  probe->add_option("HOST:PORT", options->target, "The endpoint to test");
  probe
      ->add_option("--profile", options->profile,
                   "Kind of endpoint: raw, rping or weft, or a file that describes your own ULP")
      ->type_name("NAME|FILE")
      ->capture_default_str();
  add_choice_options(*probe, *options);
  probing::add_listen_options(*probe, options->listen);
  add_report_options(*probe, *options);
  add_random_options(*probe, *options);
  probe->get_option("--list")->excludes("--json")->excludes("--junit")->excludes("--html");
  probe->callback([&selection, options] {
    options->quiet = options->quiet || options->json == "-";
    selection.run = [options](const GlobalOptions& global) { return run_probe(*options, global); };
  });
}

}  // namespace weft::tools
