// SPDX-License-Identifier: Apache-2.0
#include "tools/audit/judge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "common/shown_text.hpp"
#include "tools/audit/progress.hpp"
#include "tools/audit/verdict.hpp"
#include "tools/audit/writings.hpp"
#include "tools/cli/standard_output.hpp"
#include "tools/cli/wrap.hpp"

namespace weft::tools::audit {

using conformance::CaptureReader;

Report Judge::file(const std::string& path) {
  if (stop_.stopped()) return unread(path, path + " was not read: the interrupt came before its turn");
  auto reader = CaptureReader::open(path, &stop_);
  if (!reader) return unread(path, reader.error().sentence);
  return read(*reader, path);
}

Report Judge::interface(const std::string& name) {
  auto reader = CaptureReader::open_interface(name, &stop_);
  if (!reader) return unread(name, reader.error().sentence);
  if (!options_.quiet) {
    print_error(fmt::format("weft audit: listening on {} (filter: {}); ^C ends it{}.", name, reader->filter(),
                            options_.summary ? "" : " and prints a summary"));
  }
  return read(*reader, name);
}

// Among several, it has its place in the output as the others do.
Report Judge::unread(const std::string& name, const std::string& sentence) {
  Report report{.file = shown_text(name), .damage = shown_text(sentence)};
  if (several() && !options_.quiet) {
    say(fmt::format("{}: {}\n", report.file, verdict_line(report, options_.strict, palette_)));
  }
  return report;
}

// Everything that the capture holds, up to its end, its damage or an interrupt.
Report Judge::read(CaptureReader& reader, const std::string& name) {
  Report report{.file = shown_text(name)};
  const bool as_it_goes = !reader.progress() && !options_.quiet && !options_.summary;
  conformance::CaptureAudit audit(options_.filter, {}, keys_);
  audit.select(options_.selection);
  if (as_it_goes) tell_as_it_goes(audit);
  Progress progress(!options_.quiet);
  const auto collect = [&] {
    while (auto connection = audit.next()) {
      mark_known(*connection, known_);
      if (as_it_goes) say(wrapped_report(text_of_connection(*connection, palette_)));
      report.take(std::move(*connection), options_.max_connections);
    }
  };
  CaptureFiles files(options_.write, options_.ring_limits);
  const auto damage = conformance::read_packets(
      reader,
      [&](const conformance::Packet& packet) {
        files.take(packet);
        audit.take(packet);
        collect();
        progress.tell(reader);
      },
      keys_);
  if (auto written = files.finish(); !written && written_) written_ = std::move(written);
  audit.finish();
  collect();
  report.take_tls(audit.tls(), audit.tls_connections());
  if (damage) report.damage = shown_text(damage->sentence);
  progress.clear();
  report.packets = audit.packets();
  report.tcp_connections = audit.tcp_connections();
  report.silent_connections = audit.silent_connections();
  std::ranges::sort(report.connections, {}, [](const auto& connection) { return connection.info.number; });
  any_read_ = any_read_ || report.iwarp_connections() != 0;
  print(report, as_it_goes);
  return report;
}

// Nothing is absent from a capture that has no iWARP.
Known Judge::known() const {
  Known known{.findings = known_};
  if (!any_read_) return known;
  known.absent = known_.absent([&](std::string_view id) {
    return std::ranges::any_of(conformance::all_rules(), [&](const conformance::Rule* rule) {
      return rule->clause == id && options_.filter.takes(*rule);
    });
  });
  return known;
}

void Judge::tell_as_it_goes(conformance::CaptureAudit& audit) {
  audit.report_as_it_goes([this](const conformance::Finding& finding, const conformance::ConnectionInfo& info) {
    conformance::Finding marked = finding;
    mark_known(marked, known_);
    say(wrapped_report(text_of_finding(marked, info, palette_)));
  });
}

void Judge::say(const std::string& text) {
  if (!told_) return;
  told_ = print_now(text);
  // Reports are of all that the capture holds, whether somebody reads the text or not.
  if (!told_ && options_.json.empty() && options_.junit.empty()) stop_.stop();
}

void Judge::print(const Report& report, bool as_it_went) {
  if (options_.quiet) return;
  if (options_.summary) {
    // For one capture, the summary says everything; several need names.
    const std::string head = several() ? report.file + ": " + verdict_line(report, options_.strict, palette_) : "";
    return say(head + summary_of(report, options_.strict, palette_) + (several() ? "\n" : text_of_absent(known())));
  }
  const std::string text = as_it_went ? '\n' + head_of(report) + summary_of(report, options_.strict, palette_) + '\n'
                                      : text_of(report, palette_);
  const std::string absent = several() ? "" : text_of_absent(known());
  say(wrapped_report(text + absent + (absent.empty() ? "" : "\n")) +
      wrapped_verdict(verdict_line(report, options_.strict, palette_)) + (several() ? "\n" : ""));
}

}  // namespace weft::tools::audit
