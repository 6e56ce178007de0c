// SPDX-License-Identifier: Apache-2.0
// `weft explain`: a capture as a page that explains each octet, or as text.
#include "tools/cli/command.hpp"

#include <unistd.h>

#include <memory>

#include "tools/cli/json_option.hpp"
#include "tools/cli/report_files.hpp"
#include "tools/explain/run.hpp"

namespace weft::tools {
namespace {

constexpr const char* kExplainDescription =
    "Explains a capture octet by octet, as a web page or as text\n"
    "Writes one HTML file that needs no network: a ladder of the messages, each octet with its field, meaning and RFC "
    "section, and where the payload is placed. --text shows the same in the terminal.";

constexpr const char* kExplainFooter =
    "Examples:\n"
    "  weft explain --demo                     a tour of every operation, in weft-tour.html\n"
    "  weft explain trace.pcap                 a capture, in trace.html\n"
    "  weft explain trace.pcap -o page.html    the same, in page.html\n"
    "  weft explain --demo --text              the tour in the terminal\n"
    "  weft explain --demo --text --step       one message per key press\n"
    "  weft explain --json trace.pcap          for programs\n"
    "\n"
    "Exit codes: 0 success, 1 the capture has no such connection, 2 incomplete capture or wrong command line, 3 no "
    "iWARP, 130 --step was interrupted.";

}  // namespace

void add_explain_command(CLI::App& app, Selection& selection) {
  auto options = std::make_shared<explaining::Options>();
  CLI::App* explain = app.add_subcommand("explain", kExplainDescription);
  explain->footer(kExplainFooter);
  auto* file = explain->add_option(
      "FILE", options->file, "The capture: pcap or pcapng, also compressed with gzip, zstd or xz; -: standard input");
  explain->add_flag("--demo", options->demo, "Explain a built-in tour of every operation instead of a capture")
      ->excludes(file);
  auto* output = explain->add_option("-o,--output", options->output, "Write the page to this file; -: standard output")
                     ->type_name("FILE");
  register_report(output, ReportFormat::kOther);
  explain->add_option("--connection", options->connection, "Explain only this connection (numbered as in weft audit)")
      ->check(CLI::Range(0, 1'000'000'000))
      ->type_name("N");
  explain
      ->add_option("--keylog", options->keylog, "Decrypt TLS 1.3 with the secrets in this file (SSLKEYLOGFILE format)")
      ->type_name("FILE");
  auto* text = explain->add_flag("--text", options->text, "Print text instead of writing a page")->excludes(output);
  explain->add_flag("--step", options->step, "With --text: show one message per key press")->needs(text);
  add_json_option(*explain, options->json, "Write the data of the page as JSON instead of a page")
      ->excludes(output)
      ->excludes(text);
  explain->callback([&selection, options] {
    selection.run = [options](const GlobalOptions& global) {
      return explaining::run(*options, palette_for(global.color, STDOUT_FILENO));
    };
  });
}

}  // namespace weft::tools
