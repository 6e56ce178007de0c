// SPDX-License-Identifier: Apache-2.0
// `weft probe-peer` alone: the program that has the faults when weft probes it.
#include <CLI/CLI.hpp>
#include <cstdio>

#include "tools/cli/command.hpp"

int main(int argc, char** argv) {
  CLI::App app{"the peer with a fault"};
  weft::tools::Selection selection;
  weft::tools::add_probe_peer_command(app, selection);
  CLI11_PARSE(app, argc, argv);
  const auto outcome = selection.run({});
  if (outcome) return 0;
  std::fprintf(stderr, "%s\n", outcome.error().sentence.c_str());
  return 1;
}
