// SPDX-License-Identifier: Apache-2.0
// `weft audit`: reads a capture, judges it clause by clause, and says so with its exit code.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "tools/audit/judge.hpp"
#include "tools/audit/options.hpp"
#include "tools/audit/verdict.hpp"
#include "tools/audit/writings.hpp"
#include "tools/cli/colour.hpp"
#include "tools/cli/command.hpp"
#include "tools/cli/interruption.hpp"
#include "tools/cli/json_option.hpp"
#include "tools/cli/key_log_file.hpp"
#include "tools/cli/report_files.hpp"
#include "tools/cli/standard_output.hpp"
#include "tools/cli/whole_file.hpp"

namespace weft::tools {
namespace {

using AuditOptions = audit::Options;

constexpr const char* kAuditDescription =
    "Checks the iWARP connections of a capture against the RFCs\n"
    "Applies the rules of RFC 5044 and 6581 (MPA), 5041 (DDP), 5040 and 7306 (RDMAP). Each finding names the end that "
    "broke the rule, the packet (numbered as in Wireshark), the octet of the packet and the offset in the sender's "
    "stream.";

constexpr const char* kAuditFooter =
    "Examples:\n"
    "  weft audit trace.pcapng                      print a report; the last line is the verdict\n"
    "  weft audit --summary a.pcap b.pcapng.gz      one line per connection and per broken rule\n"
    "  weft audit --quiet --json=out.json t.pcap    for programs; see the exit codes\n"
    "  tcpdump -w - port 7174 | weft audit -        read a pipe and print findings at once\n"
    "  weft audit -i eth0                           capture live; ^C prints a summary\n"
    "  weft audit -i eth0 -w t.pcap -b filesize:100000 -b files:5\n"
    "                                               the same, and keep the latest 500 MB of packets\n"
    "  weft audit --keylog keys.log t.pcap          decrypt TLS 1.3\n"
    "  weft audit --skip MPA-5.1 trace.pcap         without the rules of RFC 5044 section 5.1\n"
    "  weft audit --filter 'host 192.0.2.7 and port 4420' t.pcap\n"
    "  weft audit --known bugs.txt trace.pcap       only new violations fail\n"
    "  weft audit --list                            list all rules\n"
    "\n"
    "Exit codes: 0 no violation, 1 violations (with --strict: or warnings), 2 incomplete capture (cut short, or most "
    "octets of iWARP not checked because octets are missing), report that could not be written or wrong command line, "
    "3 no iWARP. With several captures the first of 2, 1, 3 and 0 that applies "
    "to any of them is used; 3 only if none has iWARP. Everything that could be read is reported in any case.";

Outcome<void> list_rules(const conformance::RuleFilter& filter) {
  std::string text;
  for (const conformance::Rule* rule : conformance::all_rules()) {
    if (!filter.takes(*rule)) continue;
    text += fmt::format("{:18} {:10} {:11} {:16} {}\n", rule->clause, conformance::name(rule->severity),
                        conformance::name(rule->layer), rule->section, rule->sentence);
  }
  return print_now(text);
}

// Ids and prefixes that no rule has are a mistake that would make a report look clean.
Outcome<void> check_filter(const AuditOptions& options) {
  for (const auto* prefixes : {&options.filter.only, &options.filter.skip}) {
    for (const std::string& prefix : *prefixes) {
      const bool known = std::ranges::any_of(
          conformance::all_rules(), [&](const conformance::Rule* rule) { return rule->clause.starts_with(prefix); });
      if (!known) return usage_error("no rule id begins with '" + prefix + "' (see weft audit --list).");
    }
  }
  return {};
}

Outcome<void> check_operands(const AuditOptions& options) {
  if (!options.files.empty() && !options.interface.empty()) {
    return usage_error("-i " + options.interface + " cannot be used with the capture file '" + options.files.front() +
                       "'.");
  }
  if (!options.write.empty() && options.interface.empty()) return usage_error("-w needs -i: files are there already.");
  if (!options.ring.empty() && options.write.empty()) return usage_error("-b needs -w.");
  if (options.files.empty() && options.interface.empty())
    return usage_error("name a capture file or an interface (-i).");
  if (std::ranges::count(options.files, "-") > 1) return usage_error("'-' (standard input) can be given only once.");
  return {};
}

// One that fails does not keep the other from being written.
Outcome<void> write_reports(const std::vector<audit::Report>& reports, const AuditOptions& options,
                            const audit::Known& known) {
  Outcome<void> json, junit;
  if (!options.json.empty()) json = write_report(options.json, audit::json_of(reports, known), Readers::kOwner);
  if (!options.junit.empty()) junit = write_file(options.junit, audit::junit_of(reports, options.strict, known));
  return json ? junit : json;
}

// Up to their ends or an interrupt.
std::vector<audit::Report> judge_all(audit::Judge& judge, const AuditOptions& options) {
  std::vector<audit::Report> reports;
  for (const std::string& file : options.files) reports.push_back(judge.file(file));
  if (!options.interface.empty()) reports.push_back(judge.interface(options.interface));
  return reports;
}

Outcome<void> run_audit(AuditOptions options, const GlobalOptions& global) {
  if (auto checked = check_filter(options); !checked) return checked;
  if (options.list) return list_rules(options.filter);
  if (auto checked = check_operands(options); !checked) return checked;
  if (!options.filter_text.empty()) {
    auto filter = conformance::ConnectionFilter::parse(options.filter_text);
    if (!filter) return usage_error("--filter '" + options.filter_text + "': " + filter.error() + ".");
    options.selection = std::move(*filter);
  }
  const auto ring = audit::RingLimits::parse(options.ring);
  if (!ring) return std::unexpected(ring.error());
  options.ring_limits = *ring;
  auto known = KnownFindings::read(options.known, is_rule_or_case);
  if (!known) return std::unexpected(known.error());
  const Palette palette = palette_for(global.color, STDOUT_FILENO);
  if (auto caught = catch_interruptions(); !caught) return caught;
  const bool live = !options.interface.empty() || std::ranges::count(options.files, "-") != 0;
  auto keys = open_key_log(options.keylog, !live);
  if (!keys) return std::unexpected(keys.error());
  if (!options.write.empty()) survive_closed_pipes();  // what was captured so far is complete
  audit::Judge judge(options, palette, interruption_switch(), keys->get(), *known);
  const std::vector<audit::Report> reports = judge_all(judge, options);
  Outcome<void> printed = judge.told();
  if (printed && reports.size() > 1 && !options.quiet) {
    const std::string verdicts = options.summary ? "" : audit::verdict_lines(reports, options.strict, palette);
    printed = print_now(text_of_absent(judge.known()) + verdicts);
  }
  const Outcome<void> written = write_reports(reports, options, judge.known());
  if (!printed) return printed;
  if (!judge.written()) return judge.written();
  return written ? audit::outcome_of(reports, options.strict) : written;
}

}  // namespace

void add_audit_command(CLI::App& app, Selection& selection) {
  auto options = std::make_shared<AuditOptions>();
  CLI::App* audit = app.add_subcommand("audit", kAuditDescription);
  audit->footer(kAuditFooter);
  audit->add_option("FILE", options->files,
                    "Captures: pcap or pcapng, also compressed with gzip, zstd or xz; -: standard input");
  audit
      ->add_option("-i,--interface", options->interface,
                   "Capture live from this interface until interrupted (needs capture privileges)")
      ->type_name("IFACE");
  audit
      ->add_option("-w,--write", options->write,
                   "With -i: write the captured packets to this file, as pcap; with -b, to a ring of files")
      ->type_name("FILE");
  audit
      ->add_option(
          "-b,--ring-buffer", options->ring,
          "With -w: begin the next file after filesize:KB or duration:SECONDS; with files:N, keep the latest N. "
          "Can be repeated")
      ->type_name("KEY:N")
      ->allow_extra_args(false);
  add_json_option(*audit, options->json, "Write the report on all captures as JSON (schema: docs/audit.schema.json)");
  register_report(
      audit->add_option("--junit", options->junit, "Write the report to this file as JUnit XML, for CI systems")
          ->type_name("FILE"),
      ReportFormat::kJunit);
  audit->add_option("--keylog", options->keylog, "Decrypt TLS 1.3 with the secrets in this file (SSLKEYLOGFILE format)")
      ->type_name("FILE");
  audit->add_flag("-q,--quiet", options->quiet, "Print no report; only the exit code counts");
  audit->add_flag("--summary", options->summary, "Print only one line per connection and per broken rule");
  audit->add_flag("--strict", options->strict, "Treat warnings as violations");
  audit
      ->add_option("--max-connections", options->max_connections,
                   "Describe at most this many connections; of the others, count the findings by rule")
      ->type_name("N")
      ->check(CLI::Range(1, 1'000'000'000))
      ->capture_default_str();
  // One word each: else the capture after it would be taken for a clause.
  audit->add_option("--only", options->filter.only, "Apply only these rules: clause ids or prefixes")
      ->type_name("CLAUSE")
      ->delimiter(',')
      ->allow_extra_args(false);
  audit->add_option("--skip", options->filter.skip, "Do not apply these rules: clause ids or prefixes")
      ->type_name("CLAUSE")
      ->delimiter(',')
      ->allow_extra_args(false);
  audit
      ->add_option(
          "--filter", options->filter_text,
          "Check only these connections: host ADDR, net ADDR/LEN, port N or port N-M, combined with and, or, not "
          "and parentheses; of encapsulated packets the innermost addresses count")
      ->type_name("EXPR");
  audit
      ->add_option("--known", options->known,
                   "Expected findings, one per line: a clause, and an end if it is only about that one. They are "
                   "reported and do not count for the exit code")
      ->type_name("FILE");
  audit->add_flag("--list", options->list, "List all rules: clause, severity, layer, section and requirement")
      ->excludes("--json")
      ->excludes("--junit");
  audit->callback([&selection, options] {
    options->quiet = options->quiet || options->json == "-";
    selection.run = [options](const GlobalOptions& global) { return run_audit(*options, global); };
  });
}

}  // namespace weft::tools
