// SPDX-License-Identifier: Apache-2.0
// `weft dissect`: who sent what to whom in a capture, and every startup frame and FPDU, field by field.
#include "tools/cli/command.hpp"

#include <unistd.h>

#include <memory>

#include "tools/cli/json_option.hpp"
#include "tools/dissect/run.hpp"

namespace weft::tools {
namespace {

constexpr const char* kDissectDescription =
    "Shows the messages and fields of a capture\n"
    "First an overview: for each iWARP connection, a ladder of its messages with the initiator on the left and the "
    "responder on the right. Then every MPA startup frame and every FPDU with each field of MPA, DDP and RDMAP, its "
    "position and its meaning. Does not check rules: see weft audit.";

constexpr const char* kDissectFooter =
    "Examples:\n"
    "  weft dissect trace.pcap                  the overview, then all fields\n"
    "  weft dissect --overview trace.pcap       only the overview\n"
    "  weft dissect --packet 17 trace.pcap      the fields of everything in that packet\n"
    "  weft dissect --explain trace.pcap        with a sentence about each field\n"
    "  weft dissect --json trace.pcap           the fields as JSON, with Wireshark's names\n"
    "  weft dissect --keylog keys.log t.pcap    decrypt TLS 1.3\n"
    "  tcpdump -w - -U tcp | weft dissect -     live, until ^C\n"
    "\n"
    "Exit codes: 0 success, 1 the capture has no such connection or packet, 2 unreadable capture or wrong command "
    "line, 3 no iWARP.";

}  // namespace

void add_dissect_command(CLI::App& app, Selection& selection) {
  auto options = std::make_shared<dissect::Options>();
  CLI::App* dissect = app.add_subcommand("dissect", kDissectDescription);
  dissect->footer(kDissectFooter);
  dissect
      ->add_option("FILE", options->file,
                   "The capture: pcap or pcapng, also compressed with gzip, zstd or xz; -: standard input")
      ->required();
  dissect
      ->add_option("--keylog", options->keylog, "Decrypt TLS 1.3 with the secrets in this file (SSLKEYLOGFILE format)")
      ->type_name("FILE");
  auto* overview = dissect->add_flag("--overview", options->overview, "Show only the overview");
  auto* fields = dissect->add_flag("--fields", options->fields, "Show only the fields");
  auto* all =
      dissect->add_flag("--all", options->all, "Show all messages in the overview, instead of a count for long runs");
  auto* explain =
      dissect->add_flag("--explain", options->explain, "Below each field, say in a sentence what it is for");
  auto* json = add_json_option(*dissect, options->json,
                               "Write only the fields, as one JSON object per frame and FPDU, one per line");
  dissect
      ->add_option("--connection", options->asked.connection, "Show only this connection (numbered as in weft audit)")
      ->check(CLI::Range(0, 1'000'000'000))
      ->type_name("N");
  auto* packet = dissect
                     ->add_option("--packet", options->asked.packet,
                                  "Show only the fields of this packet (numbered as in Wireshark)")
                     ->check(CLI::Range(0, 1'000'000'000))
                     ->type_name("N");
  explain->excludes(overview)->excludes(json);
  for (auto* ladder : {overview, all}) ladder->excludes(fields)->excludes(json)->excludes(packet);
  dissect->callback([&selection, options] {
    selection.run = [options](const GlobalOptions& global) {
      return dissect::run(*options, palette_for(global.color, STDOUT_FILENO));
    };
  });
}

}  // namespace weft::tools
