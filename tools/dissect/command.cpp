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
    "Takes a capture apart. First an overview: of each iWARP connection a ladder of its messages, Initiator on the "
    "left, Responder on the right. Then every MPA startup frame and every FPDU with each field of MPA, DDP and RDMAP, "
    "where it lies and what it means. Judges nothing (weft audit does).";

constexpr const char* kDissectFooter =
    "Examples:\n"
    "  weft dissect trace.pcap                 the overview, then all fields\n"
    "  weft dissect --overview trace.pcap      the overview alone\n"
    "  weft dissect --packet 17 trace.pcap     the fields of what has octets in that packet\n"
    "  weft dissect --json trace.pcap          the fields for programs, with Wireshark's names\n"
    "  weft dissect --keylog keys.log t.pcap   what is inside TLS 1.3, too\n"
    "  tcpdump -w - -U tcp | weft dissect -    as it happens, until ^C\n"
    "\n"
    "Exit codes: 0 shown, 1 there is nothing of what --connection or --packet asks for, 2 the capture\n"
    "could not be read or the command line was wrong, 3 no iWARP in it.";

}  // namespace

void add_dissect_command(CLI::App& app, Selection& selection) {
  auto options = std::make_shared<dissect::Options>();
  CLI::App* dissect = app.add_subcommand("dissect", kDissectDescription);
  dissect->footer(kDissectFooter);
  dissect
      ->add_option("FILE", options->file,
                   "The capture: pcap or pcapng, also compressed by gzip, zstd or xz; - is the standard input")
      ->required();
  dissect
      ->add_option("--keylog", options->keylog,
                   "Decrypt TLS 1.3 with this file's secrets, which SSLKEYLOGFILE had written")
      ->type_name("FILE");
  auto* overview = dissect->add_flag("--overview", options->overview, "The overview alone, without the fields");
  auto* fields = dissect->add_flag("--fields", options->fields, "The fields alone, without the overview");
  auto* all = dissect->add_flag("--all", options->all,
                                "In the overview show all messages; otherwise many in the middle are counted only");
  auto* json =
      add_json_option(*dissect, options->json, "The fields alone, as one JSON object a line for each frame and FPDU");
  dissect->add_option("--connection", options->asked.connection, "This connection alone, as weft audit numbers them")
      ->type_name("N");
  auto* packet = dissect
                     ->add_option("--packet", options->asked.packet,
                                  "The fields of what has octets in this packet, as Wireshark numbers them")
                     ->type_name("N");
  for (auto* ladder : {overview, all}) ladder->excludes(fields)->excludes(json)->excludes(packet);
  dissect->callback([&selection, options] {
    selection.run = [options](const GlobalOptions& global) {
      return dissect::run(*options, palette_for(global.color, STDOUT_FILENO));
    };
  });
}

}  // namespace weft::tools
