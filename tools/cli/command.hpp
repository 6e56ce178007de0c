// SPDX-License-Identifier: Apache-2.0
// The subcommands of `weft`. Each adds itself to the parser and, when the user names it, leaves its job in `Selection`.
// This header is the only one of the tools that shows CLI11, which is slow to compile.
#pragma once

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <functional>
#include <string>
#include <vector>

#include "tools/cli/outcome.hpp"

namespace weft::tools {

// Options that every subcommand takes, before or after its name.
struct GlobalOptions {
  std::string pcap{};  // empty: write none
  std::string log = "warn";
  std::string color = "auto";          // or always, never: palette_for() in tools/cli/colour.hpp
  std::vector<std::string> command{};  // weft run: the program and its arguments
};

struct Selection {
  std::function<Outcome<void>(const GlobalOptions&)> run{};
};

void add_demo_command(CLI::App& app, Selection& selection);
void add_rping_command(CLI::App& app, Selection& selection);
void add_info_command(CLI::App& app, Selection& selection);
void add_bench_command(CLI::App& app, Selection& selection);
void add_run_command(CLI::App& app, Selection& selection);
void add_audit_command(CLI::App& app, Selection& selection);
void add_dissect_command(CLI::App& app, Selection& selection);
void add_explain_command(CLI::App& app, Selection& selection);
void add_keys_command(CLI::App& app, Selection& selection);
void add_probe_command(CLI::App& app, Selection& selection);
void add_probe_peer_command(CLI::App& app, Selection& selection);
void add_help_command(CLI::App& app, Selection& selection);
void add_version_command(CLI::App& app, Selection& selection);

}  // namespace weft::tools
