// SPDX-License-Identifier: Apache-2.0
// `weft explain`: a capture as a page that explains each octet, or as text.
#include "tools/cli/command.hpp"

#include <unistd.h>

#include <memory>

#include "tools/cli/json_option.hpp"
#include "tools/explain/run.hpp"

namespace weft::tools {
namespace {

constexpr const char* kExplainDescription =
    "Explains a capture: writes one HTML file, which needs no network, with a ladder of the messages, each octet with "
    "its field, meaning and RFC section, and where payload lands. With --text the same in the terminal.";

constexpr const char* kExplainFooter =
    "Examples:\n"
    "  weft explain --demo                    a tour with every operation, in weft-tour.html\n"
    "  weft explain trace.pcap                a capture, in trace.html\n"
    "  weft explain trace.pcap -o page.html   the same, in page.html\n"
    "  weft explain --demo --text             the tour in the terminal\n"
    "  weft explain --demo --text --step      message by message, at a key press\n"
    "  weft explain --json trace.pcap         for programs\n"
    "\n"
    "Exit codes: 0 explained, 1 there is no connection --connection asks for, 2 the capture could not\n"
    "be read to its end or the command line was wrong, 3 no iWARP in it, 130 --step was interrupted.";

}  // namespace

void add_explain_command(CLI::App& app, Selection& selection) {
  auto options = std::make_shared<explaining::Options>();
  CLI::App* explain = app.add_subcommand("explain", kExplainDescription);
  explain->footer(kExplainFooter);
  auto* file =
      explain->add_option("FILE", options->file,
                          "The capture: pcap or pcapng, also compressed by gzip, zstd or xz; - is the standard input");
  explain->add_flag("--demo", options->demo, "Instead of a capture a tour that has every operation")->excludes(file);
  auto* output =
      explain->add_option("-o,--output", options->output, "Write the page into this file; - is standard output")
          ->type_name("FILE");
  explain->add_option("--connection", options->connection, "This connection alone, as weft audit numbers them")
      ->type_name("N");
  explain
      ->add_option("--keylog", options->keylog,
                   "Decrypt TLS 1.3 with this file's secrets, which SSLKEYLOGFILE had written")
      ->type_name("FILE");
  auto* text = explain->add_flag("--text", options->text, "Print it as text, and write no page")->excludes(output);
  explain->add_flag("--step", options->step, "With --text: one message at a time, at a key press")->needs(text);
  add_json_option(*explain, options->json, "Write what the page is made from as JSON, and no page")
      ->excludes(output)
      ->excludes(text);
  explain->callback([&selection, options] {
    selection.run = [options](const GlobalOptions& global) {
      return explaining::run(*options, palette_for(global.color, STDOUT_FILENO));
    };
  });
}

}  // namespace weft::tools
