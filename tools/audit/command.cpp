// SPDX-License-Identifier: Apache-2.0
// `weft audit`: reads a capture, judges it clause by clause, and says so with its exit code.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "conformance/capture_reader.hpp"
#include "tools/audit/exit_codes.hpp"
#include "tools/audit/progress.hpp"
#include "tools/audit/report.hpp"
#include "tools/cli/command.hpp"
#include "tools/cli/interrupt.hpp"

namespace weft::tools {
namespace {

using conformance::CaptureReader;
using conformance::Severity;

constexpr const char* kAuditDescription =
    "Judges the iWARP connections of a capture clause by clause: RFC 5044 and 6581 (MPA), 5041 (DDP), 5040 and 7306 "
    "(RDMAP). Each finding names who broke the rule, in which packet (as Wireshark numbers them) and octet.";

constexpr const char* kAuditFooter =
    "Examples:\n"
    "  weft audit trace.pcapng                     a report for people\n"
    "  weft audit --quiet --json out.json t.pcap   for a program; the exit code tells too\n"
    "  tcpdump -w - port 7174 | weft audit -       from a pipe\n"
    "  weft audit -i eth0                          live, until interrupted\n"
    "  weft audit --skip MPA-5.1 trace.pcap        without the rules of RFC 5044 section 5.1\n"
    "  weft audit --list                           all rules\n"
    "\n"
    "Exit codes: 0 no violation, 1 violations (with --strict: or warnings), 2 the capture could not be read or the\n"
    "command line was wrong, 3 no iWARP in it. What could be read before the damage is reported all the same.";

struct AuditOptions {
  std::string file{};
  std::string interface{};
  std::string json{};
  std::string junit{};
  bool quiet{};
  bool list{};
  bool strict{};
  std::size_t max_connections = 10000;
  conformance::RuleFilter filter{};
};

void list_rules() {
  for (const conformance::Rule* rule : conformance::all_rules()) {
    fmt::print("{:18} {:10} {:11} {:16} {}\n", rule->clause, conformance::name(rule->severity),
               conformance::name(rule->layer), rule->section, rule->sentence);
  }
}

// Ids and prefixes that no rule has are a mistake that would make a report look clean.
Outcome<void> check_filter(const AuditOptions& options) {
  for (const auto* prefixes : {&options.filter.only, &options.filter.skip}) {
    for (const std::string& prefix : *prefixes) {
      const bool known = std::ranges::any_of(
          conformance::all_rules(), [&](const conformance::Rule* rule) { return rule->clause.starts_with(prefix); });
      if (!known)
        return usage_error("no rule has an id that begins with '" + prefix + "' (weft audit --list shows them).");
    }
  }
  return {};
}

Outcome<void> write_file(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file) return std::unexpected(Failure{"cannot write '" + path + "'.", kUnreadable});
  return {};
}

// Everything that the capture holds, up to its end, its damage or an interrupt.
audit::Report read_all(CaptureReader& reader, const AuditOptions& options) {
  audit::Report report{.file = options.interface.empty() ? options.file : options.interface};
  conformance::CaptureAudit judge(options.filter);
  audit::Progress progress(!options.quiet);
  const auto collect = [&] {
    while (auto connection = judge.next()) report.take(std::move(*connection), options.max_connections);
  };
  const auto damage = conformance::read_packets(reader, [&](const conformance::Packet& packet) {
    judge.take(packet);
    collect();
    progress.tell(reader);
  });
  if (damage) report.damage = damage->sentence;
  judge.finish();
  collect();
  progress.clear();
  report.packets = judge.packets();
  report.tcp_connections = judge.tcp_connections();
  std::ranges::sort(report.connections, {}, [](const auto& connection) { return connection.info.number; });
  return report;
}

Outcome<void> verdict(const audit::Report& report, bool strict) {
  if (!report.damage.empty()) return std::unexpected(Failure{report.damage, kUnreadable});
  if (report.connections.empty())
    return std::unexpected(Failure{"no iWARP connection in " + report.file + ".", kNoIwarp});
  const std::size_t violations = report.count(Severity::kViolation);
  const std::size_t warnings = strict ? report.count(Severity::kWarning) : 0;
  if (violations + warnings == 0) return {};
  return failure(fmt::format("{} violation{}{} in {}.", violations, violations == 1 ? "" : "s",
                             strict ? fmt::format(", {} warning{}", warnings, warnings == 1 ? "" : "s") : "",
                             report.file));
}

// Up to the end or an interrupt.
Outcome<audit::Report> judge(const AuditOptions& options) {
  Interrupt interrupt;
  auto reader = options.interface.empty() ? CaptureReader::open(options.file, &interrupt.stop())
                                          : CaptureReader::open_interface(options.interface, &interrupt.stop());
  if (!reader) return std::unexpected(Failure{reader.error().sentence, kUnreadable});
  return read_all(*reader, options);
}

Outcome<void> run_audit(const AuditOptions& options) {
  if (options.list) {
    list_rules();
    return {};
  }
  if (options.file.empty() == options.interface.empty())
    return usage_error("name a capture file, or an interface with -i.");
  if (auto checked = check_filter(options); !checked) return checked;
  const auto report = judge(options);
  if (!report) return std::unexpected(report.error());
  if (!options.quiet) fmt::print("{}", audit::text_of(*report));
  if (!options.json.empty()) {
    if (auto written = write_file(options.json, audit::json_of(*report)); !written) return written;
  }
  if (!options.junit.empty()) {
    if (auto written = write_file(options.junit, audit::junit_of(*report, options.strict)); !written) return written;
  }
  return verdict(*report, options.strict);
}

}  // namespace

void add_audit_command(CLI::App& app, Selection& selection) {
  auto options = std::make_shared<AuditOptions>();
  CLI::App* audit = app.add_subcommand("audit", kAuditDescription);
  audit->footer(kAuditFooter);
  audit->add_option("FILE", options->file, "The capture: pcap or pcapng; - is the standard input");
  audit
      ->add_option("-i,--interface", options->interface,
                   "Capture live from this interface, until interrupted (needs the right to)")
      ->type_name("IFACE");
  audit->add_option("--json", options->json, "Write the report into this file (docs/audit.schema.json describes it)")
      ->type_name("FILE");
  audit->add_option("--junit", options->junit, "Write it into this file as JUnit's XML, for a CI system")
      ->type_name("FILE");
  audit->add_flag("-q,--quiet", options->quiet, "Print no report; the exit code tells");
  audit->add_flag("--strict", options->strict, "Warnings count like violations");
  audit
      ->add_option("--max-connections", options->max_connections,
                   "Describe this many connections; of the others, count what they broke, rule by rule")
      ->type_name("N")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  // One word each, else the capture behind it would be taken for a clause.
  audit->add_option("--only", options->filter.only, "Judge by these rules alone: clause ids or their beginnings")
      ->type_name("CLAUSE")
      ->delimiter(',')
      ->allow_extra_args(false);
  audit->add_option("--skip", options->filter.skip, "Leave these rules out")
      ->type_name("CLAUSE")
      ->delimiter(',')
      ->allow_extra_args(false);
  audit->add_flag("--list", options->list, "List all rules: clause, severity, layer, section and what it asks for");
  audit->callback(
      [&selection, options] { selection.run = [options](const GlobalOptions&) { return run_audit(*options); }; });
}

}  // namespace weft::tools
